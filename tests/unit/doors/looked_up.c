/* A program that loads libcuda.so.1 and looks its functions up, by dlsym and by cuGetProcAddress.
 */
#include "harness.h"

#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

typedef CUresult get_function(const char *symbol, void **function, int version, cuuint64_t flags);
typedef CUresult get_function_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                                 int *status);

/* Not the driver's, although its name looks like it. */
__attribute__((visibility("default"))) void cuTensorOfOurs(void);
void cuTensorOfOurs(void)
{
}

static bool is_in(void *address, const char *object)
{
	Dl_info info;

	return dladdr(address, &info) != 0 && strstr(info.dli_fname, object) != NULL;
}

static bool is_door(void *address)
{
	return is_in(address, "reprise");
}

static bool is_drivers_own(void *address)
{
	return is_in(address, "libcuda.so.1");
}

static void *get_v2(const char *symbol, int version, cuuint64_t flags)
{
	get_function_v2 *get = (get_function_v2 *)dlsym(driver(), "cuGetProcAddress_v2");
	void *function = NULL;

	ck_assert(is_door((void *)get));
	ck_assert_uint_eq(get(symbol, &function, version, flags, NULL), CUDA_SUCCESS);
	return function;
}

START_TEST(dlsym_gives_the_door)
{
	void *door = dlsym(driver(), "cuParamSetf");

	ck_assert(is_door(door));
	defer_something();
	call_with_everything(door);
	ck_assert_uint_eq(preloaded_rooms()->syncs, 1);
	assert_everything_arrived("cuParamSetf");
}
END_TEST

START_TEST(dlsym_gives_the_drivers_own_where_no_door_is_needed)
{
	ck_assert(is_drivers_own(dlsym(driver(), "cuInit")));
	ck_assert_ptr_eq(dlsym(driver(), "fake_log"), driver_log());
}
END_TEST

START_TEST(every_entry_point_has_a_door_or_needs_none)
{
	static const char *const doors[] = {
#define RECORD(name, ...) #name,
#define ORDER(name, ...) #name,
#define SYNC(name, ...) #name,
#define LIFETIME(name, ...) #name,
#define OWN(name, ...) #name,
#define ALLOC(name, ...) #name,
#define NO_DOOR(name, ...)
#include "../../../preload/entry_points.def"
	};

	for (size_t i = 0; i < sizeof(doors) / sizeof(doors[0]); i++) {
		void *door = dlsym(driver(), doors[i]);

		ck_assert_msg(is_door(door), "%s", doors[i]);
		if (strncmp(doors[i], "cuGetProcAddress", 16) == 0)
			continue;

		/* Whatever the door does with it, the call ends in the driver's function of that name, or
		 * is handled as an op. */
		unsigned int ops = preloaded_rooms()->ops;

		driver_log()->name = "";
		((fake_function *)door)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		if (preloaded_rooms()->ops == ops)
			ck_assert_str_eq(driver_log()->name, doors[i]);
	}
}
END_TEST

static bool gave_work, waited;

static void look_at_gate(void)
{
	gave_work = preloaded_rooms()->gives_work();
	waited = preloaded_rooms()->waits();
}

/* What may wait for what is yet to come, by how the names begin. Ops go through the gate in inner
 * rooms, which are not here. */
static bool may_give_what_waits(const char *name)
{
	static const char *const begins[] = {"cuCtxWaitEvent",
	                                     "cuGraphLaunch",
	                                     "cuGraphicsMapResources",
	                                     "cuGreenCtxWaitEvent",
	                                     "cuLaunch",
	                                     "cuMemAllocAsync",
	                                     "cuMemAllocFromPoolAsync",
	                                     "cuStreamAddCallback",
	                                     "cuStreamBatchMemOp",
	                                     "cuStreamBegin",
	                                     "cuStreamWaitValue",
	                                     "cuStreamWriteValue",
	                                     "cuWaitExternalSemaphoresAsync"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* The same of the ALLOC and OWN entry points that may wait for all work. Of the others the table
 * says it. */
static bool may_wait(const char *name)
{
	static const char *const begins[] = {"cuArray3DCreate",
	                                     "cuFuncSetAttribute",
	                                     "cuFuncSetCacheConfig",
	                                     "cuFuncSetSharedMemConfig",
	                                     "cuGraphInstantiate",
	                                     "cuIpcOpenMemHandle",
	                                     "cuKernelSet",
	                                     "cuLibraryGetModule",
	                                     "cuLibraryLoad",
	                                     "cuMemCreate",
	                                     "cuMipmappedArrayCreate",
	                                     "cuModuleLoad",
	                                     "cuMulticastBindMem_v2"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

START_TEST(calls_that_give_work_or_wait_for_all_of_it_go_through_the_gate)
{
	static const struct {
		const char *name, *waits;
		bool is_op;
	} entries[] = {
#define RECORD(name, ...) {#name, "", true},
#define ORDER(name, ...) {#name, "", false},
#define SYNC(name, what, stream, form, result, takes) {#name, #result, false},
#define LIFETIME(name, what, handle, form, result, takes) {#name, #result, false},
#define OWN(name, ...) {#name, "", false},
#define ALLOC(name, ...) {#name, "", false},
#define NO_DOOR(name, ...)
#include "../../../preload/entry_points.def"
	};

	driver_log()->called = look_at_gate;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const char *name = entries[i].name;
		void *door = dlsym(driver(), name);

		if (entries[i].is_op || strncmp(name, "cuGetProcAddress", 16) == 0)
			continue;
		driver_log()->name = "";
		((fake_function *)door)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		ck_assert_str_eq(driver_log()->name, name);
		ck_assert_msg(gave_work == may_give_what_waits(name), "%s %s", name,
		              gave_work ? "goes through the gate" : "passes the gate by");
		ck_assert_msg(waited == (strcmp(entries[i].waits, "WAITS") == 0 || may_wait(name)), "%s %s",
		              name,
		              waited ? "counts as one that waits" : "does not count as one that waits");
		ck_assert_msg(!preloaded_rooms()->gives_work() && !preloaded_rooms()->waits(),
		              "%s has not ended", name);
	}
}
END_TEST

START_TEST(a_function_with_two_names_has_the_stricter_ones_door)
{
	ck_assert(is_door(dlsym(driver(), "cuLogsCurrent")));
	ck_assert_ptr_eq(dlsym(driver(), "cuLogsCurrent"), dlsym(driver(), "cuMemGetAttribute"));
}
END_TEST

START_TEST(a_function_that_is_not_in_the_table_is_a_barrier)
{
	void *door = dlsym(driver(), "cuFutureThing");

	ck_assert(is_door(door));
	ck_assert_ptr_eq(dlsym(driver(), "cuFutureThing"), door);
	call_with_everything(door);
	ck_assert_uint_eq(preloaded_rooms()->syncs, 0);
	defer_something();
	call_with_everything(door);
	ck_assert_uint_eq(preloaded_rooms()->syncs, 1);
	assert_everything_arrived("cuFutureThing");
}
END_TEST

START_TEST(a_newer_form_of_a_lifetime_may_end_anything)
{
	call_with_everything(dlsym(driver(), "cuModuleUnload_v9"));
	ck_assert_uint_eq(preloaded_rooms()->lifetimes, 1);
	ck_assert_uint_eq(preloaded_rooms()->what, REPRISE_LIFETIME_CONTEXT);
	ck_assert_uint_eq(preloaded_rooms()->handle, 0);
	assert_everything_arrived("cuModuleUnload_v9");
}
END_TEST

START_TEST(a_newer_form_of_capture_stops_all_deferring_when_called)
{
	void *door = dlsym(driver(), "cuStreamBeginCapture_v9");

	ck_assert_uint_eq(preloaded_rooms()->stops, 0);
	call_with_everything(door);
	ck_assert_uint_eq(preloaded_rooms()->stops, 1);
	assert_everything_arrived("cuStreamBeginCapture_v9");
}
END_TEST

/* Also of entry points that have wrappers of their own. */
START_TEST(a_newer_form_of_a_launch_a_wait_or_a_question_is_a_barrier)
{
	static const char *const names[] = {"cuCtxSynchronize_v9", "cuGraphLaunch_v9",
	                                    "cuLaunchHostFunc_v9",
	                                    "cuOccupancyMaxPotentialBlockSize_v9",
	                                    "cuStreamWaitValue32_v9"};
	struct rooms *rooms = preloaded_rooms();

	defer_something();
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		call_with_everything(dlsym(driver(), names[i]));
		assert_everything_arrived(names[i]);
		ck_assert_uint_eq(rooms->syncs, i + 1);
		ck_assert_uint_eq(rooms->sync, REPRISE_SYNC_UNKNOWN);
	}
	ck_assert_uint_eq(rooms->lifetimes + rooms->stops + rooms->shared, 0);
}
END_TEST

START_TEST(a_newer_form_of_what_ends_something_ends_what_the_known_ones_do)
{
	struct rooms *rooms = preloaded_rooms();

	call_with_everything(dlsym(driver(), "cuEventDestroy_v9"));
	ck_assert_uint_eq(rooms->shared, 1);
	call_with_everything(dlsym(driver(), "cuMemFreeAsync_v9"));
	ck_assert_uint_eq(rooms->lifetimes, 1);
	ck_assert_uint_eq(rooms->what, REPRISE_LIFETIME_MEMORY);
	call_with_everything(dlsym(driver(), "cuFuncSetAttribute_v9"));
	ck_assert_uint_eq(rooms->lifetimes, 2);
	ck_assert_uint_eq(rooms->what, REPRISE_LIFETIME_CONTEXT);
	ck_assert_uint_eq(rooms->stops, 0);
	call_with_everything(dlsym(driver(), "cuGetProcAddress_v9"));
	ck_assert_uint_eq(rooms->stops, 1);
}
END_TEST

/* The length of the name without _v2, _ptsz and the like. */
static size_t length_of_family(const char *name)
{
	static regex_t form;
	static bool compiled;
	regmatch_t match;

	if (!compiled)
		ck_assert_int_eq(regcomp(&form, "(_v[0-9]+)?(_ptsz|_ptds)?$", REG_EXTENDED), 0);
	compiled = true;
	ck_assert_int_eq(regexec(&form, name, 1, &match, 0), 0);
	return (size_t)match.rm_so;
}

static const struct {
	const char *name;
	bool lifetime;
} known[] = {
#define RECORD(name, ...) {#name, false},
#define ORDER(name, ...) {#name, false},
#define SYNC(name, ...) {#name, false},
#define LIFETIME(name, ...) {#name, true},
#define OWN(name, ...) {#name, false},
#define ALLOC(name, ...) {#name, false},
#define NO_DOOR(name, ...) {#name, false},
#include "../../../preload/entry_points.def"
};

#define KNOWN (sizeof(known) / sizeof(known[0]))
#define TOGETHER 12 /* with each ending fewer than there are strict doors */

/* Whether a call of such a name may do more than what a barrier is enough for: if another form of
 * it does, or by how its name begins. */
static bool does_more(const char *newer)
{
	static const char *const begins[] = {
		"cuEventDestroy", "cuIpcGetEventHandle", "cuIpcOpenEventHandle",
		"cuMemFreeAsync", "cuFuncSet",           "cuKernelSet",
		"cuStreamBegin",  "cuStreamEndCapture",  "cuGetProcAddress"};
	size_t length = length_of_family(newer);

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(newer, begins[i], strlen(begins[i])) == 0)
			return true;
	for (size_t i = 0; i < KNOWN; i++)
		if (known[i].lifetime && strncmp(known[i].name, newer, length) == 0 &&
		    length_of_family(known[i].name) == length)
			return true;
	return false;
}

/* Of each entry point that is known. */
START_TEST(a_newer_form_has_the_door_of_its_family)
{
	static const char *const endings[] = {"_v9", "_v10_ptsz", "_ptds", "_next", "Thing"};

	(void)dlsym(driver(), "cuInit");
	for (size_t i = (size_t)_i * TOGETHER; i < KNOWN && i < ((size_t)_i + 1) * TOGETHER; i++)
		for (size_t k = 0; k < sizeof(endings) / sizeof(endings[0]); k++) {
			char newer[128];

			snprintf(newer, sizeof(newer), "%.*s%s", (int)length_of_family(known[i].name),
			         known[i].name, endings[k]);
			ck_assert_msg(preloaded_rooms()->is_strict(newer) == does_more(newer), "%s", newer);
		}
	ck_assert_uint_eq(preloaded_rooms()->stops, 0);
}
END_TEST

/* It may wait for a context, or give it work, and nobody sees it return. */
START_TEST(a_call_that_nobody_knows_is_doubted_behind_captures_of_ours)
{
	struct rooms *rooms = preloaded_rooms();

	call_with_everything(dlsym(driver(), "cuFutureThing"));
	ck_assert_uint_eq(rooms->context_syncs, 1);
	ck_assert_uint_eq(rooms->context_syncs_ended, 1);
	ck_assert(rooms->is_in_doubt());
	call_with_everything(
		dlsym(driver(), "cuMemcpyBatchAsync")); /* with nothing deferred, it tells nobody */
	ck_assert(rooms->is_in_doubt());
	defer_something();
	call_with_everything(dlsym(driver(), "cuMemcpyBatchAsync"));
	ck_assert(!rooms->is_in_doubt());
}
END_TEST

START_TEST(when_the_spare_doors_run_out_deferring_stops)
{
	char name[20];

	for (int i = 0; i < 512; i++) {
		snprintf(name, sizeof(name), "cuSpare%d", i);
		ck_assert(is_door(get_v2(name, 13000, 0)));
	}
	ck_assert_uint_eq(preloaded_rooms()->stops, 0);
	ck_assert(is_drivers_own(get_v2("cuSpare512", 13000, 0)));
	ck_assert_uint_eq(preloaded_rooms()->stops, 1);
	ck_assert(is_door(get_v2("cuSpare7", 13000, 0)));
}
END_TEST

START_TEST(other_names_with_the_drivers_prefix_are_left_alone)
{
	(void)driver();
	ck_assert_ptr_eq(dlsym(RTLD_DEFAULT, "cuTensorOfOurs"), (void *)cuTensorOfOurs);
	ck_assert_ptr_null(dlerror());
}
END_TEST

START_TEST(a_name_that_is_missing_is_reported_as_ever)
{
	ck_assert_ptr_null(dlsym(driver(), "cuNoSuchThing"));

	const char *error = dlerror();

	ck_assert_ptr_nonnull(error);
	ck_assert_ptr_nonnull(strstr(error, "cuNoSuchThing"));
	ck_assert_ptr_null(dlerror());
}
END_TEST

START_TEST(an_answer_leaves_no_error_behind)
{
	(void)dlerror(); /* a sanitizer that looks for functions as it starts may have left one */
	ck_assert_ptr_nonnull(dlsym(driver(), "cuGraphLaunch"));
	ck_assert_ptr_null(dlerror());
	ck_assert_ptr_nonnull(dlsym(RTLD_DEFAULT, "cuGraphLaunch"));
	ck_assert_ptr_null(dlerror());
	ck_assert_ptr_nonnull(dlsym(RTLD_NEXT, "cuGraphLaunch"));
	ck_assert_ptr_null(dlerror());
}
END_TEST

START_TEST(the_exported_names_are_no_driver_before_there_is_one)
{
	ck_assert_ptr_null(dlsym(RTLD_DEFAULT, "cuGraphLaunch"));
	ck_assert_ptr_nonnull(dlerror());
	(void)driver();
	ck_assert(is_door(dlsym(RTLD_DEFAULT, "cuGraphLaunch")));
}
END_TEST

START_TEST(rtld_next_finds_the_door)
{
	(void)driver();
	ck_assert(is_door(dlsym(RTLD_NEXT, "cuGraphLaunch")));
	ck_assert(is_drivers_own(dlsym(RTLD_NEXT, "cuInit")));
	ck_assert_ptr_null(dlsym(RTLD_NEXT, "cuTensorOfOurs"));
}
END_TEST

START_TEST(get_proc_address_gives_the_door_of_the_form_asked_for)
{
	call_with_everything(get_v2("cuLaunchKernel", 13000, 0));
	ck_assert(!preloaded_rooms()->call.per_thread);
	call_with_everything(get_v2("cuLaunchKernel", 13000, 2));
	ck_assert(preloaded_rooms()->call.per_thread);
	ck_assert_uint_eq(preloaded_rooms()->ops, 2);
}
END_TEST

START_TEST(get_proc_address_gives_the_door_of_the_version_asked_for)
{
	struct rooms *rooms = preloaded_rooms();

	defer_something();
	call_with_everything(get_v2("cuMemcpyHtoDAsync", 3010, 0));
	ck_assert_str_eq(driver_log()->name, "cuMemcpyHtoDAsync");
	ck_assert_uint_eq(rooms->orders, 1);
	call_with_everything(get_v2("cuMemcpyHtoDAsync", 13000, 0));
	ck_assert_uint_eq(rooms->ops, 1);
	ck_assert_ptr_eq(get_v2("cuMemcpyHtoDAsync", 13000, 0),
	                 dlsym(driver(), "cuMemcpyHtoDAsync_v2"));
}
END_TEST

START_TEST(get_proc_address_gives_itself_in_the_version_asked_for)
{
	ck_assert_ptr_eq(get_v2("cuGetProcAddress", 13000, 0), dlsym(driver(), "cuGetProcAddress_v2"));
	ck_assert_ptr_eq(get_v2("cuGetProcAddress", 11030, 0), dlsym(driver(), "cuGetProcAddress"));
}
END_TEST

START_TEST(both_forms_of_get_proc_address_give_the_same_with_each_flag)
{
	get_function *get = (get_function *)dlsym(driver(), "cuGetProcAddress");
	void *forms[3];

	for (cuuint64_t flags = 0; flags <= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM; flags++) {
		ck_assert_uint_eq(get("cuGraphLaunch", &forms[flags], 13000, flags), CUDA_SUCCESS);
		ck_assert_ptr_eq(forms[flags], get_v2("cuGraphLaunch", 13000, flags));
		ck_assert(is_door(forms[flags]));
	}
	ck_assert_ptr_eq(forms[CU_GET_PROC_ADDRESS_DEFAULT], dlsym(driver(), "cuGraphLaunch"));
	ck_assert_ptr_eq(forms[CU_GET_PROC_ADDRESS_LEGACY_STREAM], dlsym(driver(), "cuGraphLaunch"));
	ck_assert_ptr_eq(forms[CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM],
	                 dlsym(driver(), "cuGraphLaunch_ptsz"));
}
END_TEST

START_TEST(get_proc_address_leads_on_from_itself)
{
	get_function *get = (get_function *)dlsym(driver(), "cuGetProcAddress");
	get_function_v2 *newer = NULL;
	void *older = NULL;
	void *function = NULL;
	int status = -1;

	ck_assert_uint_eq(get("cuGetProcAddress", (void **)&newer, 12000, 0), CUDA_SUCCESS);
	ck_assert_uint_eq(newer("cuGetProcAddress", &older, 11030, 0, &status), CUDA_SUCCESS);
	ck_assert_ptr_eq(older, (void *)get);
	ck_assert_uint_eq(newer("cuGraphLaunch", &function, 13000, 0, &status), CUDA_SUCCESS);
	ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SUCCESS);
	ck_assert(is_door(function));
}
END_TEST

START_TEST(get_proc_address_passes_on_what_has_no_door)
{
	ck_assert(is_drivers_own(get_v2("cuInit", 13000, 0)));
	ck_assert(is_door(get_v2("cuFutureThing", 13000, 0)));
}
END_TEST

START_TEST(a_missing_name_is_answered_by_the_driver)
{
	static const char *const missing[] = {"", "cuNoSuchThing", "cuGraphLaunch_ptsz",
	                                      "cuMemcpyHtoDAsync_v2", "strlen"};
	get_function *get = (get_function *)dlsym(driver(), "cuGetProcAddress");
	get_function_v2 *get_newer = (get_function_v2 *)dlsym(driver(), "cuGetProcAddress_v2");

	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		for (cuuint64_t flags = 0; flags <= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
		     flags++) {
			void *function = (void *)1;
			int status = -1;

			ck_assert_uint_eq(get(missing[i], &function, 13000, flags), CUDA_ERROR_NOT_FOUND);
			ck_assert_ptr_eq(function, (void *)1);
			ck_assert_uint_eq(get_newer(missing[i], &function, 13000, flags, &status),
			                  CUDA_SUCCESS);
			ck_assert_ptr_null(function);
			ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
		}
	}
}
END_TEST

START_TEST(a_failed_look_up_writes_nothing)
{
	get_function *get = (get_function *)dlsym(driver(), "cuGetProcAddress");
	void *function = (void *)1;

	ck_assert(is_door((void *)get));
	ck_assert_uint_eq(get("cuNoSuchThing", &function, 11030, 0), CUDA_ERROR_NOT_FOUND);
	ck_assert_ptr_eq(function, (void *)1);
	ck_assert_uint_eq(get("cuGraphLaunch", &function, 11030, 0), CUDA_SUCCESS);
	ck_assert(is_door(function));
}
END_TEST

static void *look_up_a_lot(void *barrier)
{
	(void)pthread_barrier_wait(barrier);

	void *door = dlsym(driver(), "cuFutureThing");

	return is_door(dlsym(driver(), "cuGraphLaunch")) && is_drivers_own(dlsym(driver(), "cuInit"))
	           ? door
	           : NULL;
}

START_TEST(threads_that_come_first_at_once_agree)
{
	pthread_t threads[8];
	void *doors[8];
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, 8);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, look_up_a_lot, &barrier), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], &doors[i]);
	for (int i = 0; i < 8; i++) {
		ck_assert(is_door(doors[i]));
		ck_assert_ptr_eq(doors[i], doors[0]);
	}
}
END_TEST

/* Reprise's own look-ups find the driver's. */
START_TEST(no_look_up_is_answered_inside)
{
	void *door = dlsym(driver(), "cuGraphLaunch"), *inside;

	++*preloaded_rooms()->inside();
	inside = dlsym(driver(), "cuGraphLaunch");
	--*preloaded_rooms()->inside();
	ck_assert(is_door(door));
	ck_assert(is_drivers_own(inside));
	ck_assert_ptr_eq(dlsym(driver(), "cuGraphLaunch"), door);
}
END_TEST

/* Reprise is asked once for its mode, when there is a driver. */
START_TEST(each_mode_stays_as_it_was_at_the_first_look_up)
{
	static const char *const modes[] = {"off", "observe", "on", "verify"};

	setenv("ROOMS_MODE", modes[_i], 1);
	ck_assert_ptr_null(dlsym(RTLD_DEFAULT, "cuGraphLaunch"));
	ck_assert_uint_eq(preloaded_rooms()->starts, 0);
	for (unsigned int i = 0; i < 3; i++) {
		void *found = dlsym(driver(), "cuGraphLaunch");

		ck_assert(_i == 0 ? is_drivers_own(found) : is_door(found));
		ck_assert_ptr_eq(dlsym(RTLD_DEFAULT, "cuGraphLaunch"), found);
		ck_assert_uint_eq(preloaded_rooms()->starts, 1);
	}
}
END_TEST

START_TEST(when_off_every_look_up_gives_the_drivers_own)
{
	get_function_v2 *get = (get_function_v2 *)dlsym(driver(), "cuGetProcAddress_v2");
	void *function = NULL;

	ck_assert(is_drivers_own((void *)get));
	ck_assert_uint_eq(get("cuLaunchKernel", &function, 13000, 0, NULL), CUDA_SUCCESS);
	ck_assert(is_drivers_own(function));
	ck_assert(is_drivers_own(dlsym(driver(), "cuLaunchKernel")));
	ck_assert(is_drivers_own(dlsym(driver(), "cuFutureThing")));
	ck_assert(is_drivers_own(dlsym(RTLD_DEFAULT, "cuLaunchKernel")));
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_test(tcase, dlsym_gives_the_door);
	tcase_add_test(tcase, dlsym_gives_the_drivers_own_where_no_door_is_needed);
	tcase_add_test(tcase, every_entry_point_has_a_door_or_needs_none);
	tcase_add_test(tcase, calls_that_give_work_or_wait_for_all_of_it_go_through_the_gate);
	tcase_add_test(tcase, a_function_with_two_names_has_the_stricter_ones_door);
	tcase_add_test(tcase, a_function_that_is_not_in_the_table_is_a_barrier);
	tcase_add_test(tcase, a_newer_form_of_a_lifetime_may_end_anything);
	tcase_add_test(tcase, a_newer_form_of_capture_stops_all_deferring_when_called);
	tcase_add_test(tcase, a_newer_form_of_a_launch_a_wait_or_a_question_is_a_barrier);
	tcase_add_test(tcase, a_newer_form_of_what_ends_something_ends_what_the_known_ones_do);
	tcase_add_loop_test(tcase, a_newer_form_has_the_door_of_its_family, 0,
	                    (KNOWN + TOGETHER - 1) / TOGETHER);
	tcase_add_test(tcase, a_call_that_nobody_knows_is_doubted_behind_captures_of_ours);
	tcase_add_test(tcase, when_the_spare_doors_run_out_deferring_stops);
	tcase_add_test(tcase, other_names_with_the_drivers_prefix_are_left_alone);
	tcase_add_test(tcase, a_name_that_is_missing_is_reported_as_ever);
	tcase_add_test(tcase, an_answer_leaves_no_error_behind);
	tcase_add_test(tcase, the_exported_names_are_no_driver_before_there_is_one);
	tcase_add_test(tcase, rtld_next_finds_the_door);
	tcase_add_test(tcase, get_proc_address_gives_the_door_of_the_form_asked_for);
	tcase_add_test(tcase, get_proc_address_gives_the_door_of_the_version_asked_for);
	tcase_add_test(tcase, get_proc_address_gives_itself_in_the_version_asked_for);
	tcase_add_test(tcase, both_forms_of_get_proc_address_give_the_same_with_each_flag);
	tcase_add_test(tcase, get_proc_address_leads_on_from_itself);
	tcase_add_test(tcase, get_proc_address_passes_on_what_has_no_door);
	tcase_add_test(tcase, a_missing_name_is_answered_by_the_driver);
	tcase_add_test(tcase, a_failed_look_up_writes_nothing);
	tcase_add_test(tcase, threads_that_come_first_at_once_agree);
	tcase_add_test(tcase, no_look_up_is_answered_inside);
	tcase_add_loop_test(tcase, each_mode_stays_as_it_was_at_the_first_look_up, 0, 4);
}

static void add_tests_when_off(TCase *tcase)
{
	tcase_add_test(tcase, when_off_every_look_up_gives_the_drivers_own);
	tcase_add_test(tcase, a_name_that_is_missing_is_reported_as_ever);
	tcase_add_test(tcase, other_names_with_the_drivers_prefix_are_left_alone);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "off") == 0)
		return run_tests("doors, off", add_tests_when_off);
	return run_tests("doors, looked up", add_tests);
}
