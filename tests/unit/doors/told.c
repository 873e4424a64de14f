/*
 * What each wrapper tells the inner rooms, in which order, and what the driver gets: told.txt has
 * it all. `doors_told FILE` compares, `doors_told FILE --write` writes it anew from its names.
 *
 *     NAME/ARGUMENTS MODE: ROOM VALUES; ...
 *
 * The wrappers are called with distinct arguments; #3 is the third. The driver's call stands as its
 * name, with all its arguments; "giving" and "waiting" in front of it say how it goes through the
 * gate. Modes: the driver succeeds, it `fails` with an error that ruins the context, it has no
 * `memory`, also for a call that `passes`; Reprise `waits` with an error of a deferred op; the call
 * comes from `inside` Reprise; nothing is deferred (`calm`); its first argument is 0 (`null`); its
 * third is, which are flags
 * (`flagless`).
 */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ARGUMENTS_MOST 12
#define SPACING 0x104 /* so that the last byte of an argument tells which one it is, too */

/* What arguments point at, if they are pointers. */
static _Alignas(0x10000) uint32_t pointed_at[0x10000 / 4];

static const char *door; /* that is called */
static unsigned int arguments;
static char said[4096];

static uint64_t argument(unsigned int number)
{
	return (uint64_t)(uintptr_t)pointed_at + number * SPACING;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	size_t length = strlen(said);
	va_list values;

	va_start(values, format);
	vsnprintf(said + length, sizeof(said) - length, format, values);
	va_end(values);
}

/* A value as it is, or which argument it is of: whole, or what of it fits into less. */
static void say_value(uint64_t value)
{
	for (unsigned int i = 1; i <= ARGUMENTS_MOST; i++)
		if (value == argument(i) || value == (uint32_t)argument(i) ||
		    value == (uint64_t)(int32_t)argument(i) || value == (uint16_t)argument(i)) {
			say(" #%u", i);
			return;
		}
	for (unsigned int i = 1; i <= ARGUMENTS_MOST; i++)
		if (value == (uint8_t)argument(i) && value > ARGUMENTS_MOST) {
			say(" #%u", i);
			return;
		}
	say(" %llx", (unsigned long long)value);
}

static void told(const char *room, unsigned int count, const uint64_t *values)
{
	say(" %s", room);
	for (unsigned int i = 0; i < count; i++)
		say_value(values[i]);
	say(";");
}

static void driver_is_called(void)
{
	const struct fake_log *log = driver_log();

	say("%s%s %s", preloaded_rooms()->gives_work() ? " giving" : "",
	    preloaded_rooms()->waits() ? " waiting" : "", log->name);
	if (strcmp(log->name, door) == 0)
		for (unsigned int i = 0; i < arguments; i++)
			say_value(log->integers[i]);
	say(";");
}

/* A launch's configuration, where the first argument points. */
static void fill(void)
{
	uint32_t *first = (uint32_t *)(uintptr_t)argument(1);

	for (uint32_t i = 0; i < SPACING / 4; i++)
		first[i] = 0x1000 + i;
}

static void call(const char *name, unsigned int count, const char *mode)
{
	struct rooms *rooms = preloaded_rooms();
	bool inside = strstr(mode, "inside") != NULL;
	uint64_t first = strstr(mode, "null") != NULL ? 0 : argument(1);
	uint64_t flags = strstr(mode, "flagless") != NULL ? 0 : argument(3);
	void *function = dlsym(driver(), name);

	door = name;
	arguments = count;
	said[0] = '\0';
	driver_log()->result = strcmp(mode, "fails") == 0 ? CUDA_ERROR_ILLEGAL_ADDRESS
	                       : strcmp(mode, "memory") == 0 || strcmp(mode, "passes") == 0
	                           ? CUDA_ERROR_OUT_OF_MEMORY
	                           : CUDA_SUCCESS;
	rooms->passes = strcmp(mode, "passes") == 0;
	rooms->answer = strcmp(mode, "waits") == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
	*rooms->attention = strcmp(mode, "calm") != 0;
	*rooms->inside() += inside;
	unsigned int result =
		((fake_function *)function)(first, argument(2), flags, argument(4), argument(5),
	                                argument(6), argument(7), argument(8), argument(9),
	                                argument(10), argument(11), argument(12), 0, 0, 0, 0, 0, 0, 0,
	                                0);
	*rooms->inside() -= inside;
	say(" = %u", result);
}

static FILE *file;
static bool writes;

/* The next "NAME/ARGUMENTS MODE" of the file; false at its end. */
static bool read_row(char *name, unsigned int *count, char *mode, char *expected)
{
	char line[sizeof(said) + 256];

	while (fgets(line, sizeof(line), file) != NULL) {
		expected[0] = '\0';
		if (line[0] != '#' &&
		    sscanf(line, "%127[^/]/%u %31[^:]:%4095[^\n]", name, count, mode, expected) >= 3)
			return true;
	}
	return false;
}

START_TEST(each_wrapper_tells_what_it_should)
{
	char name[128], mode[32], expected[sizeof(said)];
	unsigned int count, rows = 0, wrong = 0;

	fill();
	driver_log()->called = driver_is_called;
	preloaded_rooms()->told = told;
	preloaded_rooms()->loads = preloaded_rooms()->eager = true;
	for (; read_row(name, &count, mode, expected); rows++) {
		call(name, count, mode);
		if (writes) {
			printf("%s/%u %s:%s\n", name, count, mode, said);
		} else if (strcmp(said, expected) != 0) {
			printf("%s, %s: it is\n %s\nand not\n %s\n", name, mode, said, expected);
			wrong++;
		}
	}
	fflush(stdout);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_gt(rows, 0);
}
END_TEST

/* Every entry point with a wrapper of its own, but those that hand out others, and the modes that
 * each has to have a row for. */
#define MODES "succeeds", "fails", "inside", "calm"
#define MODES_MOST 6

static const struct {
	const char *name, *modes[MODES_MOST];
} wrappers[] = {
#define RECORD(name, ...) {#name, {MODES, "memory", "passes"}},
#define OWN(name, ...) {#name, {MODES}},
#define ALLOC(name, ...) {#name, {MODES, "memory"}},
#define ORDER(name, ...)
#define SYNC(name, ...)
#define LIFETIME(name, ...)
#define NO_DOOR(name, ...)
#include "../../../preload/entry_points.def"
};

static bool has_row(const char *wanted, const char *wanted_mode)
{
	char name[128], mode[32], expected[sizeof(said)];
	unsigned int count;

	rewind(file);
	while (read_row(name, &count, mode, expected))
		if (strcmp(name, wanted) == 0 && strcmp(mode, wanted_mode) == 0)
			return true;
	return false;
}

START_TEST(each_wrapper_has_its_rows)
{
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		for (unsigned int k = 0; k < MODES_MOST && wrappers[i].modes[k] != NULL; k++)
			if (strncmp(wrappers[i].name, "cuGetProcAddress", 16) != 0)
				ck_assert_msg(has_row(wrappers[i].name, wrappers[i].modes[k]), "no row: %s %s",
				              wrappers[i].name, wrappers[i].modes[k]);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, each_wrapper_tells_what_it_should);
	if (!writes)
		tcase_add_test(tcase, each_wrapper_has_its_rows);
}

int main(int argc, char **argv)
{
	file = argc > 1 ? fopen(argv[1], "r") : NULL;
	writes = argc > 2 && strcmp(argv[2], "--write") == 0;
	if (file == NULL) {
		fprintf(stderr, "usage: doors_told FILE [--write]\n");
		return 2;
	}
	return run_tests("what doors tell", add_tests);
}
