#include "base/thread_end.h"

#include <pthread.h>
#include <stddef.h>

/* If another thread made the key meanwhile, or a signal handler in this one, the new key is
 * deleted. */
static uint64_t make(struct reprise_thread_end *end)
{
	uint64_t before = 0;
	pthread_key_t key;

	if (pthread_key_create(&key, end->ends) != 0)
		return 0;
	if (atomic_compare_exchange_strong(&end->key, &before, (uint64_t)key + 1))
		return (uint64_t)key + 1;
	pthread_key_delete(key);
	return before;
}

void reprise_thread_end_hear(struct reprise_thread_end *end)
{
	uint64_t key = atomic_load(&end->key);

	if (key == 0)
		key = make(end);
	if (key != 0 && pthread_getspecific((pthread_key_t)(key - 1)) == NULL)
		pthread_setspecific((pthread_key_t)(key - 1), end);
}
