/* Profiles: what a file gives counts, less than the environment; what it cannot give is named, and
 * a file that may be anybody's, or anything, is not read. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../suite.h"
#include "base/log.h"
#include "base/options.h"
#include "base/profile.h"

static char folder[64], path[128], said[16384];

static void setup(void)
{
	strcpy(folder, "/tmp/reprise-profile-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/app.conf", folder);
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++)
		unsetenv(reprise_option_rows[i].variable);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static void write_bytes(const char *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void write_text(const char *text)
{
	write_bytes(text, strlen(text));
}

/* The lowest number that no file has. */
static int free_number(void)
{
	int number = dup(STDIN_FILENO);

	close(number);
	return number;
}

/* Reads the environment, and then what `read` reads, with stderr going into `said`. No file stays
 * open. */
static void read_by(void (*read)(void))
{
	FILE *file = tmpfile();
	int before = dup(STDERR_FILENO), free_before = free_number();

	dup2(fileno(file), STDERR_FILENO);
	reprise_log_open();
	reprise_options_read();
	read();
	ck_assert_int_eq(free_number(), free_before);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
	fclose(file);
}

static void from_folder(void)
{
	reprise_profile_read(folder, "app");
}

static void from_everywhere(void)
{
	reprise_profiles_read("app");
}

static void all_are_default(void)
{
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++)
		ck_assert_str_eq(reprise_option_origin(i), "default");
}

START_TEST(what_a_file_gives_counts)
{
	write_text("# for this program\n\n  REPRISE_HOLD =  200 \nREPRISE=observe\r\n"
	           "REPRISE_DENY = one two,*three*\n\tREPRISE_SMALLEST=7");
	read_by(from_folder);
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_HOLD), 200);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_MODE), REPRISE_MODE_OBSERVE);
	ck_assert_str_eq(reprise_option_text(REPRISE_OPTION_DENY), "one two,*three*");
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_SMALLEST), 7);
	ck_assert(reprise_option_given(REPRISE_OPTION_HOLD));
	ck_assert_str_eq(reprise_option_origin(REPRISE_OPTION_HOLD), path);
	ck_assert_str_eq(reprise_option_origin(REPRISE_OPTION_MEMORY), "default");
}
END_TEST

START_TEST(options_may_be_named_as_the_command_names_them)
{
	write_text("hold = 200\n--smallest = 7\n --record-most=9\nnvtx-off = warm*\n");
	read_by(from_folder);
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_HOLD), 200);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_SMALLEST), 7);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_RECORD_MOST), 9);
	ck_assert_str_eq(reprise_option_text(REPRISE_OPTION_NVTX_OFF), "warm*");
	ck_assert(reprise_profile_gives(path, REPRISE_OPTION_NVTX_OFF));
}
END_TEST

START_TEST(the_environment_counts_more_even_if_it_cannot_be_used)
{
	write_text("REPRISE_HOLD = 200\nREPRISE_MEMORY = 100\n");
	setenv("REPRISE_HOLD", "300", 1);
	setenv("REPRISE_MEMORY", "much", 1);
	read_by(from_folder);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_HOLD), 300);
	ck_assert_str_eq(reprise_option_origin(REPRISE_OPTION_HOLD), "environment");
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_MEMORY),
	                  reprise_option_rows[REPRISE_OPTION_MEMORY].standard);
	ck_assert_ptr_nonnull(strstr(said, "the default is used"));
}
END_TEST

START_TEST(the_users_folder_is_the_environments)
{
	char configured[160];

	snprintf(configured, sizeof(configured), "%s/.config", folder);
	ck_assert_int_eq(mkdir(configured, 0700), 0);
	snprintf(configured, sizeof(configured), "%s/.config/reprise", folder);
	ck_assert_int_eq(mkdir(configured, 0700), 0);
	snprintf(path, sizeof(path), "%s/.config/reprise/app.conf", folder);
	write_text("REPRISE_HOLD = 201\nREPRISE_LOG = silent\nnothing\n");
	setenv("HOME", folder, 1);
	read_by(from_everywhere);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_HOLD), 201);
	snprintf(configured, sizeof(configured), "%s/.config", folder);
	setenv("XDG_CONFIG_HOME", configured, 1);
	setenv("HOME", "/nonexistent", 1);
	read_by(from_everywhere);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_HOLD), 201);
	setenv("XDG_CONFIG_HOME", "relative", 1); /* such a one does not count, as its makers say */
	read_by(from_everywhere);
	all_are_default();
}
END_TEST

START_TEST(a_later_file_counts_more)
{
	char first[64];

	write_text("REPRISE_HOLD = 200\nREPRISE_SMALLEST = 3\n");
	read_by(from_folder);
	strcpy(first, path);
	snprintf(path, sizeof(path), "%s/other.conf", folder);
	write_text("REPRISE_HOLD = 100\n");
	reprise_profile_read(folder, "other");
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_HOLD), 100);
	ck_assert_str_eq(reprise_option_origin(REPRISE_OPTION_HOLD), path);
	ck_assert_str_eq(reprise_option_origin(REPRISE_OPTION_SMALLEST), first);
}
END_TEST

static const struct {
	const char *text, *words;
} lines[] = {
	{"REPRISE_HOLD", ":1: \"REPRISE_HOLD\" is no OPTION = value\n"},
	{"\nREPRISE_HELD = 1", ":2: \"REPRISE_HELD\" is no option\n"},
	{"HOLD = 1", ":1: \"HOLD\" is no option\n"},
	{" = 1", ":1: \"\" is no option\n"},
	{"-- = 1", ":1: \"--\" is no option\n"},
	{"---hold = 1", ":1: \"---hold\" is no option\n"},
	{"--HOLD = 1", ":1: \"--HOLD\" is no option\n"},
	{"--REPRISE_HOLD = 1", ":1: \"--REPRISE_HOLD\" is no option\n"},
	{"record_most = 1", ":1: \"record_most\" is no option\n"},
	{"reprise = off", ":1: \"reprise\" is no option\n"},
	{"hold- = 1", ":1: \"hold-\" is no option\n"},
	{"hold", ":1: \"hold\" is no OPTION = value\n"},
	{"hold = -1", ":1: REPRISE_HOLD: \"-1\" is not a number from 0 to 100000 (microseconds)\n"},
	{"--hold-and-a-name-that-goes-on-for-longer-than-that-of-any-option-does = 1",
     ":1: \"--hold-and-a-name-that-goes-on-for-longer"},
	{"REPRISE_HOLD = -1", ":1: REPRISE_HOLD: \"-1\" is not a number from 0 to 100000"},
	{"REPRISE_HOLD = 1 # ms", ":1: REPRISE_HOLD: \"1 # ms\" is not a number"},
	{"REPRISE = maybe", ":1: REPRISE: \"maybe\" is not one of off|observe|on|verify\n"},
	{"REPRISE_\033[2J = 1", ":1: \"REPRISE_?[2J\" is no option\n"},
};

START_TEST(a_line_that_cannot_be_used_is_named)
{
	char expected[256];

	write_text(lines[_i].text);
	read_by(from_folder);
	all_are_default();
	snprintf(expected, sizeof(expected), "reprise: %s%s", path, lines[_i].words);
	ck_assert_msg(strncmp(said, expected, strlen(expected)) == 0, "%s", said);
	ck_assert_ptr_eq(strchr(said, '\n') + 1, said + strlen(said)); /* one line */
}
END_TEST

START_TEST(a_line_that_cannot_be_used_leaves_the_others)
{
	write_text("REPRISE_HOLD = x\nREPRISE_SMALLEST = 5\n");
	read_by(from_folder);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_SMALLEST), 5);
}
END_TEST

START_TEST(of_many_lines_that_cannot_be_used_the_first_are_named)
{
	char text[512] = "", expected[256];

	for (unsigned int i = 0; i < REPRISE_PROFILE_NAMED_MOST; i++)
		strcat(text, "line\n");
	write_text(text);
	read_by(from_folder);
	ck_assert_ptr_null(strstr(said, "more lines"));
	strcat(text, "REPRISE_HOLD = x\n = \n\nREPRISE_SMALLEST = 5\n");
	write_text(text);
	read_by(from_folder);
	snprintf(expected, sizeof(expected),
	         "%d: \"line\" is no OPTION = value\nreprise: %s: 2 more lines cannot be used\n",
	         REPRISE_PROFILE_NAMED_MOST, path);
	ck_assert_msg(strstr(said, expected) != NULL &&
	                  strstr(strstr(said, expected), expected) + strlen(expected) ==
	                      said + strlen(said),
	              "%s", said);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_SMALLEST), 5);
}
END_TEST

START_TEST(a_shorter_file_ends_where_it_ends)
{
	write_text("REPRISE_HOLD = 20000");
	read_by(from_folder);
	write_text("REPRISE_HOLD = 1");
	read_by(from_folder);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_HOLD), 1);
}
END_TEST

START_TEST(the_program_is_the_one_that_was_executed_whatever_its_title)
{
	char *before = program_invocation_short_name;

	program_invocation_short_name = (char *)"a title/../other";
	ck_assert_str_eq(reprise_profile_program(), "test_profile");
	program_invocation_short_name = before;
}
END_TEST

/* ---- files that are not read ---- */

static void is_not_read(const char *why)
{
	char expected[256];

	read_by(from_folder);
	all_are_default();
	snprintf(expected, sizeof(expected), "reprise: %s is not read: %s\n", path, why);
	ck_assert_str_eq(said, expected);
}

START_TEST(what_is_no_plain_file_is_not_read)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	is_not_read("it is no plain file");
	unlink(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	is_not_read("it is no plain file");
	rmdir(path);
	ck_assert_int_eq(symlink("/dev/tty", path), 0);
	is_not_read("it is no plain file"); /* whether there is a terminal or not: it is not opened */
	unlink(path);
	ck_assert_int_eq(symlink(path, path), 0);
	is_not_read("Too many levels of symbolic links");
}
END_TEST

START_TEST(a_file_that_everybody_may_write_is_not_read)
{
	write_text("REPRISE_HOLD = 1\n");
	chmod(path, 0646);
	is_not_read("everybody may write it");
}
END_TEST

START_TEST(a_file_of_another_user_is_not_read)
{
	write_text("REPRISE_HOLD = 1\n");
	if (geteuid() == 0) { /* else nobody can give it away */
		ck_assert_int_eq(chown(path, 12345, 12345), 0);
		is_not_read("it belongs to another user");
	}
}
END_TEST

START_TEST(a_file_that_is_too_long_is_not_read)
{
	static char bytes[REPRISE_PROFILE_MOST + 1];

	memset(bytes, '\n', sizeof(bytes));
	write_bytes(bytes, sizeof(bytes));
	is_not_read("it is too long");
	memcpy(bytes, "REPRISE_HOLD = 1", 16);
	write_bytes(bytes, sizeof(bytes) - 1);
	read_by(from_folder);
	ck_assert_uint_eq(reprise_option(REPRISE_OPTION_HOLD), 1);
}
END_TEST

/* What the kernel makes when it is read has no length before, and a file may grow meanwhile. */
START_TEST(a_file_that_does_not_say_how_long_it_is)
{
	ck_assert_int_eq(symlink("/proc/self/smaps", path), 0);
	is_not_read("it is too long");
}
END_TEST

/* As a user who may do less than root: anybody else, if this is root. */
static void as_somebody(void (*read)(void))
{
	bool root = geteuid() == 0;

	ck_assert(!root || seteuid(12345) == 0);
	read();
	ck_assert(!root || seteuid(0) == 0);
}

static void from_folder_as_somebody(void)
{
	as_somebody(from_folder);
}

START_TEST(a_file_that_may_not_be_read_is_named)
{
	write_text("REPRISE_HOLD = 1\n");
	chmod(folder, 0755);
	chmod(path, 0);
	read_by(from_folder_as_somebody);
	all_are_default();
	ck_assert_ptr_nonnull(strstr(said, "app.conf is not read: Permission denied\n"));
}
END_TEST

/* A program that has become another user keeps its HOME, which may be shut to it. */
START_TEST(nothing_is_said_of_a_folder_that_is_shut)
{
	write_text("REPRISE_HOLD = 1\n");
	chmod(folder, 0);
	read_by(from_folder_as_somebody);
	chmod(folder, 0700);
	all_are_default();
	ck_assert_str_eq(said, "");
}
END_TEST

static void from_long_name(void)
{
	char name[256];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	reprise_profile_read(folder, name);
	name[252] = '\0'; /* with its ending, longer than a file's name may be */
	reprise_profile_read(folder, name);
}

START_TEST(nothing_is_said_of_a_program_whose_name_no_file_can_have)
{
	read_by(from_long_name);
	ck_assert_str_eq(said, "");
}
END_TEST

static void without_room_for_files(void)
{
	struct rlimit before, none = {1, 0}; /* 0: poll(2) takes no file then */

	getrlimit(RLIMIT_NOFILE, &before);
	none.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_NOFILE, &none);
	from_folder();
	setrlimit(RLIMIT_NOFILE, &before);
}

START_TEST(a_program_that_may_open_no_files_hears_of_those_that_are_there)
{
	read_by(without_room_for_files);
	ck_assert_str_eq(said, "");
	write_text("REPRISE_HOLD = 1\n");
	read_by(without_room_for_files);
	all_are_default();
	ck_assert_ptr_nonnull(strstr(said, "app.conf is not read: Too many open files\n"));
}
END_TEST

START_TEST(bytes_that_are_no_text_are_not_read)
{
	write_bytes("REPRISE_HOLD = 1\n\0\n", 19);
	is_not_read("it is no text");
}
END_TEST

static void which_gives(void)
{
	static const struct {
		const char *text;
		bool gives;
	} files[] = {{"REPRISE_NVTX_OFF = io*\n", true},
	             {"# a\n\nREPRISE_HOLD = soon\nREPRISE_NVTX_OFF=x", true},
	             {"REPRISE_NVTX_OFF =\n", false},
	             {"REPRISE_NVTX_OFF\n", false},
	             {"# REPRISE_NVTX_OFF = io*\nREPRISE_DENY = io*\n", false},
	             {"", false}};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		write_text(files[i].text);
		ck_assert_msg(reprise_profile_gives(path, REPRISE_OPTION_NVTX_OFF) == files[i].gives, "%s",
		              files[i].text);
	}
	write_text("REPRISE_NVTX_OFF = io*\n");
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert(!reprise_profile_gives(path, REPRISE_OPTION_NVTX_OFF));
	ck_assert(!reprise_profile_gives(folder, REPRISE_OPTION_NVTX_OFF));
}

START_TEST(one_may_be_asked_whether_it_gives_an_option_and_says_nothing)
{
	read_by(which_gives);
	ck_assert_str_eq(said, "");
	all_are_default();
}
END_TEST

START_TEST(nothing_is_said_where_there_is_none)
{
	read_by(from_folder);
	ck_assert_str_eq(said, "");
	all_are_default();
	reprise_profile_read("/dev/null", "app");
	reprise_profiles_read(NULL);
	reprise_profiles_read("");
}
END_TEST

/* Any bytes: whatever they say, nothing but a line or so comes of them. */
START_TEST(bytes_of_chance)
{
	static const char letters[] = "REPRISE_HOLD=10\n# \t\r;%\\\"\377\001offon";
	char bytes[2048];

	for (unsigned int round = 0; round < 300; round++) {
		size_t size = (size_t)rand() % sizeof(bytes);

		for (size_t i = 0; i < size; i++)
			bytes[i] = letters[(size_t)rand() % (sizeof(letters) - 1)];
		write_bytes(bytes, size);
		read_by(from_folder);
		for (const char *at = said; *at != '\0'; at++)
			ck_assert(*at == '\n' || (*at >= ' ' && *at <= '~'));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile");
	TCase *tests = tcase_create("profile");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, what_a_file_gives_counts);
	tcase_add_test(tests, options_may_be_named_as_the_command_names_them);
	tcase_add_test(tests, the_environment_counts_more_even_if_it_cannot_be_used);
	tcase_add_test(tests, the_users_folder_is_the_environments);
	tcase_add_test(tests, a_later_file_counts_more);
	tcase_add_loop_test(tests, a_line_that_cannot_be_used_is_named, 0,
	                    (int)(sizeof(lines) / sizeof(lines[0])));
	tcase_add_test(tests, a_line_that_cannot_be_used_leaves_the_others);
	tcase_add_test(tests, of_many_lines_that_cannot_be_used_the_first_are_named);
	tcase_add_test(tests, a_shorter_file_ends_where_it_ends);
	tcase_add_test(tests, the_program_is_the_one_that_was_executed_whatever_its_title);
	tcase_add_test(tests, what_is_no_plain_file_is_not_read);
	tcase_add_test(tests, a_file_that_everybody_may_write_is_not_read);
	tcase_add_test(tests, a_file_of_another_user_is_not_read);
	tcase_add_test(tests, a_file_that_is_too_long_is_not_read);
	tcase_add_test(tests, a_file_that_does_not_say_how_long_it_is);
	tcase_add_test(tests, a_file_that_may_not_be_read_is_named);
	tcase_add_test(tests, nothing_is_said_of_a_folder_that_is_shut);
	tcase_add_test(tests, nothing_is_said_of_a_program_whose_name_no_file_can_have);
	tcase_add_test(tests, a_program_that_may_open_no_files_hears_of_those_that_are_there);
	tcase_add_test(tests, bytes_that_are_no_text_are_not_read);
	tcase_add_test(tests, one_may_be_asked_whether_it_gives_an_option_and_says_nothing);
	tcase_add_test(tests, nothing_is_said_where_there_is_none);
	tcase_add_test(tests, bytes_of_chance);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
