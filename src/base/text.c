#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/tuning.h"

#define LENGTH_MOST 63 /* of words that are compared */

bool reprise_expand(const char *pattern, pid_t process, char *path, size_t size)
{
	size_t length = 0;

	for (const char *mark; (mark = strstr(pattern, "%p")) != NULL && length < size;
	     pattern = mark + 2)
		length += (size_t)snprintf(path + length, size - length, "%.*s%d", (int)(mark - pattern),
		                           pattern, (int)process);
	if (length < size)
		length += (size_t)snprintf(path + length, size - length, "%s", pattern);
	return length > 0 && length < size;
}

/* Independent of the locale, which belongs to the program. */
static char small(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static size_t least(size_t one, size_t other)
{
	return one < other ? one : other;
}

/* The number of typing errors between the two ("optimal string alignment"), row by row. Only the
 * last two rows are needed. */
static size_t errors(const char *one, size_t one_length, const char *other, size_t other_length)
{
	size_t rows[3][LENGTH_MOST + 1];

	for (size_t j = 0; j <= other_length; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= one_length; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= other_length; j++) {
			char a = small(one[i - 1]), b = small(other[j - 1]);

			row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a != b));
			if (i > 1 && j > 1 && a == small(other[j - 2]) && small(one[i - 2]) == b)
				row[j] = least(row[j], two_above[j - 2] + 1);
		}
	}
	return rows[one_length % 3][other_length];
}

const char *reprise_nearest(const char *word, const char *const *names, size_t count)
{
	size_t length = strnlen(word, LENGTH_MOST + 1), fewest = LENGTH_MOST;
	const char *nearest = NULL;

	for (size_t i = 0; i < count && length <= LENGTH_MOST; i++) {
		size_t name_length = strnlen(names[i], LENGTH_MOST + 1), found;

		if (name_length > LENGTH_MOST)
			continue;
		found = errors(word, length, names[i], name_length);
		if (found < fewest &&
		    found <=
		        (name_length + REPRISE_TUNE_NEAREST_LETTERS - 1) / REPRISE_TUNE_NEAREST_LETTERS &&
		    found < name_length) {
			fewest = found;
			nearest = names[i];
		}
	}
	return nearest;
}

size_t reprise_printable(const char *text, size_t length, char *shown, size_t size)
{
	size_t i = 0;

	for (; i < length && i < size - 1 && text[i] != '\0'; i++)
		shown[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	shown[i] = '\0';
	return i;
}

const char *reprise_amount_count(unsigned long long value, char text[REPRISE_AMOUNT_MOST])
{
	char digits[REPRISE_AMOUNT_MOST];
	int count = snprintf(digits, sizeof(digits), "%llu", value);
	char *at = text;

	for (int i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return text;
}

const char *reprise_amount_duration(double ns, char text[REPRISE_AMOUNT_MOST])
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t unit = 0;

	while (unit < 3 && ns < units[unit].ns * 0.9995)
		unit++;
	ns /= units[unit].ns;
	snprintf(text, REPRISE_AMOUNT_MOST, ns < 100 ? "%.3g %s" : "%.0f %s", ns, units[unit].name);
	return text;
}

const char *reprise_amount_expected(long long saved_ns, unsigned long long launch_time_ns,
                                    char text[REPRISE_EXPECTED_MOST])
{
	char saved[REPRISE_AMOUNT_MOST], all[REPRISE_AMOUNT_MOST];

	snprintf(text, REPRISE_EXPECTED_MOST,
	         saved_ns < 0 ? "be about %s slower than without (of %s launch time)"
	                      : "save about %s of %s launch time",
	         reprise_amount_duration((double)llabs(saved_ns), saved),
	         reprise_amount_duration((double)launch_time_ns, all));
	return text;
}
