/* Every offset comes from an arbitrary file, so all go through at(), which checks the file's end.
 * Searches for bytes (names in the string table, static cudart's strings) are hints, not proofs. */
#include "cli/binary.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#error "the doors are written for x86-64 and aarch64"
#endif

struct file {
	const char *bytes;
	size_t size;
};

static const void *at(const struct file *file, uint64_t offset, uint64_t size)
{
	return offset <= file->size && size <= file->size - offset ? file->bytes + offset : NULL;
}

static bool contains(const struct file *file, const char *text, size_t size)
{
	return memmem(file->bytes, file->size, text, size) != NULL;
}

static const ElfW(Phdr) *
	segment(const struct file *file, const ElfW(Ehdr) * header, unsigned int i)
{
	return at(file, header->e_phoff + (uint64_t)i * header->e_phentsize, sizeof(ElfW(Phdr)));
}

/* Where the loader would find the address in the file, or NULL. */
static const char *at_address(const struct file *file, const ElfW(Ehdr) * header, uint64_t address,
                              uint64_t size)
{
	for (unsigned int i = 0; i < header->e_phnum; i++) {
		const ElfW(Phdr) *load = segment(file, header, i);

		if (load != NULL && load->p_type == PT_LOAD && address >= load->p_vaddr &&
		    address - load->p_vaddr < load->p_filesz)
			return at(file, load->p_offset + (address - load->p_vaddr), size);
	}
	return NULL;
}

static void read_needed(const char *name, struct reprise_binary *binary)
{
	if (strcmp(name, "libcuda.so.1") == 0)
		binary->links_driver = true;
	if (strncmp(name, "libcudart.so", 12) == 0)
		reprise_printable(name, SIZE_MAX, binary->cudart, sizeof(binary->cudart));
}

static bool has_name(const char *names, uint64_t size, const char *name, size_t name_size)
{
	return memmem(names, size, name, name_size) != NULL;
}

static void read_dynamic(const struct file *file, const ElfW(Ehdr) * header,
                         const ElfW(Phdr) * dynamic, struct reprise_binary *binary)
{
	const ElfW(Dyn) *entries = at(file, dynamic->p_offset, dynamic->p_filesz);
	size_t count = entries != NULL ? dynamic->p_filesz / sizeof(*entries) : 0;
	uint64_t address = 0, size = 0;
	bool is_program = false;

	for (size_t i = 0; i < count; i++) {
		if (entries[i].d_tag == DT_STRTAB)
			address = entries[i].d_un.d_ptr;
		else if (entries[i].d_tag == DT_STRSZ)
			size = entries[i].d_un.d_val;
		else if (entries[i].d_tag == DT_FLAGS_1)
			is_program = (entries[i].d_un.d_val & DF_1_PIE) != 0;
	}
	if (header->e_type == ET_DYN && !is_program && binary->kind == REPRISE_BINARY_STATIC)
		binary->kind = REPRISE_BINARY_LIBRARY;

	const char *names = at_address(file, header, address, size);

	if (names == NULL || size == 0 || names[size - 1] != '\0')
		return;
	for (size_t i = 0; i < count; i++)
		if (entries[i].d_tag == DT_NEEDED && entries[i].d_un.d_val < size)
			read_needed(names + entries[i].d_un.d_val, binary);
	binary->imports_dlmopen = has_name(names, size, "\0dlmopen", sizeof("\0dlmopen"));
	binary->names_dlsym = has_name(names, size, "\0dlsym", sizeof("\0dlsym")) &&
	                      has_name(names, size, "\0dlvsym", sizeof("\0dlvsym"));
	binary->names_calls = has_name(names, size, "\0cuLaunchKernel", sizeof("\0cuLaunchKernel"));
}

static void read_elf(const struct file *file, struct reprise_binary *binary)
{
	const ElfW(Ehdr) *header = at(file, 0, sizeof(*header));

	/* e_machine has the same offset in both classes. */
	binary->kind = REPRISE_BINARY_FOREIGN;
	binary->bits32 = file->bytes[EI_CLASS] == ELFCLASS32;
	binary->machine = ((const Elf32_Ehdr *)file->bytes)->e_machine;
	if (header == NULL || binary->bits32 || binary->machine != OUR_MACHINE)
		return;
	binary->kind = REPRISE_BINARY_STATIC;
	binary->fixed_address = header->e_type == ET_EXEC;
	if (header->e_phentsize != sizeof(ElfW(Phdr))) /* the loader accepts no other */
		return;
	for (unsigned int i = 0; i < header->e_phnum; i++) {
		const ElfW(Phdr) *part = segment(file, header, i);

		/* PT_INTERP comes before the others. */
		if (part != NULL && part->p_type == PT_INTERP)
			binary->kind = REPRISE_BINARY_DYNAMIC;
		if (part != NULL && part->p_type == PT_DYNAMIC) { /* the loader uses only one */
			read_dynamic(file, header, part, binary);
			break;
		}
	}
	binary->names_driver = contains(file, "libcuda.so", 10);
	binary->cudart_inside = binary->cudart[0] == '\0' && contains(file, "cudart", 6) &&
	                        contains(file, "cuGetProcAddress", 16);
}

static size_t skip(const char *line, size_t length, size_t from, bool blanks)
{
	while (from < length && (line[from] == ' ' || line[from] == '\t') == blanks)
		from++;
	return from;
}

/* As the kernel reads it: the interpreter, and the rest of the line as one word. */
static void read_script(const struct file *file, struct reprise_binary *binary)
{
	const char *line = file->bytes + 2, *newline = memchr(line, '\n', file->size - 2);
	size_t length = newline != NULL ? (size_t)(newline - line) : file->size - 2;
	size_t begin = skip(line, length, 0, true), end = skip(line, length, begin, false),
		   rest = skip(line, length, end, true);

	while (length > rest && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	reprise_printable(line + begin, end - begin, binary->interpreter, sizeof(binary->interpreter));
	reprise_printable(line + rest, length - rest, binary->argument, sizeof(binary->argument));
	binary->kind = REPRISE_BINARY_SCRIPT;
}

static void read_bytes(const struct file *file, struct reprise_binary *binary)
{
	binary->kind = REPRISE_BINARY_OTHER;
	if (file->size >= sizeof(Elf32_Ehdr) && memcmp(file->bytes, ELFMAG, SELFMAG) == 0)
		read_elf(file, binary);
	else if (file->size > 2 && memcmp(file->bytes, "#!", 2) == 0)
		read_script(file, binary);
}

struct reprise_binary reprise_binary_of(const char *bytes, size_t size)
{
	struct reprise_binary binary = {0};

	read_bytes(&(struct file){bytes, size}, &binary);
	return binary;
}

/* A file that shrinks while it is read: an access beyond its end raises SIGBUS. */
static sigjmp_buf shrunk;

static void jump_back(int signal)
{
	siglongjmp(shrunk, signal);
}

static void read_while_it_lasts(const struct file *file, int descriptor,
                                struct reprise_binary *binary)
{
	struct sigaction jump = {.sa_handler = jump_back}, before;
	bool lasted = false;
	struct stat now;

	sigaction(SIGBUS, &jump, &before);
	if (sigsetjmp(shrunk, 1) == 0) {
		read_bytes(file, binary);
		/* The rest of the last page reads as zeros, so SIGBUS may not come. */
		lasted = fstat(descriptor, &now) == 0 && (size_t)now.st_size >= file->size;
	}
	sigaction(SIGBUS, &before, NULL);
	if (!lasted)
		*binary = (struct reprise_binary){.problem = "it became shorter meanwhile"};
}

static const char *problem_of(const struct stat *status)
{
	if (S_ISDIR(status->st_mode))
		return "it is a folder";
	if (!S_ISREG(status->st_mode))
		return S_ISFIFO(status->st_mode) ? "it is a pipe (FIFO)" : "it is a device or a socket";
	return status->st_size == 0 ? "it is empty" : NULL;
}

static struct reprise_binary read_open(int descriptor, const struct stat *status)
{
	struct file file = {.size = (size_t)status->st_size};
	struct reprise_binary binary = {0};
	void *bytes = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, descriptor, 0);

	file.bytes = bytes;
	if (bytes == MAP_FAILED) {
		binary.problem = strerror(errno);
		return binary;
	}
	read_while_it_lasts(&file, descriptor, &binary);
	munmap(bytes, file.size);
	binary.privileged = (status->st_mode & (S_ISUID | S_ISGID)) != 0 ||
	                    fgetxattr(descriptor, "security.capability", NULL, 0) > 0;
	return binary;
}

struct reprise_binary reprise_binary_read(const char *path)
{
	struct reprise_binary binary = {0};
	struct stat status;
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (descriptor < 0 || fstat(descriptor, &status) != 0)
		binary.problem = strerror(errno);
	else if ((binary.problem = problem_of(&status)) == NULL)
		binary = read_open(descriptor, &status);
	if (descriptor >= 0)
		close(descriptor);
	return binary;
}
