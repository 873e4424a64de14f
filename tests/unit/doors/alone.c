/* A program on a machine without a driver: the names that we export are not to look like one. */
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

enum { SKIPPED = 77 };

extern unsigned int linked_cuGraphLaunch(uint64_t event, uint64_t stream) __asm__("cuGraphLaunch")
	__attribute__((weak));

START_TEST(a_look_up_finds_no_driver)
{
	ck_assert_ptr_null(dlopen("libcuda.so.1", RTLD_LAZY));
	ck_assert_ptr_null(dlsym(RTLD_DEFAULT, "cuInit"));
	ck_assert_ptr_null(dlsym(RTLD_DEFAULT, "cuGraphLaunch"));
	ck_assert_ptr_nonnull(dlerror());
	ck_assert_ptr_null(dlsym(RTLD_NEXT, "cuGraphLaunch"));
	ck_assert_ptr_nonnull(dlerror());
}
END_TEST

START_TEST(a_call_that_nobody_can_answer_fails)
{
	ck_assert_uint_eq(linked_cuGraphLaunch(1, 2), CUDA_ERROR_NOT_SUPPORTED);
}
END_TEST

START_TEST(nothing_starts)
{
	(void)dlsym(RTLD_DEFAULT, "printf");
	(void)dlsym(RTLD_DEFAULT, "cuInit");
	ck_assert_uint_eq(preloaded_rooms()->starts, 0);
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, a_look_up_finds_no_driver);
	tcase_add_test(tcase, a_call_that_nobody_can_answer_fails);
	tcase_add_test(tcase, nothing_starts);
}

/* A library that the loader finds by the driver's name and that is not ours. */
static bool has_driver(void)
{
	void *found = dlopen("libcuda.so.1", RTLD_LAZY);
	struct link_map *map;

	return found != NULL && dlinfo(found, RTLD_DI_LINKMAP, &map) == 0 &&
	       strstr(map->l_name, "libreprise") == NULL;
}

int main(void)
{
	if (has_driver()) {
		puts("skipped: this machine has a driver");
		return SKIPPED;
	}
	return run_tests("doors, alone", add_tests);
}
