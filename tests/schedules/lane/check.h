/* What tests/unit/lane/program.c needs of Check, in a schedule. */
#pragma once

#include <string.h>

#include "../schedule.h"

#define ck_assert_msg(condition, ...) REQUIRE(condition, __VA_ARGS__)
#define ck_assert_ptr_nonnull(pointer) REQUIRE((pointer) != NULL, "%s is NULL", #pointer)
#define ck_assert_int_eq(left, right) \
	REQUIRE((left) == (right), "%s is %lld, not %lld", #left, (long long)(left), (long long)(right))
#define ck_assert_str_eq(left, right) \
	REQUIRE(strcmp(left, right) == 0, "%s is \"%s\", not \"%s\"", #left, left, right)
