#include "program.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned arguments;
} actions[] = {
#define X(name, arguments) [ACTION_##name] = {#name, arguments},
	ACTIONS(X)
#undef X
};

static const struct {
	const char *word;
	unsigned numbers;
	const char *c;
} conditions[] = {
#define X(name, word, numbers, c) [CONDITION_##name] = {word, numbers, c},
	CONDITIONS(X)
#undef X
};

static void *grow(void *array, size_t size)
{
	array = realloc(array, size);
	if (array == NULL)
		abort();
	return array;
}

void program_add_loop(struct program *program, int count)
{
	program->loops = grow(program->loops, (program->length + 1) * sizeof(*program->loops));
	program->loops[program->length++] = (struct loop){.count = count};
}

void program_add(struct program *program, struct statement statement)
{
	struct loop *loop = &program->loops[program->length - 1];

	loop->body = grow(loop->body, (loop->length + 1) * sizeof(*loop->body));
	loop->body[loop->length++] = statement;
}

/* ---- text ---- */

_Noreturn static void wrong(const char *what, const char *line)
{
	fprintf(stderr, "fuzz-program: %s: %s\n", what, line);
	exit(2);
}

static unsigned read_numbers(int *into, unsigned count, char **rest, const char *line)
{
	for (unsigned i = 0; i < count; i++) {
		char *word = strtok_r(NULL, " \n", rest);

		if (word == NULL)
			wrong("a number is missing", line);
		into[i] = (int)strtol(word, NULL, 10);
	}
	return count;
}

static struct statement read_statement(const char *name, char **rest, const char *line)
{
	struct statement statement = {0};
	char *word;

	while (statement.action < ACTION_COUNT && strcmp(actions[statement.action].name, name) != 0)
		statement.action++;
	if (statement.action == ACTION_COUNT)
		wrong("no such action", line);
	read_numbers(statement.arguments, actions[statement.action].arguments, rest, line);
	word = strtok_r(NULL, " \n", rest);
	if (word == NULL)
		return statement;
	word = strcmp(word, "if") == 0 ? strtok_r(NULL, " \n", rest) : NULL;
	for (statement.condition = CONDITION_AT; word != NULL && statement.condition < CONDITION_COUNT;
	     statement.condition++)
		if (strcmp(conditions[statement.condition].word, word) == 0)
			break;
	if (word == NULL || statement.condition == CONDITION_COUNT)
		wrong("no such condition", line);
	read_numbers(statement.numbers, conditions[statement.condition].numbers, rest, line);
	if (statement.condition >= CONDITION_EVERY && statement.numbers[0] < 1)
		wrong("one in none", line);
	return statement;
}

void program_read(struct program *program, FILE *file)
{
	char line[256], copy[256];
	bool open = false;

	while (fgets(line, sizeof(line), file) != NULL) {
		char *rest = NULL, *word;

		strcpy(copy, line);
		word = strtok_r(copy, " \n", &rest);
		if (word == NULL || word[0] == '#')
			continue;
		if (strcmp(word, "loop") == 0 && !open) {
			int count;

			read_numbers(&count, 1, &rest, line);
			program_add_loop(program, count);
			open = true;
		} else if (strcmp(word, "end") == 0 && open) {
			open = false;
		} else if (open) {
			program_add(program, read_statement(word, &rest, line));
		} else {
			wrong("outside of a loop", line);
		}
	}
}

void program_write(const struct program *program, FILE *file)
{
	for (unsigned l = 0; l < program->length; l++) {
		fprintf(file, "loop %d\n", program->loops[l].count);
		for (unsigned i = 0; i < program->loops[l].length; i++) {
			const struct statement *statement = &program->loops[l].body[i];

			fputs(actions[statement->action].name, file);
			for (unsigned a = 0; a < actions[statement->action].arguments; a++)
				fprintf(file, " %d", statement->arguments[a]);
			if (statement->condition != CONDITION_ALWAYS)
				fprintf(file, " if %s", conditions[statement->condition].word);
			for (unsigned n = 0; n < conditions[statement->condition].numbers; n++)
				fprintf(file, " %d", statement->numbers[n]);
			fputc('\n', file);
		}
		fputs("end\n", file);
	}
}

/* ---- C ---- */

static void write_c_statement(const struct statement *statement, FILE *file)
{
	fputs("\t\t", file);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fprintf(file, conditions[statement->condition].c, statement->numbers[0], statement->numbers[1]);
#pragma GCC diagnostic pop
	fprintf(file, "fuzz_%s(", actions[statement->action].name);
	for (unsigned a = 0; a < actions[statement->action].arguments; a++)
		fprintf(file, "%s%d", a > 0 ? ", " : "", statement->arguments[a]);
	fputs(");\n", file);
}

void program_write_c(const struct program *program, FILE *file)
{
	fputs(
		"/* gcc -Itests/fuzz this.c tests/fuzz/{actions,shapes,refused,planes,lives,contexts,elsewhere,threads,ops,world}.c -pthread -lcuda; run it with the kernels' file */\n"
		"#include \"actions.h\"\n\nint main(int argc, char **argv)\n{\n\tstart(argv[argc - 1]);\n",
		file);
	for (unsigned l = 0; l < program->length; l++) {
		fprintf(file, "\tfor (iteration = 0; iteration < %d; iteration++) {\n",
		        program->loops[l].count);
		for (unsigned i = 0; i < program->loops[l].length; i++)
			write_c_statement(&program->loops[l].body[i], file);
		fputs("\t}\n", file);
	}
	fputs("\treturn finish();\n}\n", file);
}

/* ---- running ---- */

static void act(enum action action, const int *a)
{
	switch (action) {
#define X0(name) fuzz_##name()
#define X1(name) fuzz_##name(a[0])
#define X2(name) fuzz_##name(a[0], a[1])
#define X3(name) fuzz_##name(a[0], a[1], a[2])
#define X4(name) fuzz_##name(a[0], a[1], a[2], a[3])
#define X(name, arguments) \
	case ACTION_##name: \
		X##arguments(name); \
		break;
		ACTIONS(X)
#undef X
	case ACTION_COUNT:
		break;
	}
}

static bool due(const struct statement *statement)
{
	const int *n = statement->numbers;

	switch (statement->condition) {
	case CONDITION_AT:
		return iteration == n[0];
	case CONDITION_NOT:
		return iteration != n[0];
	case CONDITION_EVERY:
		return iteration % n[0] == n[1];
	case CONDITION_CHANCE:
		return chance((unsigned)n[1]) % (unsigned)n[0] == 0;
	case CONDITION_MOSTLY:
		return chance((unsigned)n[1]) % (unsigned)n[0] != 0;
	default:
		return true;
	}
}

/* For program_tell_where(), which a signal's handler calls. */
static volatile unsigned long programs_run;
static volatile unsigned loop_at, statement_at;
static volatile enum action action_at;
static volatile uint64_t action_since, spent_ns[ACTION_COUNT];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void do_statement(const struct statement *statement)
{
	action_at = statement->action;
	action_since = now_ns();
	act(statement->action, statement->arguments);
	spent_ns[statement->action] += now_ns() - action_since;
	action_since = 0;
}

void program_run(const struct program *program)
{
	programs_run++;
	for (loop_at = 0; loop_at < program->length; loop_at++)
		for (iteration = 0; iteration < program->loops[loop_at].count; iteration++)
			for (statement_at = 0; statement_at < program->loops[loop_at].length; statement_at++)
				if (due(&program->loops[loop_at].body[statement_at]))
					do_statement(&program->loops[loop_at].body[statement_at]);
}

void program_tell_where(void)
{
	char text[512];
	int length;

	length = snprintf(
		text, sizeof(text),
		"program %lu, loop %u, iteration %d, statement %u (%s) for %.3f s; longest in all, in s:",
		programs_run, loop_at + 1, iteration, statement_at + 1, actions[action_at].name,
		action_since != 0 ? (double)(now_ns() - action_since) / 1e9 : 0);
	for (unsigned shown = 0; shown < 5; shown++) {
		enum action longest = 0;

		for (enum action action = 0; action < ACTION_COUNT; action++)
			if (spent_ns[action] > spent_ns[longest])
				longest = action;
		length += snprintf(text + length, sizeof(text) - (size_t)length, " %s %.3f",
		                   actions[longest].name, (double)spent_ns[longest] / 1e9);
		spent_ns[longest] = 0;
	}
	text[length++] = '\n';
	if (write(STDERR_FILENO, text, (size_t)length) < 0)
		_exit(4);
}
