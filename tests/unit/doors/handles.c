/* Our dlsym beside the C library's, with every kind of handle: what one finds the other finds, and
 * what it says of the rest, too. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef void *look_up(void *handle, const char *name);

static const char *const handle_names[] = {"RTLD_DEFAULT",  "RTLD_NEXT",  "the program",
                                           "the C library", "the driver", "a plain library"};
/* dlsym's first version, and that since it is in libc.so.6. */
#if defined(__x86_64__)
#define DLSYM_VERSIONS "GLIBC_2.2.5", "GLIBC_2.34"
#else
#define DLSYM_VERSIONS "GLIBC_2.17", "GLIBC_2.34"
#endif

#define HANDLES (sizeof(handle_names) / sizeof(handle_names[0]))

static void *handle_of(int i)
{
	switch (i) {
	case 0:
		return RTLD_DEFAULT;
	case 1:
		return RTLD_NEXT;
	case 2:
		return dlopen(NULL, RTLD_LAZY);
	case 3:
		return dlopen("libc.so.6", RTLD_LAZY);
	case 4:
		return driver();
	default:
		return dlopen("libm.so.6", RTLD_LAZY);
	}
}

/* The C library's own, which is in libdl.so.2 before 2.34. */
static look_up *plain_dlsym(void)
{
	void *library = dlopen("libdl.so.2", RTLD_LAZY);
	static const char *const versions[] = {DLSYM_VERSIONS};
	void *found = dlvsym(library != NULL ? library : handle_of(3), "dlsym", versions[0]);

	ck_assert_ptr_nonnull(found);
	ck_assert_ptr_ne(found, (void *)dlsym);
	return (look_up *)found;
}

/* Calls look_up(handle, name), as code that is in no object does: code that the program made. */
static void *called_from_nowhere(void *handle, const char *name, look_up *function)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
	                                     0xff, 0xd2,             /* call *%rdx */
	                                     0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
	                                     0xc3};                  /* ret */
#else
	static const uint32_t code[] = {0xa9bf7bfd,  /* stp x29, x30, [sp, #-16]! */
	                                0xd63f0040,  /* blr x2 */
	                                0xa8c17bfd,  /* ldp x29, x30, [sp], #16 */
	                                0xd65f03c0}; /* ret */
#endif
	static char *made;

	if (made == NULL) {
		made = mmap(NULL, sizeof(code), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ck_assert_ptr_ne(made, MAP_FAILED);
		memcpy(made, code, sizeof(code));
		ck_assert_int_eq(mprotect(made, sizeof(code), PROT_READ | PROT_EXEC), 0);
		__builtin___clear_cache(made, made + sizeof(code));
	}
	return ((void *(*)(void *, const char *, look_up *))(void *)made)(handle, name, function);
}

static bool from_nowhere; /* looks up so */

static void *find(look_up *function, void *handle, const char *name)
{
	return from_nowhere ? called_from_nowhere(handle, name, function) : function(handle, name);
}

static void assert_same(look_up *plain, void *handle, const char *name)
{
	char said[300] = "";
	void *expected = find(plain, handle, name);
	const char *error = dlerror();

	if (error != NULL)
		snprintf(said, sizeof(said), "%s", error);

	void *found = find(dlsym, handle, name);

	error = dlerror();
	ck_assert_msg(found == expected, "%s: %p, plain %p", name, found, expected);
	ck_assert_str_eq(error != NULL ? error : "", said);
	ck_assert_ptr_null(dlerror());
}

/* By code of the program's, and by code that is in no object. */
START_TEST(names_of_others_are_found_as_ever)
{
	look_up *plain = plain_dlsym();

	from_nowhere = _i == 1;
	(void)driver();
	for (size_t i = 0; i < HANDLES; i++) {
		const char *const names[] = {"strlen", "cos",        "no_such_name",  "",        "c",
		                             "cu",     "cudaMalloc", "cuNoSuchThing", "fake_log"};

		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			assert_same(plain, handle_of((int)i), names[k]);
	}
}
END_TEST

START_TEST(a_name_of_the_drivers_is_not_found_where_it_is_not)
{
	look_up *plain = plain_dlsym();

	(void)driver();
	assert_same(plain, handle_of(3), "cuGraphLaunch");
	assert_same(plain, handle_of(5), "cuGraphLaunch");
}
END_TEST

START_TEST(a_name_of_the_drivers_is_found_in_each_handle_that_leads_to_it)
{
	void *door = dlsym(driver(), "cuGraphLaunch");

	ck_assert_ptr_nonnull(door);
	for (int i = 0; i < 3; i++)
		ck_assert_msg(dlsym(handle_of(i), "cuGraphLaunch") == door, "%s", handle_names[i]);
}
END_TEST

/* Such code has the program's scope, but is behind no object. */
START_TEST(code_that_is_in_no_object_finds_what_the_program_finds)
{
	void *handles[] = {RTLD_DEFAULT, handle_of(2)};

	from_nowhere = true;
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		ck_assert_ptr_null(find(dlsym, handles[i], "cuGraphLaunch"));
		ck_assert_ptr_nonnull(strstr(dlerror(), "cuGraphLaunch"));
	}
	(void)driver();
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		ck_assert_ptr_eq(find(dlsym, handles[i], "cuGraphLaunch"),
		                 dlsym(driver(), "cuGraphLaunch"));
		ck_assert_ptr_null(dlerror());
	}
	ck_assert_ptr_eq(find(dlsym, driver(), "cuGraphLaunch"), dlsym(driver(), "cuGraphLaunch"));
	assert_same(plain_dlsym(), RTLD_NEXT, "cuGraphLaunch");
}
END_TEST

START_TEST(a_driver_that_was_loaded_for_few_is_found_by_them_alone)
{
	static const char *const names[] = {"cuGraphLaunch", "cuInit", "cuParamSetf"};
	void *local = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

	ck_assert_ptr_nonnull(local);
	for (int i = 0; i < 3; i++)
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			ck_assert_msg(dlsym(handle_of(i), names[k]) == NULL, "%s in %s", names[k],
			              handle_names[i]);
			ck_assert_ptr_nonnull(strstr(dlerror(), names[k]));
		}
	ck_assert_ptr_nonnull(dlsym(local, "cuGraphLaunch"));
	ck_assert_ptr_nonnull(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_GLOBAL));
	ck_assert_ptr_eq(dlsym(RTLD_DEFAULT, "cuGraphLaunch"), dlsym(local, "cuGraphLaunch"));
	ck_assert_ptr_eq(dlsym(RTLD_NEXT, "cuGraphLaunch"), dlsym(local, "cuGraphLaunch"));
}
END_TEST

START_TEST(a_handle_of_a_plugin_that_links_the_driver_leads_to_the_door)
{
	void *plugin = dlopen(getenv("DOORS_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
	unsigned int (*call)(uint64_t, uint64_t);

	ck_assert_msg(plugin != NULL, "%s", dlerror());
	ck_assert_ptr_eq(dlsym(plugin, "cuStreamSynchronize"), dlsym(driver(), "cuStreamSynchronize"));
	call = (unsigned int (*)(uint64_t, uint64_t))
		dlsym(plugin, "cuGraphLaunch"); /* the plugin is a layer: its own comes first */
	ck_assert_ptr_ne((void *)call, dlsym(driver(), "cuGraphLaunch"));
	defer_something();
	call(1, 2);
	ck_assert_uint_eq(preloaded_rooms()->orders, 1);
	ck_assert_uint_eq(driver_log()->calls, 1);
}
END_TEST

/* Loaded for itself alone, with the driver: it finds doors where it would find the driver's, and
 * nobody else does. */
START_TEST(a_plugin_finds_the_driver_in_its_own_scope)
{
	void *plugin = dlopen(getenv("DOORS_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
	void *handles[] = {RTLD_DEFAULT, RTLD_NEXT};
	void *(*finds)(look_up *, void *, const char *);
	look_up *plain = plain_dlsym();

	ck_assert_msg(plugin != NULL, "%s", dlerror());
	finds = (void *(*)(look_up *, void *, const char *))dlsym(plugin, "layer_finds");
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		void *door = finds(dlsym, handles[i], "cuParamSetf"), *local;

		ck_assert_ptr_null(dlsym(handles[i], "cuParamSetf"));
		ck_assert_ptr_nonnull(strstr(dlerror(), "cuParamSetf"));
		ck_assert_ptr_null(finds(dlsym, handles[i], "cuNoSuchThing"));
		ck_assert_ptr_nonnull(strstr(dlerror(), "cuNoSuchThing"));
		ck_assert_ptr_eq(finds(dlsym, handles[i], "cuInit"), finds(plain, plugin, "cuInit"));
		local = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
		ck_assert_ptr_eq(door, dlsym(local, "cuParamSetf"));
		ck_assert_ptr_ne(door, plain(local, "cuParamSetf"));
	}
}
END_TEST

START_TEST(an_error_waits_until_it_is_asked_for)
{
	(void)driver();
	ck_assert_ptr_null(dlsym(RTLD_DEFAULT, "no_such_name"));
	ck_assert_uint_eq(call_with_everything(dlsym(driver(), "cuParamSetf")), 0);
	ck_assert_ptr_null(dlsym(driver(), "cuNoSuchThing"));
	call_with_everything(dlsym(driver(), "cuParamSetf"));
	ck_assert_ptr_null(dlerror()); /* a look-up that succeeds ends the error of the one before */
	ck_assert_ptr_null(dlsym(driver(), "cuNoSuchThing"));
	ck_assert_ptr_nonnull(strstr(dlerror(), "cuNoSuchThing"));
}
END_TEST

START_TEST(dlvsym_is_the_c_librarys_and_finds_no_driver)
{
	void *handles[] = {RTLD_DEFAULT, RTLD_NEXT, driver()};

	/* The driver's names have no version, and so dlvsym passes over them, and over ours. */
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		ck_assert_ptr_null(dlvsym(handles[i], "cuGraphLaunch", "GLIBC_2.34"));
		ck_assert_ptr_nonnull(strstr(dlerror(), "cuGraphLaunch"));
	}
}
END_TEST

START_TEST(a_dlsym_asked_for_by_version_is_ours)
{
	static const char *const versions[] = {DLSYM_VERSIONS};
	void *door = dlsym(driver(), "cuGraphLaunch");

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		look_up *versioned = (look_up *)dlvsym(RTLD_DEFAULT, "dlsym", versions[i]);

		ck_assert_msg(versioned != NULL, "%s", dlerror());
		ck_assert_ptr_eq(versioned(driver(), "cuGraphLaunch"), door);
	}
}
END_TEST

START_TEST(a_library_that_looks_past_us_ends_all_deferring)
{
	void *(*past_itself)(void);
	void *plugin = dlopen(getenv("DOORS_PLUGIN"), RTLD_NOW | RTLD_LOCAL);

	ck_assert_ptr_nonnull(plugin);
	ck_assert_uint_eq(preloaded_rooms()->stops, 0);
	ck_assert_int_eq(dlclose(plugin), 0);
	plugin = dlopen(getenv("DOORS_PLUGIN"), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	ck_assert_ptr_nonnull(plugin);
	ck_assert_uint_eq(preloaded_rooms()->stops, 1);
	past_itself = (void *(*)(void))dlsym(plugin, "layer_past_itself");
	ck_assert_ptr_null(past_itself());
	ck_assert_ptr_null(dlopen("no_such_library.so", RTLD_NOW | RTLD_DEEPBIND));
	ck_assert_ptr_nonnull(strstr(dlerror(), "no_such_library.so"));
}
END_TEST

START_TEST(dlopen_sees_who_asked)
{
	/* Its folder is on this program's run path alone. */
	ck_assert_msg(dlopen("libdoors_beside.so", RTLD_NOW) != NULL, "%s", dlerror());
}
END_TEST

/* ---- what one object defines: each part of its dynamic section that says so is needed ---- */

#define ENTRIES_MOST 100

/* The C library's dynamic section, without what has this tag. */
static struct link_map libc_without(ElfW(Sxword) tag, ElfW(Dyn) entries[ENTRIES_MOST])
{
	struct link_map *libc = NULL, map;
	unsigned int count = 0;

	ck_assert_int_eq(dlinfo(handle_of(3), RTLD_DI_LINKMAP, &libc), 0);
	for (const ElfW(Dyn) *entry = libc->l_ld; entry->d_tag != DT_NULL; entry++) {
		ck_assert_uint_lt(count, ENTRIES_MOST - 1);
		if (entry->d_tag != tag)
			entries[count++] = *entry;
	}
	entries[count].d_tag = DT_NULL;
	map = (struct link_map){.l_addr = libc->l_addr, .l_ld = entries};
	return map;
}

START_TEST(an_object_without_a_table_defines_nothing)
{
	static const ElfW(Sxword) needed[] = {DT_GNU_HASH, DT_SYMTAB, DT_STRTAB, DT_NULL};
	void *(*own)(const struct link_map *, const char *) = preloaded_rooms()->own_definition;
	ElfW(Dyn) all[ENTRIES_MOST], some[ENTRIES_MOST];
	const struct link_map whole = libc_without(DT_NULL, all), none = {0};
	void *expected = plain_dlsym()(handle_of(3), "cfgetospeed");

	ck_assert_ptr_nonnull(expected);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		const struct link_map map = libc_without(needed[i], some);
		bool lacks = needed[i] != DT_NULL;

		/* What was found in an object before is not taken for this one's. */
		ck_assert_ptr_eq(own(&whole, "cfgetospeed"), expected);
		ck_assert_ptr_eq(own(&map, "cfgetospeed"), lacks ? NULL : expected);
		ck_assert_ptr_null(own(&map, "no_such_name"));
	}
	ck_assert_ptr_eq(own(&whole, "cfgetospeed"), expected);
	ck_assert_ptr_null(own(&none, "cfgetospeed"));
}
END_TEST

static void add_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, names_of_others_are_found_as_ever, 0, 2);
	tcase_add_test(tcase, a_name_of_the_drivers_is_not_found_where_it_is_not);
	tcase_add_test(tcase, a_name_of_the_drivers_is_found_in_each_handle_that_leads_to_it);
	tcase_add_test(tcase, code_that_is_in_no_object_finds_what_the_program_finds);
	tcase_add_test(tcase, a_driver_that_was_loaded_for_few_is_found_by_them_alone);
	tcase_add_test(tcase, a_handle_of_a_plugin_that_links_the_driver_leads_to_the_door);
	tcase_add_test(tcase, a_plugin_finds_the_driver_in_its_own_scope);
	tcase_add_test(tcase, an_error_waits_until_it_is_asked_for);
	/* A sanitizer will not have RTLD_DEEPBIND, and takes away what makes dlvsym look at versions:
	 * that the fake driver needs some. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	tcase_add_test(tcase, a_library_that_looks_past_us_ends_all_deferring);
	tcase_add_test(tcase, dlvsym_is_the_c_librarys_and_finds_no_driver);
#endif
	tcase_add_test(tcase, an_object_without_a_table_defines_nothing);
	tcase_add_test(tcase, dlopen_sees_who_asked);
	tcase_add_test(tcase, a_dlsym_asked_for_by_version_is_ours);
}

int main(void)
{
	return run_tests("doors, handles", add_tests);
}
