#include "harness.h"

struct rooms *preloaded_rooms(void)
{
	struct rooms *rooms = dlsym(RTLD_DEFAULT, "rooms");

	ck_assert_msg(rooms != NULL, "the doors are not preloaded");
	return rooms;
}

void *driver(void)
{
	void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_GLOBAL);

	ck_assert_msg(handle != NULL, "no driver: %s", dlerror());
	return handle;
}

struct fake_log *driver_log(void)
{
	struct fake_log *log = dlsym(driver(), "fake_log");

	ck_assert_msg(log != NULL, "this is not the fake driver");
	return log;
}

void defer_something(void)
{
	*preloaded_rooms()->attention = 1;
}

unsigned int call_with_everything(void *function)
{
	return ((fake_function *)function)(INTEGER(1), INTEGER(2), INTEGER(3), INTEGER(4), INTEGER(5),
	                                   INTEGER(6), INTEGER(7), INTEGER(8), INTEGER(9), INTEGER(10),
	                                   INTEGER(11), INTEGER(12), 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5,
	                                   7.5);
}

void assert_everything_arrived(const char *name)
{
	const struct fake_log *log = driver_log();

	ck_assert_str_eq(log->name, name);
	for (unsigned int i = 0; i < FAKE_INTEGERS; i++)
		ck_assert_uint_eq(log->integers[i], INTEGER(i + 1));
	for (unsigned int i = 0; i < FAKE_FLOATS; i++)
		ck_assert_double_eq(log->floats[i], i + 0.5);
}

int run_tests(const char *name, void (*add)(TCase *tcase))
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);

	add(tcase);
	suite_add_tcase(suite, tcase);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
