/* A program that uses the public API, and is linked with nothing. Prints what each function did. */
#include <reprise/reprise.h>
#include <stdio.h>

int main(void)
{
	struct {
		struct reprise_counts counts;
		unsigned char beyond[64];
	} later;
	size_t known;

	memset(&later, 0xa5, sizeof(later));
	for (int i = 0; i < 3; i++) {
		reprise_pause();
		reprise_flush();
		reprise_resume();
		reprise_resume();
	}
	known = reprise_read_counts(&later.counts, sizeof(later.counts));
	for (size_t i = 0; i < sizeof(later.beyond); i++)
		if (later.beyond[i] != 0xa5)
			puts("wrote beyond the counts");
	printf("known %zu of %zu, ops %llu, replayed %llu, host %llu\n", known, sizeof(later.counts),
	       (unsigned long long)later.counts.ops, (unsigned long long)later.counts.replayed,
	       (unsigned long long)later.counts.host_bytes);
	return 0;
}
