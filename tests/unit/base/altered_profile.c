/*
 * What reads profiles, on files that were altered, under a sanitizer of addresses: no crash, no
 * hang, no file left open, few words, and each option has a value that it may have.
 *
 * The same in every run. Each file is read by a process of its own, since messages are counted for
 * the whole of it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/options.h"
#include "base/profile.h"

#define ALTERED 600
#define SECONDS_MOST 10 /* for one */
#define MOST 40000      /* bytes of a file: more than are read */
#define WRONG 99

static uint64_t state = 20261127;

static size_t any(size_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state % below);
}

/* ---- the files ---- */

static char bytes[MOST];
static size_t size;

static void append(const char *words)
{
	memcpy(bytes + size, words, strlen(words));
	size += strlen(words);
}

/* Each option, with a value that it may have, between comments. */
static void write_whole(void)
{
	char line[256];

	size = 0;
	append("# all\n");
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++) {
		const struct reprise_option_row *row = &reprise_option_rows[i];

		if (row->kind == REPRISE_OPTION_NUMBER)
			snprintf(line, sizeof(line), "%s = %llu\n", row->variable,
			         (unsigned long long)row->greatest);
		else if (row->kind == REPRISE_OPTION_WORD)
			snprintf(line, sizeof(line), "%s=%.*s\n\n", row->variable,
			         (int)strcspn(row->words, "|"), row->words);
		else
			snprintf(line, sizeof(line), "\t%s = a b,*c*  \n# text\n", row->variable);
		append(line);
	}
}

static void put_in(size_t at, const char *what, size_t length)
{
	if (length > MOST - size)
		return;
	memmove(bytes + at + length, bytes + at, size - at);
	memcpy(bytes + at, what, length);
	size += length;
}

static void alter(void)
{
	static const char *const nasty[] = {
		"=",    "==",      "\n",       "\r\n",    "#",
		" ",    "\t",      "%s%n",     "\033[2J", "\xef\xbb\xbf",
		"\xff", "REPRISE", "REPRISE_", "_",       "99999999999999999999999",
		"-1",   "0x10",    "\"",       "\\",      "\v\f",
		"--",   "hold"};
	static char run[MOST];
	const char *word = nasty[any(sizeof(nasty) / sizeof(*nasty))];
	size_t at = any(size + 1), length = any(size - at + 1);

	switch (any(8)) {
	case 0:
		size = at;
		break;
	case 1: /* once more, elsewhere */
		memcpy(run, bytes + at, length);
		put_in(any(size + 1), run, length);
		break;
	case 2:
		memmove(bytes + at, bytes + at + length, size - at - length);
		size -= length;
		break;
	case 3: /* one letter, in a line or in many, up to more than a file may have */
		memset(run, " x=\n#9R\1"[any(8)], sizeof(run));
		for (size_t i = any(2) * sizeof(run); i < sizeof(run); i += 8)
			run[i] = '\n';
		put_in(at, run, any(any(4) == 0 ? sizeof(run) : 2000));
		break;
	case 4:
		if (any(8) == 0)
			put_in(at, "", 1);
		break;
	default:
		put_in(at, word, strlen(word));
	}
}

/* ---- what became of them ---- */

/* At most so many lines, of what a terminal may show. */
static bool is_harmless(const char *said, size_t length)
{
	unsigned int lines = 0;

	for (size_t i = 0; i < length; i++) {
		if (said[i] != '\n' && (said[i] < ' ' || said[i] > '~'))
			return false;
		lines += said[i] == '\n';
	}
	return lines <= REPRISE_PROFILE_NAMED_MOST + 1;
}

static bool may_have(enum reprise_option option)
{
	const struct reprise_option_row *row = &reprise_option_rows[option];
	uint64_t value = reprise_option(option), words = 1;

	if (row->kind == REPRISE_OPTION_NUMBER)
		return value >= row->least && value <= row->greatest;
	if (row->kind == REPRISE_OPTION_TEXT)
		return strlen(reprise_option_text(option)) < REPRISE_OPTION_TEXT_MOST;
	for (const char *at = row->words; *at != '\0'; at++)
		words += *at == '|';
	return value < words;
}

/* What a process tells of the file that it read. */
struct outcome {
	unsigned int taken; /* options from the file */
	bool heard;         /* something was said */
};

static int fail(const char *why)
{
	fprintf(stdout, "%s\n", why);
	fflush(stdout);
	return WRONG;
}

/* True if the file gave the option a value that is not empty. */
static bool is_given(enum reprise_option option)
{
	return reprise_option_origin(option)[0] == '/' &&
	       (reprise_option_rows[option].kind != REPRISE_OPTION_TEXT ||
	        reprise_option_text(option)[0] != '\0');
}

static int read_one(const char *folder, struct outcome *outcome)
{
	static char said[65536];
	int words = memfd_create("said", 0), least;
	char path[64];
	ssize_t length;
	bool gives[REPRISE_OPTION_COUNT];

	alarm(SECONDS_MOST);
	dup2(words, STDERR_FILENO);
	reprise_log_open();
	least = dup(words);
	close(least);
	reprise_options_read();
	snprintf(path, sizeof(path), "%s/app" REPRISE_PROFILE_ENDING, folder);
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++)
		gives[i] = reprise_profile_gives(path, i);
	if (pread(words, said, sizeof(said), 0) != 0)
		return fail("it said something, though only asked what a file gives");
	reprise_profile_read(folder, "app");
	if (dup(words) != least)
		return fail("a file was left open");
	length = pread(words, said, sizeof(said), 0);
	if (length < 0 || !is_harmless(said, (size_t)length))
		return fail("it said too much, or what moves a terminal");
	outcome->heard = length > 0;
	outcome->taken = 0;
	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++) {
		if (!may_have(i))
			return fail("an option has a value that it may not have");
		if (is_given(i) && !gives[i])
			return fail("an option has a value of a file that gives it none");
		outcome->taken += reprise_option_origin(i)[0] == '/';
	}
	return 0;
}

static bool try_one(const char *folder, unsigned int number, struct outcome *outcome)
{
	int status;
	pid_t process = fork();

	if (process == 0)
		_exit(read_one(folder, outcome));
	if (process > 0 && waitpid(process, &status, 0) == process && status == 0)
		return true;
	printf("file %u: the process ended with %x\n", number, process > 0 ? (unsigned int)status : 0);
	return false;
}

static bool try_all(const char *folder, const char *path)
{
	struct outcome *outcome =
		mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int whole = 0, some = 0, none = 0, heard = 0;

	for (unsigned int i = 0; i < ALTERED; i++) {
		FILE *file = fopen(path, "w");

		write_whole();
		for (size_t times = i > 0 ? 1 + any(6) : 0; times > 0; times--)
			alter();
		if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0 ||
		    !try_one(folder, i, outcome))
			return false;
		whole += outcome->taken == REPRISE_OPTION_COUNT;
		none += outcome->taken == 0;
		some += outcome->taken > 0 && outcome->taken < REPRISE_OPTION_COUNT;
		heard += outcome->heard;
	}
	printf("%d files: %u gave all options, %u some, %u none; of %u something was said\n", ALTERED,
	       whole, some, none, heard);
	return whole > 0 && some > ALTERED / 8 && none > 0 && heard > ALTERED / 8;
}

int main(void)
{
	char folder[] = "/tmp/reprise-altered-profile-XXXXXX", path[64];
	bool good;

	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++)
		unsetenv(reprise_option_rows[i].variable);
	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/app.conf", folder);
	good = try_all(folder, path);
	unlink(path);
	rmdir(folder);
	return good ? 0 : 1;
}
