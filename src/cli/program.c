#include "program.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binary.h"
#include "library.h"
#include "tell.h"

/* As execvp(3) would find it. */
static bool find_program(const char *name, char *path, size_t size)
{
	char folders[REPRISE_CLI_PATH_MOST];
	char *rest = folders;

	if (strchr(name, '/') != NULL) {
		snprintf(path, size, "%s", name);
		return true;
	}
	snprintf(folders, sizeof(folders), "%s", getenv("PATH") != NULL ? getenv("PATH") : "/bin:/usr/bin");
	for (const char *folder = strsep(&rest, ":"); folder != NULL; folder = strsep(&rest, ":")) {
		snprintf(path, size, "%s/%s", folder[0] != '\0' ? folder : ".", name);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static const char *machine_name(unsigned int machine)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} names[] = {{EM_386, "x86"}, {EM_X86_64, "x86-64"}, {EM_ARM, "arm"}, {EM_AARCH64, "aarch64"}, {EM_PPC64, "ppc64"}, {EM_RISCV, "risc-v"}};

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
	return binary->names_driver ? "looks libcuda.so.1 up itself" : "none in this file; its libraries may have one";
}

/* Static cudart names it whatever the program does. */
static bool calls_dlmopen(const struct reprise_binary *binary)
{
	return binary->imports_dlmopen && !binary->cudart_inside;
}

static void tell_program(const char *path, const struct reprise_binary *binary)
{
	char kind[128];

	reprise_cli_tell("program", "%s", path);
	if (binary->kind < REPRISE_BINARY_FOREIGN)
		return;
	snprintf(kind, sizeof(kind), "%d-bit, %s%s", binary->bits32 ? 32 : 64, machine_name(binary->machine),
	         binary->kind == REPRISE_BINARY_FOREIGN ? "" :
	         binary->kind == REPRISE_BINARY_STATIC  ? (binary->fixed_address ? ", static" : ", static-pie") :
	         binary->kind == REPRISE_BINARY_LIBRARY ? ", a library" :
	                                                  (binary->fixed_address ? ", dynamic, at a fixed address" : ", dynamic"));
	reprise_cli_tell("kind", "%s", kind);
	if (binary->kind == REPRISE_BINARY_FOREIGN)
		return;
	reprise_cli_tell("way to CUDA", "%s", way_to_the_driver(binary));
	reprise_cli_tell("privileges", "%s", binary->privileged ? "runs with more rights than its user has" : "its user's");
	if (calls_dlmopen(binary))
		reprise_cli_tell("namespaces", "%s", "calls dlmopen");
}

/* What is to be known, and whether the program can be preloaded. */
static bool judge(const struct reprise_binary *binary)
{
	switch (binary->kind) {
	case REPRISE_BINARY_UNREADABLE:
		puts("cannot say: the program's file cannot be read");
		return false;
	case REPRISE_BINARY_OTHER:
		puts("cannot say: this is neither a program nor a script with its interpreter in the first line");
		return false;
	case REPRISE_BINARY_FOREIGN:
		puts("cannot be preloaded: the library is for another kind of program than this one. The loader says \"cannot be preloaded\n"
		     "(wrong ELF class ...): ignored\" and runs the program without it, which is harmless. If only a program that it starts uses CUDA,\n"
		     "start that one under Reprise.");
		return false;
	case REPRISE_BINARY_STATIC:
		puts("cannot be preloaded: a static program has no loader that would. It runs as without Reprise.");
		return false;
	default:
		break;
	}
	if (binary->kind == REPRISE_BINARY_LIBRARY) {
		puts("cannot say: this is a library. What counts is the program that loads it: python3, say.");
		return false;
	}
	if (binary->privileged) {
		puts("cannot be preloaded: for a program with more rights than its user the loader ignores LD_PRELOAD and LD_LIBRARY_PATH, and Reprise would\n"
		     "turn itself off. Run a copy without these rights.");
		return false;
	}
	if (calls_dlmopen(binary))
		puts("can be preloaded, but not what it loads into other namespaces: reprise run --stand-in reaches these, too.");
	else
		puts("can be preloaded. A library that it opens with RTLD_DEEPBIND looks past what is preloaded: for that, reprise run --stand-in.");
	return true;
}

bool reprise_cli_tell_program(const char *name)
{
	char path[REPRISE_CLI_PATH_MOST];
	struct reprise_binary binary = {0};

	if (!find_program(name, path, sizeof(path))) {
		fprintf(stderr, "reprise: %s: no such program\n", name);
		return false;
	}
	binary = reprise_binary_read(path);
	tell_program(path, &binary);
	if (binary.kind == REPRISE_BINARY_SCRIPT) {
		reprise_cli_tell("a script for", "%s", binary.interpreter);
		snprintf(path, sizeof(path), "%s", binary.interpreter);
		binary = reprise_binary_read(path);
		tell_program(path, &binary);
	}
	return judge(&binary);
}
