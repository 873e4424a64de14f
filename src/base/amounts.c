#include "base/amounts.h"

#include <stddef.h>
#include <stdio.h>

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
