#include "gate.h"

#include <pthread.h>
#include <sched.h>

#include "clock.h"
#include "hot.h"
#include "lock.h"
#include "thread.h"

struct reprise_gate_place reprise_gate_places[REPRISE_GATE_PLACES];
_Atomic uint32_t reprise_gate_closed REPRISE_HOT_DATA;
_Thread_local struct reprise_gate_pass reprise_gate_pass;

static pthread_key_t key; /* set in threads that go through */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void thread_ends(void *unused)
{
	if (reprise_gate_pass.going)
		reprise_gate_leave();
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, thread_ends) == 0;
}

struct reprise_gate_place *reprise_gate_find_place(void)
{
	pthread_once(&once, make_key);
	if (has_key)
		pthread_setspecific(key, &key);
	reprise_gate_pass.place = &reprise_gate_places[reprise_thread_self() % REPRISE_GATE_PLACES];
	return reprise_gate_pass.place;
}

void reprise_gate_wait(void)
{
	uint64_t begin = reprise_clock_ns();

	while (atomic_load(&reprise_gate_closed) != 0)
		reprise_futex_wait(&reprise_gate_closed, 1, 0);
	reprise_waited_since(begin);
}

bool reprise_gate_close(uint64_t patience_ns)
{
	uint64_t end = reprise_clock_ns() + patience_ns;

	atomic_store(&reprise_gate_closed, 1);
	for (unsigned int i = 0; i < REPRISE_GATE_PLACES; i++)
		while (atomic_load(&reprise_gate_places[i].going) != 0) {
			if (reprise_clock_ns() > end) {
				reprise_gate_open();
				return false;
			}
			sched_yield();
		}
	return true;
}

void reprise_gate_open(void)
{
	atomic_store(&reprise_gate_closed, 0);
	reprise_futex_wake(&reprise_gate_closed);
}

void reprise_gate_reset(void)
{
	atomic_store(&reprise_gate_closed, 0);
	for (unsigned int i = 0; i < REPRISE_GATE_PLACES; i++)
		atomic_store(&reprise_gate_places[i].going, 0);
	reprise_gate_pass.going = false;
}
