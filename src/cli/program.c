/* A script is run by its interpreter, which may be a script too, or env(1), which looks up the next
 * one. */
#include "cli/doctor.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/binary.h"

#define WORDS_MOST 512

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool reprise_program_find(const char *name, char *path, size_t size)
{
	char folders[REPRISE_CLI_PATH_MOST];
	char *rest = folders;

	if (strchr(name, '/') != NULL) {
		snprintf(path, size, "%s", name);
		return true;
	}
	snprintf(folders, sizeof(folders), "%s",
	         getenv("PATH") != NULL ? getenv("PATH") : "/bin:/usr/bin");
	for (const char *folder = strsep(&rest, ":"); folder != NULL && name[0] != '\0';
	     folder = strsep(&rest, ":")) {
		snprintf(path, size, "%s/%s", folder[0] != '\0' ? folder : ".", name);
		if (is_program(path))
			return true;
	}
	return false;
}

/* ---- scripts ---- */

static bool is_env(const char *interpreter)
{
	const char *slash = strrchr(interpreter, '/');

	return strcmp(slash != NULL ? slash + 1 : interpreter, "env") == 0;
}

/* After -S or --split-string the argument is split into words; NULL without it. */
static const char *split_words(const char *argument)
{
	static const char *const options[] = {"--split-string=", "--split-string ", "-vS", "-iS", "-S"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strncmp(argument, options[i], strlen(options[i])) == 0)
			return argument + strlen(options[i]);
	return NULL;
}

/* The program that env would run: the first word that is neither an option nor a variable. Without
 * -S the argument is one word, including blanks. */
static void read_env(const char *argument, char *name, size_t size)
{
	const char *words = split_words(argument);
	char text[WORDS_MOST];
	char *rest = text;

	snprintf(name, size, "%s", words == NULL ? argument : "");
	snprintf(text, sizeof(text), "%s", words != NULL ? words : "");
	for (const char *word = strsep(&rest, " \t"); word != NULL; word = strsep(&rest, " \t")) {
		if (strcmp(word, "-u") == 0 || strcmp(word, "-C") == 0)
			(void)strsep(&rest, " \t");
		else if (word[0] != '\0' && word[0] != '-' && strchr(word, '=') == NULL) {
			snprintf(name, size, "%s", word);
			return;
		}
	}
}

/* The path of a script's interpreter. False if there is none; `path` is then the name
 * looked for. */
static bool find_interpreter(const struct reprise_binary *script, char *path, size_t size)
{
	char name[sizeof(script->argument)];

	if (!is_env(script->interpreter) || script->argument[0] == '\0') {
		snprintf(path, size, "%s", script->interpreter);
		return true;
	}
	read_env(script->argument, name, sizeof(name));
	if (reprise_program_find(name, path, size))
		return true;
	snprintf(path, size, "%s", name);
	return false;
}

static const char *machine_name(unsigned int machine)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} names[] = {{EM_386, "x86"},         {EM_X86_64, "x86-64"}, {EM_ARM, "arm"},
	             {EM_AARCH64, "aarch64"}, {EM_PPC64, "ppc64"},   {EM_RISCV, "risc-v"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].machine == machine)
			return names[i].name;
	return "another architecture";
}

static const char *way_to_the_driver(const struct reprise_binary *binary)
{
	if (binary->links_driver)
		return "links libcuda.so.1";
	if (binary->cudart[0] != '\0')
		return binary->cudart;
	if (binary->cudart_inside)
		return "static cudart";
	return binary->names_driver ? "looks libcuda.so.1 up itself"
	                            : "none in this file; its libraries may have one";
}

/* Static cudart imports dlmopen in every program. */
static bool calls_dlmopen(const struct reprise_binary *binary)
{
	return binary->imports_dlmopen && !binary->cudart_inside;
}

static void tell_file(const char *path, const struct reprise_binary *binary)
{
	char kind[128];

	reprise_cli_tell("program", "%s", path);
	if (binary->kind < REPRISE_BINARY_FOREIGN)
		return;
	snprintf(kind, sizeof(kind), "%d-bit, %s%s", binary->bits32 ? 32 : 64,
	         machine_name(binary->machine),
	         binary->kind == REPRISE_BINARY_FOREIGN ? ""
	         : binary->kind == REPRISE_BINARY_STATIC
	             ? (binary->fixed_address ? ", static" : ", static-pie")
	         : binary->kind == REPRISE_BINARY_LIBRARY
	             ? ", a library"
	             : (binary->fixed_address ? ", dynamic, at a fixed address" : ", dynamic"));
	reprise_cli_tell("kind", "%s", kind);
	if (binary->kind == REPRISE_BINARY_FOREIGN)
		return;
	reprise_cli_tell("way to CUDA", "%s", way_to_the_driver(binary));
	reprise_cli_tell("privileges", "%s",
	                 binary->privileged ? "runs with more rights than its user has" : "its user's");
	if (calls_dlmopen(binary))
		reprise_cli_tell("namespaces", "%s", "calls dlmopen");
}

/* ---- judging ---- */

bool reprise_program_read(const char *name, struct reprise_program *program)
{
	struct reprise_program_file *file = program->files;
	bool found = reprise_program_find(name, file->path, sizeof(file->path));

	program->count = 0;
	while (found) {
		file->binary = reprise_binary_read(file->path);
		program->count++;
		if (file->binary.kind != REPRISE_BINARY_SCRIPT || program->count == REPRISE_PROGRAM_FILES)
			return true;
		file++;
		found = find_interpreter(&file[-1].binary, file->path, sizeof(file->path));
	}
	return false;
}

bool reprise_program_is_privileged(const struct reprise_program *program)
{
	return program->count > 0 && program->files[program->count - 1].binary.privileged;
}

bool reprise_program_obstacle(const char *name, char *words, size_t size)
{
	struct reprise_program program;
	struct reprise_binary binary;
	const char *path;

	if (!reprise_program_read(name, &program))
		return false;
	path = program.files[program.count - 1].path;
	binary = program.files[program.count - 1].binary;
	if (binary.kind == REPRISE_BINARY_STATIC)
		snprintf(words, size, "%s is static, and nothing can be preloaded into it", path);
	else if (binary.kind == REPRISE_BINARY_FOREIGN)
		snprintf(
			words, size,
			"%s is for another kind of machine than the library, which cannot be preloaded into it",
			path);
	else if (binary.privileged)
		snprintf(words, size,
		         "%s runs with more rights than its user has, and nothing is preloaded into it",
		         path);
	else
		return false;
	return true;
}

/* Why the file's program cannot be preloaded, in sentences; NULL if it can. */
static const char *obstacle(const struct reprise_binary *binary)
{
	if (binary->privileged)
		return "cannot be preloaded: for a program with more rights than its user the loader ignores LD_PRELOAD and LD_LIBRARY_PATH, and Reprise would\n"
			   "turn itself off. Run a copy without these rights.";
	switch (binary->kind) {
	case REPRISE_BINARY_OTHER:
		return "cannot say: this is neither a program nor a script with its interpreter in the first line";
	case REPRISE_BINARY_SCRIPT:
		return "cannot be run: scripts that are interpreted by scripts, more of them than the kernel follows";
	case REPRISE_BINARY_FOREIGN:
		return "cannot be preloaded: the library is for another kind of program than this one. The loader says \"cannot be preloaded\n"
			   "(wrong ELF class ...): ignored\" and runs the program without it, which is harmless. If only a program that it starts uses CUDA,\n"
			   "start that one under Reprise.";
	case REPRISE_BINARY_STATIC:
		return "cannot be preloaded: a static program has no loader that would. It runs as without Reprise.";
	case REPRISE_BINARY_LIBRARY:
		return "cannot say: this is a library. What counts is the program that loads it: python3, say.";
	default:
		return NULL;
	}
}

/* Prints the verdict on everything found. */
static bool judge(const char *path, const struct reprise_binary *binary,
                  const struct reprise_hindrances *hindrances)
{
	const char *why = binary->kind != REPRISE_BINARY_UNREADABLE ? obstacle(binary) : NULL;

	if (binary->kind == REPRISE_BINARY_UNREADABLE)
		printf("cannot say: %s cannot be read: %s\n", path, binary->problem);
	else if (why != NULL)
		puts(why);
	else if (!is_program(path))
		printf("cannot be run: %s: %s\n", path, strerror(EACCES));
	else if (hindrances->preloading[0] != '\0')
		printf("cannot be preloaded: %s.\n", hindrances->preloading);
	else if (hindrances->starting[0] != '\0')
		printf("can be preloaded, but reprise run refuses to start it: %s%s%s.\n",
		       hindrances->starting,
		       hindrances->replaying[0] != '\0' ? "; and nothing would be replayed: " : "",
		       hindrances->replaying);
	else if (hindrances->replaying[0] != '\0')
		printf("can be preloaded, but nothing would be replayed: %s.\n", hindrances->replaying);
	else if (calls_dlmopen(binary))
		puts(
			"can be preloaded, but not what it loads into other namespaces: reprise run --stand-in reaches these, too.");
	else
		puts(
			"can be preloaded. A library that it opens with RTLD_DEEPBIND looks past what is preloaded: for that, reprise run --stand-in.");
	return binary->kind != REPRISE_BINARY_UNREADABLE && why == NULL && is_program(path) &&
	       hindrances->preloading[0] == '\0' && hindrances->starting[0] == '\0' &&
	       hindrances->replaying[0] == '\0';
}

/* Tells which interpreter a script asks for. False if it cannot be run. */
static bool tell_script(const struct reprise_program_file *script, const char *interpreter,
                        bool found)
{
	if (!is_program(script->path)) {
		printf("cannot be run: %s: %s\n", script->path, strerror(EACCES));
		return false;
	}
	reprise_cli_tell("a script for", "%s%s%s", script->binary.interpreter,
	                 script->binary.argument[0] != '\0' ? " " : "", script->binary.argument);
	if (!found)
		printf(
			"cannot be run: env looks for a program named \"%s\", and there is none in any folder of PATH\n",
			interpreter);
	return found;
}

bool reprise_cli_tell_program(const char *name, const struct reprise_program *program,
                              const struct reprise_hindrances *hindrances)
{
	const struct reprise_program_file *last;

	if (program->count == 0) {
		printf("cannot be run: %s: no such program is in any folder of PATH\n", name);
		return false;
	}
	last = &program->files[program->count - 1];
	for (const struct reprise_program_file *file = program->files; file <= last; file++) {
		tell_file(file->path, &file->binary);
		if (file->binary.kind == REPRISE_BINARY_SCRIPT &&
		    file < &program->files[REPRISE_PROGRAM_FILES - 1] &&
		    !tell_script(file, file[1].path, file < last))
			return false;
	}
	return judge(last->path, &last->binary, hindrances);
}
