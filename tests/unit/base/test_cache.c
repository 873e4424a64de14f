/* The loader's cache: what is in it is found, and a file that is none of its kind does no harm. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../suite.h"
#include "driver/search.h"

#define MOST 4000000

static char cache[MOST];
static size_t cache_size;
static char copy[] = "/tmp/reprise-cache-XXXXXX";
static unsigned int seen;

static void *take_readable(const char *path, int flags)
{
	seen++;
	return flags == 7 && access(path, R_OK) == 0 ? strdup(path) : NULL;
}

static void *take_nothing(const char *path, int flags)
{
	(void)path;
	(void)flags;
	seen++;
	return NULL;
}

static void write_copy(const char *bytes, size_t size)
{
	FILE *file = fopen(copy, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void setup(void)
{
	FILE *file = fopen(REPRISE_CACHE_FILE, "r");

	ck_assert_ptr_nonnull(file);
	cache_size = fread(cache, 1, sizeof(cache), file);
	fclose(file);
	strcpy(strrchr(copy, '-'), "-XXXXXX");
	ck_assert_int_ge(mkstemp(copy), 0);
}

static void teardown(void)
{
	unlink(copy);
}

START_TEST(a_library_of_the_system_is_found)
{
	char *path = reprise_cache_each(REPRISE_CACHE_FILE, "libc.so.6", take_readable, 7);

	ck_assert_ptr_nonnull(path);
	ck_assert_ptr_nonnull(strstr(path, "/libc.so.6"));
	free(path);
}
END_TEST

/* The cache is the first file that is open then. */
START_TEST(a_library_is_found_by_a_program_without_files)
{
	char *path;

	close(STDIN_FILENO);
	path = reprise_cache_each(REPRISE_CACHE_FILE, "libc.so.6", take_readable, 7);
	ck_assert_ptr_nonnull(path);
	free(path);
	ck_assert_int_eq(fcntl(STDIN_FILENO, F_GETFD), -1);
}
END_TEST

START_TEST(the_search_goes_on_until_something_is_taken)
{
	ck_assert_ptr_null(reprise_cache_each(REPRISE_CACHE_FILE, "libc.so.6", take_nothing, 0));
	ck_assert_uint_ge(seen, 1);
}
END_TEST

START_TEST(a_library_that_is_not_there_is_not_found)
{
	ck_assert_ptr_null(reprise_cache_each(REPRISE_CACHE_FILE, "libc.so", take_nothing, 0));
	ck_assert_ptr_null(reprise_cache_each(REPRISE_CACHE_FILE, "libnothing.so.1", take_nothing, 0));
	ck_assert_ptr_null(reprise_cache_each("/no/such/file", "libc.so.6", take_nothing, 0));
	ck_assert_uint_eq(seen, 0);
}
END_TEST

START_TEST(a_file_cut_short_anywhere_does_no_harm)
{
	for (size_t size = 0; size < cache_size; size += size < 200 ? 1 : 4099) {
		write_copy(cache, size);
		(void)reprise_cache_each(copy, "libc.so.6", take_nothing, 0);
	}
}
END_TEST

START_TEST(a_file_full_of_ones_does_no_harm)
{
	for (size_t at = 20; at < 200; at += 4) {
		char whole[1000];

		memcpy(whole, cache, sizeof(whole));
		memset(whole + at, 0xff, sizeof(whole) - at);
		write_copy(whole, sizeof(whole));
		ck_assert_ptr_null(reprise_cache_each(copy, "libc.so.6", take_nothing, 0));
	}
	write_copy("glibc-ld.so.cache1.0", 20);
	ck_assert_ptr_null(reprise_cache_each(copy, "libc.so.6", take_nothing, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cache");
	TCase *tests = tcase_create("cache");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_library_of_the_system_is_found);
	tcase_add_test(tests, a_library_is_found_by_a_program_without_files);
	tcase_add_test(tests, the_search_goes_on_until_something_is_taken);
	tcase_add_test(tests, a_library_that_is_not_there_is_not_found);
	tcase_add_test(tests, a_file_cut_short_anywhere_does_no_harm);
	tcase_add_test(tests, a_file_full_of_ones_does_no_harm);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
