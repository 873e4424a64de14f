/* Attributes of functions and kernels: which settings are news, and what the traces are told of
 * them. */
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* By label, so that cuda.h has no say in their names and types. */
#define LINKED(name) extern fake_function linked_##name __asm__(#name)

LINKED(cuFuncSetAttribute);
LINKED(cuFuncSetCacheConfig);
LINKED(cuKernelSetAttribute);
LINKED(cuModuleUnload);

START_TEST(an_attribute_set_again_to_the_same_value_is_no_news)
{
	struct rooms *rooms = preloaded_rooms();
	CUresult (*set)(CUfunction, int, int) = (void *)linked_cuFuncSetAttribute;

	set((CUfunction)64, 8, 1000);
	ck_assert_uint_eq(rooms->lifetimes, 1);
	ck_assert_uint_eq(rooms->what, REPRISE_LIFETIME_FUNCTION);
	ck_assert_uint_eq(rooms->handle, 64);
	set((CUfunction)64, 8, 1000);
	ck_assert_uint_eq(rooms->lifetimes, 1);
	set((CUfunction)64, 8, 999);
	ck_assert_uint_eq(rooms->lifetimes, 2);
	set((CUfunction)128, 8, 999);
	ck_assert_uint_eq(rooms->lifetimes, 3);
	ck_assert_uint_eq(driver_log()->integers[0], 128);
}
END_TEST

START_TEST(an_attribute_is_news_again_after_a_failure_or_an_unloaded_module)
{
	struct rooms *rooms = preloaded_rooms();
	CUresult (*set)(CUfunction, int, int) = (void *)linked_cuFuncSetAttribute;

	driver_log()->result = CUDA_ERROR_INVALID_VALUE;
	set((CUfunction)64, 8, 1000);
	driver_log()->result = CUDA_SUCCESS;
	set((CUfunction)64, 8, 1000);
	ck_assert_uint_eq(rooms->lifetimes, 2);
	call_with_everything(linked_cuModuleUnload);
	set((CUfunction)64, 8, 1000);
	ck_assert_uint_eq(rooms->lifetimes, 4);
}
END_TEST

START_TEST(a_kernel_and_its_function_void_what_the_other_set)
{
	struct rooms *rooms = preloaded_rooms();
	CUresult (*set)(CUfunction, int, int) = (void *)linked_cuFuncSetAttribute;
	CUresult (*set_kernel)(int, int, CUkernel, CUdevice) = (void *)linked_cuKernelSetAttribute;

	set((CUfunction)64, 8, 1000);
	set_kernel(8, 500, (CUkernel)192, 0);
	set((CUfunction)64, 8, 1000);
	ck_assert_uint_eq(rooms->lifetimes, 3);
}
END_TEST

START_TEST(the_cache_preference_and_the_carveout_count_as_one)
{
	struct rooms *rooms = preloaded_rooms();
	CUresult (*set)(CUfunction, int, int) = (void *)linked_cuFuncSetAttribute;
	CUresult (*prefer)(CUfunction, int) = (void *)linked_cuFuncSetCacheConfig;
	int carveout = CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;

	set((CUfunction)64, carveout, 1);
	prefer((CUfunction)64, 1);
	prefer((CUfunction)64, 1);
	ck_assert_uint_eq(rooms->lifetimes, 2);
	set((CUfunction)64, carveout, 1);
	ck_assert_uint_eq(rooms->lifetimes, 3);
}
END_TEST

/* Attributes that say which grids a function takes change what is known of it; of all others only
 * the launches of the function hear. */
START_TEST(each_attribute_says_what_it_changes)
{
	struct rooms *rooms = preloaded_rooms();
	CUresult (*set)(CUfunction, int, int) = (void *)linked_cuFuncSetAttribute;
	CUresult (*set_kernel)(int, int, CUkernel, CUdevice) = (void *)linked_cuKernelSetAttribute;
	bool of_grids = _i == CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET ||
	                _i == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ||
	                _i == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT ||
	                _i == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH;
	bool is_limit = _i == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;

	set((CUfunction)64, _i, 1);
	ck_assert_int_eq(rooms->what, of_grids ? REPRISE_LIFETIME_CODE : REPRISE_LIFETIME_FUNCTION);
	ck_assert_int_eq(is_limit ? rooms->limit.what : rooms->what_ended, rooms->what);
	ck_assert_uint_eq(rooms->handle, 64);
	set_kernel(_i, 1, (CUkernel)192, 0);
	ck_assert_int_eq(rooms->what, of_grids ? REPRISE_LIFETIME_CODE : REPRISE_LIFETIME_KERNEL);
	ck_assert_int_eq(is_limit ? rooms->limit.what : rooms->what_ended, rooms->what);
	ck_assert_uint_eq(rooms->handle, 192);
	ck_assert_uint_eq(rooms->lifetimes, 2);
	ck_assert_uint_eq(rooms->limits, is_limit ? 2 : 0);
	ck_assert_uint_eq(rooms->lifetimes_ended, is_limit ? 0 : 2);
}
END_TEST

START_TEST(a_limit_is_told_with_its_device_and_amount)
{
	struct rooms *rooms = preloaded_rooms();
	CUresult (*set)(CUfunction, int, int) = (void *)linked_cuFuncSetAttribute;
	CUresult (*set_kernel)(int, int, CUkernel, CUdevice) = (void *)linked_cuKernelSetAttribute;

	set_kernel(8, 500, (CUkernel)192, 3);
	ck_assert_uint_eq(rooms->limit.handle, 192);
	ck_assert_int_eq(rooms->limit.device, 3);
	ck_assert_uint_eq(rooms->limit.bytes, 500);
	driver_log()->result = CUDA_ERROR_INVALID_VALUE;
	set((CUfunction)64, 8, 1000);
	ck_assert_uint_eq(rooms->limits, 1);
	ck_assert_uint_eq(rooms->lifetimes_ended, 1);
	ck_assert_uint_eq(rooms->handle_ended, 64);
}
END_TEST

/* ---- a setting while another one is made: it is unknown then which of them the driver took last.
 * What the inner one does, and whether the same settings are news afterwards. ---- */

static void set_to(int value)
{
	CUresult (*set)(CUfunction, int, int) = (void *)linked_cuFuncSetAttribute;

	set((CUfunction)64, 8, value);
}

static void set_1000(void)
{
	set_to(1000);
}

static void set_999(void)
{
	set_to(999);
}

static void set_another_function(void)
{
	CUresult (*set)(CUfunction, int, int) = (void *)linked_cuFuncSetAttribute;

	set((CUfunction)0x5000, 8, 1000);
}

static void set_kernel(void)
{
	CUresult (*set)(int, int, CUkernel, CUdevice) = (void *)linked_cuKernelSetAttribute;

	set(8, 1000, (CUkernel)192, 0);
}

static void set_another_attribute_of_kernel(void)
{
	CUresult (*set)(int, int, CUkernel, CUdevice) = (void *)linked_cuKernelSetAttribute;

	set(9, 1000, (CUkernel)192, 0);
}

static void unload(void)
{
	call_with_everything(linked_cuModuleUnload);
}

static void (*inner)(void);

static void make_inner(void)
{
	void (*once)(void) = inner;

	if (once == NULL || strcmp(driver_log()->name, "cuFuncSetAttribute") != 0)
		return;
	inner = NULL;
	once();
}

/* True if the traces are told of it. */
static bool is_news(void (*set)(void))
{
	unsigned int before = preloaded_rooms()->lifetimes;

	set();
	return preloaded_rooms()->lifetimes != before;
}

static const struct {
	void (*inner)(void);
	bool outer_again, inner_again; /* they are news */
} settings_at_once[] = {
	{NULL, false, false},     {set_1000, false, false}, /* the same: whichever was last */
	{set_999, true, true},    {set_another_function, false, false},
	{set_kernel, true, true}, {set_another_attribute_of_kernel, false, false},
	{unload, true, true},
};

/* Where the outer one is news itself, and where its value was set before; whichever is asked about
 * first. */
START_TEST(settings_at_once_are_news_again)
{
	unsigned int row = (unsigned int)_i / 4;
	void (*const inner_set)(void) = settings_at_once[row].inner;

	if (_i % 2 == 1)
		set_1000();
	driver_log()->called = make_inner;
	inner = inner_set;
	set_1000();
	ck_assert_ptr_null(inner);
	if (_i % 4 < 2)
		ck_assert_int_eq(is_news(set_1000), settings_at_once[row].outer_again);
	if (inner_set != NULL)
		ck_assert_int_eq(is_news(inner_set), settings_at_once[row].inner_again);
}
END_TEST

/* What another thread has learnt since is forgotten, where it is unknown which limit holds. */
START_TEST(a_limit_set_beside_another_one_is_forgotten)
{
	driver_log()->called = make_inner;
	inner = set_999;
	set_1000();
	ck_assert_uint_eq(preloaded_rooms()->limit.bytes, 1000);
	ck_assert_uint_eq(preloaded_rooms()->limits, 2);
	ck_assert_uint_eq(preloaded_rooms()->lifetimes_ended, 1);
}
END_TEST

/* ---- a setting while another thread has the table: it does without. The table's mutex is only
 * tried, so this program can refuse it. ---- */

static unsigned int tries, refused_at; /* from 1 on; 0: none */
static pthread_mutex_t *tried;
static int had; /* of the mutex that was tried last */

__attribute__((visibility("default"))) int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *);
	int result;

	if (real == NULL)
		real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_trylock");
	if (++tries == refused_at)
		return EBUSY;
	result = real(mutex);
	tried = mutex;
	had += result == 0;
	return result;
}

__attribute__((visibility("default"))) int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *);

	if (real == NULL)
		real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	had -= mutex == tried;
	return real(mutex);
}

/* What a setting asks for: before the driver's call whether it is news, after it to remember it, or
 * whether it was overtaken. `limits`: the limit is told; `ended`: what was learnt during the call
 * is forgotten; `again`: the same is news once more; `others`: so is what another function was set
 * to.
 */
static const struct {
	bool known;
	unsigned int refused;
	bool is_news, limits, ended, again, others;
} refusals[] = {
	{false, 0, true, true, false, false, false}, {true, 0, false, false, false, false, false},
	{false, 1, true, true, true, true, false},   {false, 2, true, true, true, true, true},
	{true, 1, true, true, true, true, false},    {true, 2, true, false, true, true, true},
};

START_TEST(without_the_table_a_setting_is_news)
{
	const bool known = refusals[_i].known;
	unsigned int limits, ended;

	set_another_function();
	set_999();
	if (known)
		set_1000();
	limits = preloaded_rooms()->limits;
	ended = preloaded_rooms()->lifetimes_ended;
	tries = 0;
	refused_at = refusals[_i].refused;
	ck_assert_int_eq(is_news(set_1000), refusals[_i].is_news);
	ck_assert_uint_eq(tries, 2);
	ck_assert_uint_eq(preloaded_rooms()->limits - limits, refusals[_i].limits);
	ck_assert_uint_eq(preloaded_rooms()->lifetimes_ended - ended, refusals[_i].ended);
	ck_assert(!preloaded_rooms()->waits());
	refused_at = 0;
	ck_assert_int_eq(is_news(set_1000), refusals[_i].again);
	ck_assert_int_eq(is_news(set_another_function), refusals[_i].others);
	ck_assert(!is_news(set_1000));
	ck_assert_ptr_nonnull(tried);
	ck_assert_int_eq(had, 0); /* given back once for each time that it was had */
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, an_attribute_set_again_to_the_same_value_is_no_news);
	tcase_add_test(tcase, an_attribute_is_news_again_after_a_failure_or_an_unloaded_module);
	tcase_add_test(tcase, a_kernel_and_its_function_void_what_the_other_set);
	tcase_add_test(tcase, the_cache_preference_and_the_carveout_count_as_one);
	tcase_add_loop_test(tcase, each_attribute_says_what_it_changes, 0, CU_FUNC_ATTRIBUTE_MAX);
	tcase_add_loop_test(tcase, without_the_table_a_setting_is_news, 0,
	                    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_loop_test(tcase, settings_at_once_are_news_again, 0,
	                    4 * sizeof(settings_at_once) / sizeof(settings_at_once[0]));
	tcase_add_test(tcase, a_limit_is_told_with_its_device_and_amount);
	tcase_add_test(tcase, a_limit_set_beside_another_one_is_forgotten);
}

int main(void)
{
	return run_tests("doors, attributes", add_tests);
}
