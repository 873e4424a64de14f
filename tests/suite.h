/* How a program of Check's tests ends. */
#pragma once

#include <check.h>

/* Runs the suite and frees it. What main is to return. */
static inline int run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
