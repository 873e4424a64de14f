/*
 * Programs as they are found in the wild, and then disturbed: a few loops, each with a body of ops
 * on one to three streams that becomes hot, and a handful of statements at odd iterations that a
 * layer such as Reprise may trip over.
 */
#include "program.h"

static uint64_t state;

static unsigned draw(unsigned below)
{
	uint64_t z = (state += 0x9E3779B97F4A7C15u);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return (unsigned)((z ^ (z >> 31)) % below);
}

/* How often an action is drawn for a body and for a disturbance. 0: never. */
static const struct {
	unsigned hot, disturbing;
} weights[ACTION_COUNT] = {
	[ACTION_launch] = {60, 6},
	[ACTION_launch_extra] = {8, 2},
	[ACTION_launch_ex] = {12, 3},
	[ACTION_launch_swapped] = {12, 2},
	[ACTION_launch_grid] = {6, 3},
	[ACTION_launch_shared] = {4, 4},
	[ACTION_launch_spread] = {14, 3},
	[ACTION_launch_wide] = {14, 3},
	[ACTION_launch_far] = {6, 2},
	[ACTION_launch_shared_by] = {8, 3},
	[ACTION_launch_ex_grid] = {8, 3},
	[ACTION_launch_cooperative] = {6, 3},
	[ACTION_launch_ptsz] = {3, 2},
	[ACTION_launch_random] = {0, 2},
	[ACTION_launch_refused] = {8, 4},
	[ACTION_memory_refused] = {10, 4},
	[ACTION_call_refused] = {4, 3},
	[ACTION_nothing] = {4, 3},
	[ACTION_too_much] = {0, 2},
	[ACTION_copy_in] = {6, 4},
	[ACTION_copy_in_fresh] = {1, 3},
	[ACTION_copy_out] = {1, 4},
	[ACTION_copy_out_pinned] = {2, 3},
	[ACTION_copy] = {8, 3},
	[ACTION_copy_2d] = {2, 2},
	[ACTION_copy_plane] = {8, 3},
	[ACTION_copy_block] = {6, 3},
	[ACTION_copy_part] = {6, 3},
	[ACTION_set_pitch] = {8, 3},
	[ACTION_copy_sync] = {1, 4},
	[ACTION_set] = {8, 3},
	[ACTION_set_sync] = {1, 3},
	[ACTION_record] = {4, 4},
	[ACTION_wait] = {3, 4},
	[ACTION_hand_over] = {3, 4},
	[ACTION_edge] = {3, 4},
	[ACTION_fork_join] = {3, 4},
	[ACTION_over_host] = {0, 3},
	[ACTION_event_anew] = {0, 2},
	[ACTION_through_legacy] = {1, 4},
	[ACTION_from_legacy] = {1, 4},
	[ACTION_sync_stream] = {2, 4},
	[ACTION_sync_context] = {1, 3},
	[ACTION_sync_event] = {1, 3},
	[ACTION_poll_stream] = {1, 3},
	[ACTION_poll_event] = {1, 3},
	[ACTION_timing] = {1, 3},
	[ACTION_host_function] = {3, 4},
	[ACTION_callback] = {0, 3},
	[ACTION_temporary] = {2, 4},
	[ACTION_allocate] = {0, 3},
	[ACTION_pinned_life] = {0, 3},
	[ACTION_registered_life] = {0, 3},
	[ACTION_on_moving] = {8, 3},
	[ACTION_copy_moving] = {6, 3},
	[ACTION_free_anew] = {1, 5},
	[ACTION_from_host] = {6, 3},
	[ACTION_host_anew] = {0, 5},
	[ACTION_from_page] = {4, 2},
	[ACTION_on_variable] = {4, 2},
	[ACTION_event_reborn] = {1, 3},
	[ACTION_edge_reborn] = {1, 3},
	[ACTION_make] = {0, 4},
	[ACTION_spin_and_make] = {0, 3},
	[ACTION_managed] = {0, 3},
	[ACTION_capture] = {0, 4},
	[ACTION_replay] = {2, 3},
	[ACTION_capture_again] = {0, 3},
	[ACTION_capture_broken] = {0, 3},
	[ACTION_shared_limit] = {0, 4},
	[ACTION_stream_attribute] = {0, 6},
	[ACTION_write_value] = {2, 3},
	[ACTION_stream_anew] = {0, 4},
	[ACTION_module_anew] = {0, 3},
	[ACTION_enter] = {0, 2},
	[ACTION_other_context] = {3, 4},
	[ACTION_across] = {2, 3},
	[ACTION_context_event] = {2, 3},
	[ACTION_context_life] = {0, 2},
	[ACTION_capture_mode] = {0, 2},
	[ACTION_together] = {2, 3},
	[ACTION_captures_together] = {1, 4},
	[ACTION_locked] = {3, 4},
	[ACTION_mapped_poll] = {1, 3},
	[ACTION_mapped_flag] = {1, 3},
	[ACTION_spin_across] = {1, 3},
	[ACTION_elsewhere] = {2, 5},
	[ACTION_thread_anew] = {0, 3},
	[ACTION_think] = {2, 3},
	[ACTION_pause] = {0, 3},
};

/* A loop has some of the actions, so that each comes often where it comes at all. */
static bool absent[ACTION_COUNT];

static void draw_absent(void)
{
	for (unsigned i = 0; i < ACTION_COUNT; i++)
		absent[i] = i != ACTION_launch && draw(5) < 3;
}

static unsigned weight_of(unsigned action, bool disturbing)
{
	return absent[action] ? 0 : disturbing ? weights[action].disturbing : weights[action].hot;
}

static enum action draw_action(bool disturbing)
{
	unsigned sum = 0, at;

	for (unsigned i = 0; i < ACTION_COUNT; i++)
		sum += weight_of(i, disturbing);
	at = draw(sum);
	for (unsigned i = 0; i < ACTION_COUNT; i++) {
		if (at < weight_of(i, disturbing))
			return i;
		at -= weight_of(i, disturbing);
	}
	return ACTION_launch;
}

/* The streams of a loop. Most ops are on the first. */
struct cast {
	int streams[3];
	unsigned count;
	bool forks; /* into all of its streams, at the beginning, and joins them at the end */
	bool mixed; /* forks from a stream that does not block the legacy one into some that do */
	bool beside_legacy; /* two streams that block the legacy one, and that one */
};

/* Where they fork, mostly streams that may be one graph. */
static void draw_streams(struct cast *cast)
{
	static const int alike[] = {FREE, FREE_TOO, FREE_THREE};
	unsigned first = draw(3);
	bool any = !cast->forks || draw(5) == 0;

	if (cast->beside_legacy) {
		cast->count = 3;
		cast->streams[0] = BLOCKING;
		cast->streams[1] = draw(2) ? BLOCKING_TOO : FREE;
		cast->streams[2] = LEGACY;
		return;
	}
	cast->mixed = !any && draw(5) == 0;
	if (cast->mixed) {
		cast->streams[0] = alike[first];
		cast->streams[1] = BLOCKING;
		cast->streams[2] = BLOCKING_TOO;
		return;
	}

	for (unsigned i = 0; i < 3; i++)
		cast->streams[i] = any ? (int)draw(STREAMS) : alike[(first + i) % 3];
}

static int draw_stream(const struct cast *cast)
{
	return cast->streams[draw(3) == 0 ? draw(cast->count) : 0];
}

/* Values change in few of the ops; where they are what an action is about, in most. */
static int draw_change(void)
{
	return draw(4) != 0 ? CHANGES * (int)draw(20) : (int)draw(CHANGES * 20);
}

static int draw_lively_change(void)
{
	return draw(4) == 0   ? CHANGES * (int)draw(20)
	       : draw(3) == 0 ? CHANGES * (int)draw(20) - 1
	                      : (int)draw(CHANGES * 20);
}

static struct statement draw_statement(const struct cast *cast, bool disturbing)
{
	struct statement statement = {.action = draw_action(disturbing)};
	int *a = statement.arguments;

	a[0] = draw_stream(cast);
	for (unsigned i = 1; i < 4; i++)
		a[i] = (int)draw(100);
	switch (statement.action) {
	case ACTION_launch:
	case ACTION_set:
		a[3] = draw_change();
		break;
	case ACTION_launch_extra:
		a[2] = draw_change();
		break;
	case ACTION_launch_ex:
	case ACTION_launch_ex_grid:
	case ACTION_launch_wide:
	case ACTION_launch_spread:
	case ACTION_copy_plane:
	case ACTION_copy_block:
	case ACTION_set_pitch:
		a[2] = draw_lively_change();
		break;
	case ACTION_launch_shared_by:
	case ACTION_launch_cooperative:
	case ACTION_on_moving:
	case ACTION_copy_moving:
		a[1] = draw_lively_change();
		break;
	case ACTION_launch_far:
		a[0] = draw_lively_change();
		break;
	case ACTION_launch_ptsz:
		a[0] = draw_change();
		break;
	case ACTION_launch_grid:
		a[1] = draw_change();
		break;
	case ACTION_launch_shared:
		a[1] = draw(4) != 0 ? (int)draw(8) : (int)draw(120);
		break;
	case ACTION_hand_over:
	case ACTION_edge:
	case ACTION_fork_join:
	case ACTION_edge_reborn:
	case ACTION_event_reborn:
	case ACTION_write_value:
		a[1] = draw_stream(cast);
		break;
	case ACTION_make:
	case ACTION_spin_and_make:
	case ACTION_too_much:
	case ACTION_on_variable:
	case ACTION_other_context:
	case ACTION_context_life:
		a[0] = (int)draw(100);
		break;
	case ACTION_enter:
	case ACTION_capture_mode:
		a[0] = (int)draw(3);
		break;
	case ACTION_over_host:
		a[1] = (int)draw(STREAMS);
		break;
	case ACTION_wait:
	case ACTION_record:
		a[1] = (int)draw(EVENTS);
		break;
	case ACTION_sync_event:
	case ACTION_poll_event:
		a[0] = (int)draw(EVENTS);
		break;
	case ACTION_shared_limit:
		a[0] = (int)draw(100);
		break;
	case ACTION_think:
		a[0] = disturbing ? (int)draw(300) : (int)draw(8);
		break;
	case ACTION_pause:
		a[0] = (int)draw(400);
		break;
	default:
		break;
	}
	return statement;
}

/* What a stream has at first, and what graphs that are built from then on have, too: the loop goes
 * on with them after a pause. */
static void add_attribute(struct program *program, const struct cast *cast, int at)
{
	program_add(program, (struct statement){ACTION_stream_attribute,
	                                        {draw_stream(cast), (int)draw(100)},
	                                        CONDITION_AT,
	                                        {at, 0}});
}

/* Some statements of a body are done only now and then, or not always; in a forgetful one, many are
 * left out now and then. */
static void draw_condition(struct statement *statement, int count, bool disturbing, bool forgetful)
{
	unsigned which = disturbing ? draw(8) : draw(40);

	if (forgetful && which > 30) {
		statement->condition = CONDITION_MOSTLY;
		statement->numbers[0] = 4 + (int)draw(20);
		statement->numbers[1] = (int)draw(1000);
	} else if (disturbing && which < 5) {
		statement->condition = CONDITION_AT;
		statement->numbers[0] = count / 4 + (int)draw((unsigned)(count * 3 / 4));
	} else if (disturbing || which == 0) {
		statement->condition = CONDITION_CHANCE;
		statement->numbers[0] = 5 + (int)draw(30);
		statement->numbers[1] = (int)draw(1000);
	} else if (which == 1) {
		statement->condition = CONDITION_EVERY;
		statement->numbers[0] = 2 + (int)draw(6);
		statement->numbers[1] = (int)draw((unsigned)statement->numbers[0]);
	} else if (which == 2) {
		statement->condition = CONDITION_NOT;
		statement->numbers[0] = (int)draw((unsigned)count);
	}
}

static void add_simple(struct program *program, enum action action, int argument,
                       enum condition condition, int first, int second)
{
	program_add(program, (struct statement){.action = action,
	                                        .arguments = {argument},
	                                        .condition = condition,
	                                        .numbers = {first, second}});
}

/* From the first stream to the others, or back. */
static void add_edges(struct program *program, const struct cast *cast, bool forth)
{
	for (unsigned i = 1; cast->forks && i < cast->count; i++) {
		int from = cast->streams[forth ? 0 : i], to = cast->streams[forth ? i : 0];

		program_add(program, (struct statement){.action = ACTION_edge,
		                                        .arguments = {from, to},
		                                        .condition = CONDITION_ALWAYS});
	}
}

/* In the same loop, now and then: what such a statement reads ends, and comes again. */
static void add_end_of_memory(struct program *program, const struct statement *statement)
{
	bool host = statement->action == ACTION_from_host, page = statement->action == ACTION_from_page;

	if ((host || page || statement->action == ACTION_on_variable) && draw(3) == 0)
		program_add(program, (struct statement){host   ? ACTION_host_anew
		                                        : page ? ACTION_context_life
		                                               : ACTION_module_anew,
		                                        {host ? statement->arguments[0] : (int)draw(100),
		                                         (int)draw(9)},
		                                        CONDITION_CHANCE,
		                                        {10 + (int)draw(30), (int)draw(1000)}});
}

static void add_loop(struct program *program)
{
	static const unsigned lengths[] = {3, 8, 8, 20, 20, 40, 60};
	unsigned length = 1 + draw(lengths[draw(sizeof(lengths) / sizeof(*lengths))]);
	int count = 30 + (int)draw(length > 20 ? 60 : 150);
	unsigned disturbances = draw(7), waits = draw(10);
	bool forgetful = draw(3) == 0;
	struct cast cast = {.count = draw(3) == 0 ? 1 + draw(3) : 1};

	cast.forks = draw(3) == 0;
	if (cast.forks)
		cast.count = 2 + draw(2);
	cast.beside_legacy = !cast.forks && draw(8) == 0;
	draw_streams(&cast);
	draw_absent();
	program_add_loop(program, count);
	if (draw(5) == 0)
		add_simple(program, ACTION_enter, 1 + (int)draw(2), CONDITION_AT, 0, 0);
	if (draw(6) == 0)
		add_attribute(program, &cast, 0);
	add_edges(program, &cast, true);
	for (unsigned i = 0; i < length; i++) {
		struct statement statement = draw_statement(&cast, false);

		draw_condition(&statement, count, false, forgetful);
		/* There has to be a graph to launch. */
		if (statement.action == ACTION_replay)
			program_add(program,
			            (struct statement){ACTION_capture,
			                               {statement.arguments[0], (int)draw(5), (int)draw(3)},
			                               CONDITION_AT,
			                               {1, 0}});
		program_add(program, statement);
		add_end_of_memory(program, &statement);
		/* Anywhere in the body, so that other statements come after it. */
		if (disturbances > 0 && draw(length) < disturbances) {
			statement = draw_statement(&cast, true);
			draw_condition(&statement, count, true, false);
			program_add(program, statement);
			disturbances--;
		}
	}
	add_edges(program, &cast, false);
	/* Some look, from outside, at what only a branch has made. */
	if (cast.forks && draw(4) == 0)
		program_add(program, (struct statement){ACTION_over_host,
		                                        {cast.streams[1], (int)draw(STREAMS), (int)draw(9)},
		                                        CONDITION_EVERY,
		                                        {2 + (int)draw(6), 0}});
	if (cast.mixed)
		add_simple(program, ACTION_from_legacy, 0, CONDITION_EVERY, 2 + (int)draw(6), 0);
	/* Most loops wait for their stream at the end of each iteration or now and then; all let graphs
	 * be built early on. */
	if (waits < 5)
		add_simple(program, ACTION_sync_stream, cast.streams[0], CONDITION_ALWAYS, 0, 0);
	else if (waits < 8)
		add_simple(program, ACTION_sync_stream, cast.streams[0], CONDITION_EVERY, 2 + (int)draw(9),
		           0);
	add_simple(program, ACTION_pause, 500 + (int)draw(400), CONDITION_AT, 5 + (int)draw(5), 0);
	add_simple(program, ACTION_pause, 500 + (int)draw(400), CONDITION_AT, 12 + (int)draw(5), 0);
	if (draw(6) == 0) {
		add_attribute(program, &cast, 18);
		add_simple(program, ACTION_pause, 500 + (int)draw(400), CONDITION_AT, 23, 0);
	}
}

/* So many ops of a stream that nothing is looked for any more, beside others on the legacy stream
 * or one that does not wait for it. */
static void add_long_loop(struct program *program)
{
	int random = draw(4) ? BLOCKING : FREE, hot = draw(4) ? LEGACY : FREE_TOO;

	program_add_loop(program, 2200);
	for (unsigned i = 0; i < 9; i++)
		program_add(program, (struct statement){ACTION_launch_random,
		                                        {random, (int)draw(1000)},
		                                        CONDITION_ALWAYS,
		                                        {0, 0}});
	for (unsigned i = 0; i < 3; i++)
		program_add(program, (struct statement){ACTION_launch,
		                                        {hot, (int)draw(4), (int)draw(9), 0},
		                                        CONDITION_ALWAYS,
		                                        {0, 0}});
	add_simple(program, ACTION_sync_stream, hot, CONDITION_EVERY, 2 + (int)draw(9), 0);
	add_simple(program, ACTION_from_legacy, 0, CONDITION_CHANCE, 30, 1);
}

/* The loop is left in the middle, another comes, and the first again. */
static void add_again(struct program *program, unsigned which)
{
	const struct loop loop = program->loops[which];

	program_add_loop(program, 10 + (int)draw(60));
	for (unsigned i = 0; i < loop.length; i++)
		program_add(program, loop.body[i]);
}

void program_generate(struct program *program, uint64_t seed)
{
	unsigned loops;

	state = seed * 0x2545F4914F6CDD1Du + 1;
	loops = 1 + draw(3);
	if (draw(80) == 0)
		add_long_loop(program);
	for (unsigned i = 0; i < loops; i++) {
		add_loop(program);
		if (draw(4) == 0)
			add_again(program, draw(program->length));
	}
}
