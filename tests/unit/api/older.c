/* A library of an older Reprise: it has no pauses yet, and knows two counts. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN void reprise_flush(void);
SHOWN size_t reprise_read_counts(uint64_t *counts, size_t size);

void reprise_flush(void)
{
	puts("flushed");
}

size_t reprise_read_counts(uint64_t *counts, size_t size)
{
	counts[0] = 7;
	counts[1] = 5;
	return 2 * sizeof(*counts);
}
