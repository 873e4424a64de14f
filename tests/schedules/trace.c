/* A schedule in words: each operation on what threads share, and where it stands in the sources. */
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inner.h"

#define LINE 400
#define FIRST 500 /* of a long trace the first and the last steps are printed */
#define LAST 300

static const char *const names[] = {
	[LOADS] = "loads",      [STORES] = "stores",     [EXCHANGES] = "exchanges, now",
	[ADDS] = "adds, now",   [COMPARES] = "compares", [WAITS] = "waits while unchanged",
	[WAKES] = "wakes",      [READS_CLOCK] = "clock", [YIELDS] = "yields",
	[NAPS] = "sleeps (ns)", [ENDS] = "ends",         [SAYS] = ""};

void schedule_name(const volatile void *address, size_t bytes, const char *name)
{
	if (scheduler->name_count == NAMES_MOST)
		return;
	scheduler->names[scheduler->name_count].address = address;
	scheduler->names[scheduler->name_count].bytes = bytes;
	scheduler->names[scheduler->name_count++].name = name;
}

static void print_address(const volatile void *address)
{
	const volatile char *at = address;

	for (unsigned int i = 0; i < scheduler->name_count; i++)
		if (at >= scheduler->names[i].address &&
		    at < scheduler->names[i].address + scheduler->names[i].bytes) {
			printf(" %s", scheduler->names[i].name);
			if (at != scheduler->names[i].address)
				printf("+%zd", at - scheduler->names[i].address);
			return;
		}
	printf(" %p", (const void *)(uintptr_t)address);
}

/* Operations on words that one thread alone uses are left out, and the middle of a long trace. */
static bool is_shown(const struct step *step)
{
	unsigned int number = (unsigned int)(step - scheduler->trace);

	if (number >= FIRST && number + LAST < scheduler->steps && !step->chosen)
		return false;
	if (step->address == NULL || step->operation == READS_CLOCK || step->chosen)
		return true;
	for (unsigned int i = 0; i < WORDS_MOST; i++)
		if (scheduler->words[i].address == step->address)
			return scheduler->words[i].shared;
	return true;
}

static int note_base(struct dl_phdr_info *info, size_t bytes, void *base)
{
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

/* What addr2line says of the next address: the functions, from the inside outwards, and the file
 * and line of the innermost. */
static void read_place(FILE *lines, char *place, size_t bytes)
{
	char line[LINE], functions[LINE] = "", file[LINE] = "";
	long before;

	while (before = ftell(lines), fgets(line, sizeof(line), lines) != NULL) {
		char *slash, *end = strchr(line, '\n');

		if (end != NULL)
			*end = '\0';
		if (strncmp(line, "0x", 2) == 0) {
			if (functions[0] == '\0')
				continue;
			fseek(lines, before, SEEK_SET);
			break;
		}
		if (functions[0] == '\0' || strchr(line, '/') == NULL) {
			if (strlen(functions) + strlen(line) + 4 < sizeof(functions))
				sprintf(functions + strlen(functions), "%s%s", functions[0] != '\0' ? " < " : "",
				        line);
			continue;
		}
		if (file[0] != '\0')
			continue;
		slash = strstr(line, "/src/");
		if (slash == NULL)
			slash = strstr(line, "/tests/");
		snprintf(file, sizeof(file), "%s", slash != NULL ? slash + 1 : line);
		if (strchr(file, ' ') != NULL)
			*strchr(file, ' ') = '\0';
	}
	snprintf(place, bytes, "%s %s", file, functions);
}

static FILE *ask_addr2line(const char *addresses, const char *answers)
{
	char command[LINE], program[LINE / 2] = "";
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length < 0)
		return NULL;
	snprintf(command, sizeof(command), "addr2line -a -f -i -e '%s' @%s >%s 2>/dev/null", program,
	         addresses, answers);
	return system(command) == 0 ? fopen(answers, "r") : NULL;
}

void trace_print(void)
{
	char addresses[] = "/tmp/schedules-XXXXXX", answers[] = "/tmp/schedules-XXXXXX";
	int file = mkstemp(addresses), other = mkstemp(answers);
	FILE *lines = file >= 0 ? fdopen(file, "w") : NULL;
	uintptr_t base = 0;

	scheduler->runs = false;
	dl_iterate_phdr(note_base, &base);
	for (unsigned int i = 0; lines != NULL && i < scheduler->steps; i++)
		if (scheduler->trace[i].place != NULL && is_shown(&scheduler->trace[i]))
			fprintf(lines, "0x%" PRIxPTR "\n", (uintptr_t)scheduler->trace[i].place - base - 1);
	if (lines != NULL)
		fclose(lines);
	lines = ask_addr2line(addresses, answers);
	for (unsigned int i = 0; i < scheduler->steps; i++) {
		const struct step *step = &scheduler->trace[i];
		char place[2 * LINE] = "";

		if (i == FIRST && FIRST + LAST < scheduler->steps)
			printf("   ...\n");
		if (!is_shown(step))
			continue;
		if (lines != NULL && step->place != NULL)
			read_place(lines, place, sizeof(place));
		printf("%c%6u %c  %s%s", step->chosen ? '*' : ' ', i, 'A' + step->thread,
		       names[step->operation], step->what != NULL ? step->what : "");
		if (step->operation <= WAKES) {
			print_address(step->address);
			printf(" = %" PRIu64, step->value);
		} else if (step->operation == READS_CLOCK || step->operation == NAPS) {
			printf(" %" PRIu64, step->value);
		}
		printf("    %s\n", place);
	}
	if (lines != NULL)
		fclose(lines);
	if (other >= 0)
		close(other);
	unlink(addresses);
	unlink(answers);
}
