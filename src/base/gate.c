#include "base/gate.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/ending.h"
#include "base/keep.h"
#include "base/lock.h"
#include "base/placement.h"
#include "base/tuning.h"

#define FIRST 16

/* State of the builder. AWAITED: a thread sleeps until the builder is idle. */
enum { IDLE, AT_WORK, AWAITED };

_Atomic uintptr_t reprise_gate_closed REPRISE_HOT_DATA;
_Alignas(64) _Atomic uint32_t reprise_gate_waiting;
_Thread_local struct reprise_gate_thread reprise_gate_thread;

/* Enough for the threads of most programs, so that these need no memory. */
static struct reprise_gate_slot first[FIRST];
/* The slots of further threads. Grows at its head only. */
static _Atomic(struct reprise_gate_slot *) slots;
/* How often the gate was opened. Threads that wait at the gate sleep on it. */
static _Atomic uint32_t openings;
/* IDLE, AT_WORK or AWAITED. Threads that wait for the builder sleep on it. */
static _Atomic uint32_t work;
/* Held by the thread that works, or is about to. */
static struct reprise_lock role;
/* The builder wants to go first. */
static _Atomic uint32_t wanted;
/* The word that the builder sleeps on. */
static _Atomic(_Atomic uint32_t *) waker;

/* Used if there was no memory for a slot. It always counts as giving work, so nothing is built any
 * more. */
static struct reprise_gate_slot shared = {.giving = REPRISE_GATE_ANY};
static _Atomic bool is_shared;

/* ---- threads ---- */

/* All slots are visited from `first` on. */
static struct reprise_gate_slot *next_of(struct reprise_gate_slot *slot)
{
	if (slot == &first[FIRST - 1])
		return atomic_load(&slots);
	return slot >= first && slot < &first[FIRST - 1] ? slot + 1 : slot->next;
}

static void thread_ends(void *unused)
{
	struct reprise_gate_slot *slot = reprise_gate_thread.slot;

	while (reprise_gate_thread.waiting > 0)
		reprise_gate_end_waiting();
	reprise_gate_thread.slot = NULL;
	if (slot == NULL || slot == &shared)
		return;
	atomic_store(&slot->giving, 0);
	atomic_store(&slot->doubted, 0);
	atomic_store(&slot->taken, false);
}

static struct reprise_thread_end thread_end = {
	.ends = thread_ends}; /* for threads that have a slot, or wait */

static struct reprise_gate_slot *take_free(void)
{
	for (struct reprise_gate_slot *slot = first; slot != NULL; slot = next_of(slot))
		if (!atomic_exchange(&slot->taken, true))
			return slot;
	return NULL;
}

static struct reprise_gate_slot *add(void)
{
	struct reprise_gate_slot *slot =
		aligned_alloc(_Alignof(struct reprise_gate_slot), sizeof(*slot));

	if (slot == NULL) {
		atomic_store(&is_shared, true);
		return &shared;
	}
	*slot = (struct reprise_gate_slot){.taken = true, .next = atomic_load(&slots)};
	while (!atomic_compare_exchange_weak(&slots, &slot->next, slot))
		continue;
	return slot;
}

struct reprise_gate_slot *reprise_gate_find_slot(void)
{
	REPRISE_KEEP_ERRNO;
	struct reprise_gate_slot *slot = take_free();

	reprise_gate_thread.slot = slot != NULL ? slot : add();
	reprise_thread_end_hear(&thread_end);
	return reprise_gate_thread.slot;
}

void reprise_gate_find_own_slot(void)
{
	reprise_inside++;
	atomic_signal_fence(memory_order_seq_cst);
	if (reprise_gate_thread.slot == NULL)
		reprise_gate_find_slot();
	atomic_signal_fence(memory_order_seq_cst);
	reprise_inside--;
}

uint64_t reprise_gate_counted(enum reprise_gate_passed what)
{
	uint64_t sum = atomic_load_explicit(&shared.passed[what], memory_order_relaxed);

	for (struct reprise_gate_slot *slot = first; slot != NULL; slot = next_of(slot))
		sum += atomic_load_explicit(&slot->passed[what], memory_order_relaxed);
	return sum;
}

/* ---- the program's calls ---- */

void reprise_gate_wait(uintptr_t closed)
{
	REPRISE_KEEP_ERRNO;
	uint64_t begin = reprise_clock_ns();

	for (;;) {
		uint32_t seen = atomic_load(&openings);

		if (atomic_load(&reprise_gate_closed) != closed)
			break;
		reprise_futex_wait(&openings, seen, 0);
	}
	reprise_waited_since(begin);
}

static void wait_for_idle(void)
{
	uint64_t begin = reprise_clock_ns();

	for (;;) {
		uint32_t seen = AT_WORK;

		if (!atomic_compare_exchange_strong(&work, &seen, AWAITED) && seen == IDLE)
			break;
		reprise_futex_wait(&work, AWAITED, 0);
	}
	reprise_waited_since(begin);
}

/* Changes both counts as one step for signal handlers: else a handler would count this thread as
 * another. Returns the global count before. */
static uint32_t count_waiting(uint32_t change)
{
	uint32_t before;

	reprise_inside++;
	atomic_signal_fence(memory_order_seq_cst);
	reprise_gate_thread.waiting += change;
	before = atomic_fetch_add(&reprise_gate_waiting, change);
	atomic_signal_fence(memory_order_seq_cst);
	reprise_inside--;
	return before;
}

void reprise_gate_begin_waiting(void)
{
	REPRISE_KEEP_ERRNO;

	reprise_thread_end_hear(&thread_end);
	for (;;) {
		count_waiting(1);
		if (atomic_load(&work) == IDLE)
			return;
		count_waiting(-1u);
		wait_for_idle();
	}
}

static void wake(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	reprise_futex_wake(word);
}

/* Without this, a program that does little but make waiting calls would leave the builder no
 * time. */
static void be_courteous(void)
{
	_Atomic uint32_t *word = atomic_load(&waker);
	uint64_t begin = reprise_clock_ns();

	wake(word);
	reprise_futex_wait(&wanted, 1, REPRISE_TUNE_GATE_COURTESY_NS);
	reprise_waited_since(begin);
}

void reprise_gate_end_waiting(void)
{
	REPRISE_KEEP_ERRNO;

	if (count_waiting(-1u) == 1 && __builtin_expect(atomic_load(&wanted) != 0, 0))
		be_courteous();
}

void reprise_gate_doubt(void)
{
	reprise_gate_begin_giving(NULL);
	atomic_store(&reprise_gate_thread.slot->doubted, reprise_clock_ns());
	reprise_gate_end_giving();
}

void reprise_gate_doubt_no_more(void)
{
	if (reprise_gate_thread.slot != NULL)
		atomic_store_explicit(&reprise_gate_thread.slot->doubted, 0, memory_order_relaxed);
}

bool reprise_gate_alone(uint64_t patience_ns)
{
	uint64_t begin = reprise_clock_ns();
	bool alone;

	for (unsigned int looks = 0;
	     !(alone = atomic_load(&reprise_gate_waiting) == reprise_gate_thread.waiting) &&
	     reprise_clock_ns() < begin + patience_ns;
	     looks++)
		reprise_nap(looks);
	reprise_waited_since(begin);
	return alone;
}

/* ---- the builder ---- */

static bool is_doubted(const struct reprise_gate_slot *slot)
{
	uint64_t doubted = atomic_load(&slot->doubted);

	return __builtin_expect(doubted != 0, 0) &&
	       reprise_clock_ns() - doubted < REPRISE_TUNE_GATE_DOUBT_NS;
}

bool reprise_gate_is_in_doubt(void)
{
	for (struct reprise_gate_slot *slot = first; slot != NULL; slot = next_of(slot))
		if (is_doubted(slot))
			return true;
	return false;
}

static void become_idle(void)
{
	if (atomic_exchange(&work, IDLE) == AWAITED)
		reprise_futex_wake(&work);
}

/* No call waits. Withdraws the wish, and wakes the thread that made it: a call that ends at this
 * moment may not wake it. */
static void want_no_more(_Atomic uint32_t *word)
{
	if (atomic_exchange(&wanted, 0) == 0)
		return;
	reprise_futex_wake(&wanted);
	wake(word);
}

/* States the wish to go first once the last waiting call has ended. If that has happened already,
 * wakes the builder to look again. */
static void want(_Atomic uint32_t *word)
{
	atomic_store(&wanted, 1);
	if (atomic_load(&reprise_gate_waiting) == 0)
		wake(word);
}

/* Under `role`. A call that begins to wait after the look here sees AT_WORK, and takes its own
 * count back. */
static bool may_work(_Atomic uint32_t *word, uint64_t *pause)
{
	*pause = 0;
	atomic_store(&waker, word);
	atomic_store(&work, AT_WORK);
	if (atomic_load(&reprise_gate_waiting) != 0) {
		become_idle();
		want(word);
		return false;
	}
	want_no_more(word);
	if (!reprise_gate_is_in_doubt())
		return true;
	become_idle();
	*pause = REPRISE_TUNE_GATE_DOUBT_LOOK_NS; /* its end wakes no thread */
	return false;
}

bool reprise_gate_begin_work(_Atomic uint32_t *word, uint64_t *pause)
{
	reprise_lock_take(&role);
	if (may_work(word, pause))
		return true;
	reprise_lock_give(&role);
	return false;
}

void reprise_gate_end_work(void)
{
	become_idle();
	reprise_lock_give(&role);
}

static bool is_given_work(uintptr_t context)
{
	if (atomic_load(&is_shared))
		return true;
	for (struct reprise_gate_slot *slot = first; slot != NULL; slot = next_of(slot)) {
		uintptr_t giving = atomic_load(&slot->giving);

		if (giving == context || giving == REPRISE_GATE_ANY || is_doubted(slot))
			return true;
	}
	return false;
}

bool reprise_gate_close(const void *context, uint64_t patience_ns)
{
	uint64_t end = reprise_clock_ns() + patience_ns;

	atomic_store(&reprise_gate_closed, (uintptr_t)context);
	for (unsigned int looks = 0; is_given_work((uintptr_t)context); looks++) {
		if (reprise_clock_ns() > end) {
			reprise_gate_open();
			return false;
		}
		reprise_nap(looks);
	}
	return true;
}

void reprise_gate_open(void)
{
	atomic_store(&reprise_gate_closed, 0);
	atomic_fetch_add(&openings, 1);
	reprise_futex_wake(&openings);
}

/* ---- fork ---- */

static void forget_passed(struct reprise_gate_slot *slot)
{
	for (int i = 0; i < REPRISE_GATE_PASSED_COUNT; i++)
		atomic_store(&slot->passed[i], 0);
}

void reprise_gate_reset(void)
{
	for (struct reprise_gate_slot *slot = first; slot != NULL; slot = next_of(slot)) {
		atomic_store(&slot->giving, 0);
		atomic_store(&slot->doubted, 0);
		atomic_store(&slot->taken, slot == reprise_gate_thread.slot);
		forget_passed(slot);
	}
	forget_passed(&shared);
	atomic_store(&role.word, 0);
	atomic_store(&reprise_gate_closed, 0);
	atomic_store(&reprise_gate_waiting, 0);
	atomic_store(&work, IDLE);
	atomic_store(&wanted, 0);
	reprise_gate_thread.waiting = 0;
}
