#include "doctor.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/options.h"
#include "binary.h"
#include "library.h"

static void line(const char *what, const char *value)
{
	printf("  %-16s %s\n", what, value);
}

static void tell_installation(void)
{
	char path[REPRISE_CLI_PATH_MOST];

	line("library", reprise_cli_find_library(path) ? path : "not found");
	line("stand-in", reprise_cli_find_stand_in(path) ? path : "not found");
	line("driver", reprise_cli_find_driver(path) ? path : "no libcuda.so.1 is found here: programs run as without Reprise");
}

static void tell_option(enum reprise_option option)
{
	const struct reprise_option_row *row = &reprise_option_rows[option];
	const char *origin = reprise_option_given(option) ? "from the environment" : "default";
	char words[128] = "";
	char *word = words;

	switch (row->kind) {
	case REPRISE_OPTION_NUMBER:
		printf("  %-16s %llu (%s)\n", row->variable, (unsigned long long)reprise_option(option), origin);
		return;
	case REPRISE_OPTION_TEXT:
		printf("  %-16s %s (%s)\n", row->variable, reprise_option_text(option)[0] != '\0' ? reprise_option_text(option) : "none", origin);
		return;
	case REPRISE_OPTION_WORD:
		snprintf(words, sizeof(words), "%s", row->words);
		for (uint64_t i = 0; i < reprise_option(option); i++)
			strsep(&word, "|");
		printf("  %-16s %s (%s)\n", row->variable, strsep(&word, "|"), origin);
		return;
	}
}

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

	line("program", path);
	if (binary->kind < REPRISE_BINARY_FOREIGN)
		return;
	snprintf(kind, sizeof(kind), "%d-bit, %s%s", binary->bits32 ? 32 : 64, machine_name(binary->machine),
	         binary->kind == REPRISE_BINARY_FOREIGN ? "" :
	         binary->kind == REPRISE_BINARY_STATIC  ? (binary->fixed_address ? ", static" : ", static-pie") :
	                                                  (binary->fixed_address ? ", dynamic, at a fixed address" : ", dynamic"));
	line("kind", kind);
	if (binary->kind == REPRISE_BINARY_FOREIGN)
		return;
	line("way to CUDA", way_to_the_driver(binary));
	line("privileges", binary->privileged ? "runs with more rights than its user has" : "its user's");
	if (calls_dlmopen(binary))
		line("namespaces", "calls dlmopen");
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

static bool tell_program_and_judge(const char *name)
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
		line("a script for", binary.interpreter);
		snprintf(path, sizeof(path), "%s", binary.interpreter);
		binary = reprise_binary_read(path);
		tell_program(path, &binary);
	}
	return judge(&binary);
}

int reprise_cli_doctor(const char *program)
{
	reprise_options_read();
	tell_installation();
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++)
		tell_option(i);
	return program == NULL || tell_program_and_judge(program) ? 0 : 1;
}
