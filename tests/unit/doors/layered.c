/* A program that links the driver, with another layer preloaded beside ours: each sees the call
 * once, in either order. */
#include "harness.h"

extern unsigned int linked_cuGraphLaunch(uint64_t event, uint64_t stream) __asm__("cuGraphLaunch");

START_TEST(a_call_goes_through_the_layer_and_through_the_door)
{
	unsigned int *layer_calls = dlsym(RTLD_DEFAULT, "layer_calls");

	ck_assert_ptr_nonnull(layer_calls);
	defer_something();
	for (unsigned int i = 1; i <= 2; i++) {
		linked_cuGraphLaunch(INTEGER(1), INTEGER(2));
		ck_assert_uint_eq(*layer_calls, i);
		ck_assert_uint_eq(preloaded_rooms()->orders, i);
		ck_assert_uint_eq(driver_log()->calls, i);
	}
	ck_assert_uint_eq(driver_log()->integers[1], INTEGER(2));
}
END_TEST

/* The layer's function comes before the driver's; where it has none, the door does. */
START_TEST(a_look_up_finds_what_comes_first_in_the_global_scope)
{
	void *handles[] = {RTLD_DEFAULT, RTLD_NEXT, dlopen(NULL, RTLD_LAZY)};
	void *layers = dlsym(RTLD_DEFAULT, "layer_calls");
	Dl_info layer, found;

	ck_assert_int_ne(dladdr(layers, &layer), 0);
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		ck_assert_int_ne(dladdr(dlsym(handles[i], "cuGraphLaunch"), &found), 0);
		ck_assert_ptr_eq(found.dli_fbase, layer.dli_fbase);
		ck_assert_ptr_eq(dlsym(handles[i], "cuParamSetf"), dlsym(driver(), "cuParamSetf"));
	}
}
END_TEST

START_TEST(rtld_next_sees_who_asked)
{
	void *(*past_itself)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "layer_past_itself");

	ck_assert_ptr_nonnull(past_itself);
	ck_assert_ptr_null(past_itself());
	ck_assert_ptr_nonnull(dlerror());
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, a_call_goes_through_the_layer_and_through_the_door);
	tcase_add_test(tcase, a_look_up_finds_what_comes_first_in_the_global_scope);
	tcase_add_test(tcase, rtld_next_sees_who_asked);
}

int main(void)
{
	return run_tests("doors, layered", add_tests);
}
