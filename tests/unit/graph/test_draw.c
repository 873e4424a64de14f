/* Drawings of graphs: which graphs are drawn, where, and what is left of a drawing that failed. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../suite.h"
#include "base/options.h"
#include "driver/driver.h"
#include "graph/make.h"
#include "stats/counters.h"

#define MOST 64 /* drawings in a process */

static char folder[] = "/tmp/reprise-draw-XXXXXX";
static unsigned int drawn; /* by the driver */
static CUgraph drawn_graph;
static CUresult answer;
static struct reprise_graph graphs[MOST + 2];

static CUresult CUDAAPI print(CUgraph graph, const char *path, unsigned int flags)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "digraph");
	fclose(file);
	drawn++;
	drawn_graph = graph;
	return answer;
}

static void set_folder(const char *value)
{
	setenv("REPRISE_DOT", value, 1);
	reprise_options_read();
}

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	set_folder(folder);
	reprise_driver.cuGraphDebugDotPrint = print;
	for (unsigned int i = 0; i < MOST + 2; i++)
		graphs[i] =
			(struct reprise_graph){.number = i + 1, .graph = (CUgraph)(uintptr_t)(0x100 + i)};
}

/* The files of the folder: how many there are; all are removed. Each has a whole drawing. */
static unsigned int take_files(void)
{
	DIR *files = opendir(folder);
	unsigned int count = 0;

	ck_assert_ptr_nonnull(files);
	for (struct dirent *entry; (entry = readdir(files)) != NULL;) {
		char path[512], text[16] = "";
		FILE *file;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		file = fopen(path, "r");
		ck_assert_ptr_nonnull(file);
		ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
		ck_assert_str_eq(text, "digraph");
		fclose(file);
		unlink(path);
		count++;
	}
	closedir(files);
	return count;
}

static void teardown(void)
{
	take_files();
	rmdir(folder);
}

static uint64_t counted(void)
{
	return atomic_load(&reprise_counters[REPRISE_COUNT_graphs_drawn]);
}

START_TEST(each_graph_is_drawn_once_into_a_file_with_its_number)
{
	char path[512];

	for (unsigned int i = 0; i < 2; i++) {
		reprise_graph_draw(&graphs[i]);
		ck_assert(graphs[i].drawn);
		ck_assert_ptr_eq(drawn_graph, graphs[i].graph);
		ck_assert_uint_eq(drawn, i + 1);
		reprise_graph_draw(&graphs[i]);
		ck_assert_uint_eq(drawn, i + 1);
		snprintf(path, sizeof(path), "%s/reprise-%d-%04u.dot", folder, (int)getpid(), i + 1);
		ck_assert_int_eq(access(path, R_OK), 0);
	}
	ck_assert_uint_eq(counted(), 2);
	ck_assert_uint_eq(take_files(), 2);
}
END_TEST

START_TEST(without_a_folder_nothing_is_drawn)
{
	set_folder("");
	reprise_graph_draw(&graphs[0]);
	ck_assert_uint_eq(drawn, 0);
	ck_assert(!graphs[0].drawn);
	ck_assert_uint_eq(counted(), 0);
	set_folder(folder);
	reprise_graph_draw(&graphs[0]);
	ck_assert_uint_eq(drawn, 1);
}
END_TEST

/* In any language, and wherever the program is. */
START_TEST(a_folder_may_have_any_name)
{
	char here[512], there[600];

	snprintf(there, sizeof(there), "%s/\xc3\xbc", folder);
	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	ck_assert_int_eq(mkdir(there, 0700), 0);
	ck_assert_int_eq(chdir(folder), 0);
	set_folder("\xc3\xbc");
	reprise_graph_draw(&graphs[0]);
	ck_assert_int_eq(chdir(here), 0);
	ck_assert_uint_eq(drawn, 1);
	snprintf(there, sizeof(there), "%s/\xc3\xbc/reprise-%d-0001.dot", folder, (int)getpid());
	ck_assert_int_eq(unlink(there), 0);
	snprintf(there, sizeof(there), "%s/\xc3\xbc", folder);
	ck_assert_int_eq(rmdir(there), 0);
}
END_TEST

/* A program may have closed them: then the drawing's file has that number. */
START_TEST(a_graph_is_drawn_whichever_standard_files_are_closed)
{
	for (int file = 0; file <= 2; file++)
		if ((_i >> file & 1) != 0)
			close(file);
	reprise_graph_draw(&graphs[0]);
	ck_assert(graphs[0].drawn);
	ck_assert_uint_eq(drawn, 1);
	ck_assert_uint_eq(counted(), 1);
	for (int file = 0; file <= 2; file++)
		if ((_i >> file & 1) != 0)
			ck_assert_int_eq(fcntl(file, F_GETFD), -1);
	ck_assert_uint_eq(take_files(), 1);
}
END_TEST

START_TEST(no_more_than_so_many_are_drawn)
{
	for (unsigned int i = 0; i < MOST + 2; i++) {
		reprise_graph_draw(&graphs[i]);
		ck_assert_int_eq(graphs[i].drawn, i < MOST);
	}
	ck_assert_uint_eq(drawn, MOST);
	ck_assert_uint_eq(counted(), MOST);
	ck_assert_uint_eq(take_files(), MOST);
}
END_TEST

/* What fails once is not tried again. */

static void nothing_more_is_drawn(unsigned int tried)
{
	ck_assert_uint_eq(drawn, tried);
	ck_assert(!graphs[0].drawn);
	ck_assert_uint_eq(counted(), 0);
	ck_assert_uint_eq(take_files(), 0);
	answer = CUDA_SUCCESS;
	reprise_driver.cuGraphDebugDotPrint = print;
	set_folder(folder);
	reprise_graph_draw(&graphs[0]);
	reprise_graph_draw(&graphs[1]);
	ck_assert_uint_eq(drawn, tried);
	ck_assert_uint_eq(take_files(), 0);
}

START_TEST(a_driver_that_refuses_leaves_no_file)
{
	answer = CUDA_ERROR_NOT_SUPPORTED;
	reprise_graph_draw(&graphs[0]);
	nothing_more_is_drawn(1);
}
END_TEST

START_TEST(a_driver_that_cannot_draw_leaves_no_file)
{
	reprise_driver.cuGraphDebugDotPrint = NULL;
	reprise_graph_draw(&graphs[0]);
	nothing_more_is_drawn(0);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_not_made)
{
	char missing[512];

	snprintf(missing, sizeof(missing), "%s/missing", folder);
	set_folder(missing);
	reprise_graph_draw(&graphs[0]);
	ck_assert_int_ne(access(missing, F_OK), 0);
	nothing_more_is_drawn(0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("draw");
	TCase *tests = tcase_create("draw");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, each_graph_is_drawn_once_into_a_file_with_its_number);
	tcase_add_test(tests, without_a_folder_nothing_is_drawn);
	tcase_add_test(tests, a_folder_may_have_any_name);
	tcase_add_loop_test(tests, a_graph_is_drawn_whichever_standard_files_are_closed, 1, 8);
	tcase_add_test(tests, no_more_than_so_many_are_drawn);
	tcase_add_test(tests, a_driver_that_refuses_leaves_no_file);
	tcase_add_test(tests, a_driver_that_cannot_draw_leaves_no_file);
	tcase_add_test(tests, a_folder_that_is_not_there_is_not_made);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
