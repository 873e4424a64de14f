"""Bugs to plant in Reprise: what is broken, where, what stands there, what is to stand there, and who has to find it.

The last column has names, separated by spaces: `fuzz` for the fuzzer, any other for the test of that name in the suite `hazards`. scripts/mutate
plants them; docs/hazards.md lists the hazards, each with its mutations or with the reason, here in WITHOUT, why it has none.
"""

BUGS = (
    ("a synchronising call is passed over", "src/lane/doors.c",
     "	if (reprise_inside == 0)\n		reprise_lanes_barrier(true);", "	(void)0;", "fuzz"),
    ("an event's record or wait is passed over", "src/lane/doors.c",
     "	reprise_lanes_make_way(lane);\n	reprise_lock_take(&lane->lock);\n	reprise_lane_barrier(lane, false);\n	reprise_lock_give(&lane->lock);",
     "	reprise_lanes_make_way(lane);", "fuzz"),
    ("a host function is passed over", "preload/entry_points.def", "ORDER(cuLaunchHostFunc, 1, PLAIN)\n", "PASS(cuLaunchHostFunc)\n", "fuzz"),
    ("a wait for an event is passed over", "preload/entry_points.def", "ORDER(cuStreamWaitEvent, 1, PLAIN)\n", "PASS(cuStreamWaitEvent)\n", "fuzz"),
    ("a free in stream order is passed over", "preload/entry_points.def", "ORDER(cuMemFreeAsync, 2, PLAIN)\n", "PASS(cuMemFreeAsync)\n", "fuzz"),
    ("a launch of the program's own graph is passed over", "preload/entry_points.def", "ORDER(cuGraphLaunch, 2, PLAIN)\n",
     "PASS(cuGraphLaunch)\n", "fuzz"),
    ("no order between the legacy stream and blocking ones", "src/lane/registry.c",
     "	if (atomic_load(&reprise_deferred_lanes) <= own ||", "	if (own <= 1 || atomic_load(&reprise_deferred_lanes) <= own ||", "fuzz"),
    ("blocking streams do not wait for the legacy stream", "src/lane/registry.c",
     "(lane->stream == CU_STREAM_LEGACY || other->stream == CU_STREAM_LEGACY);", "lane->stream == CU_STREAM_LEGACY;", "fuzz"),
    ("the per-thread stream taken for the legacy one", "src/lane/registry.c",
     "	return stream != NULL ? stream : per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;",
     "	return stream != NULL && stream != CU_STREAM_PER_THREAD ? stream : CU_STREAM_LEGACY;", "fuzz"),
    ("a stale parameter: one changed op in eight is not noted", "src/lane/lane.c",
     "	if (match != REPRISE_MATCH_SAME)\n		reprise_trace_change(lane->trace, lane->cursor, call);",
     "	if (match != REPRISE_MATCH_SAME && lane->cursor % 8 != 5)\n		reprise_trace_change(lane->trace, lane->cursor, call);", "fuzz"),
    ("the last bytes of the last parameter are not compared", "src/op/kernel.c",
     "match == REPRISE_MATCH_SAME && i < layout->count; i++)", "match == REPRISE_MATCH_SAME && i + 1 < layout->count; i++)", "fuzz"),
    ("the grid is not compared", "src/op/kernel.c",
     "	if (memcmp(call->grid, kernel->grid, sizeof(kernel->grid)) != 0) {", "	if (kernel->grid[0] == 0) {", "fuzz"),
    ("shared memory may grow without asking the driver", "src/op/kernel.c",
     "		if (call->shared_bytes > kernel->shared_bytes)\n			return REPRISE_MATCH_NOT;\n", "", "fuzz"),
    ("a side exit loses its first op", "src/lane/lane.c",
     "	for (unsigned int i = 0; i < count; i++)\n		result = reprise_op_issue(", "	for (unsigned int i = count > 2; i < count; i++)\n		result = reprise_op_issue(", "fuzz"),
    ("a side exit issues its last op twice", "src/lane/lane.c",
     "	return result;\n}\n\n/* The side exit. */",
     "	if (count > 2)\n		reprise_op_issue(reprise_trace_op(lane->trace, count - 1), lane->stream);\n	return result;\n}\n\n/* The side exit. */", "fuzz"),
    ("a side exit issues in the wrong order", "src/lane/lane.c",
     "		result = reprise_op_issue(reprise_trace_op(lane->trace, i), lane->stream);",
     "		result = reprise_op_issue(reprise_trace_op(lane->trace, count - 1 - i), lane->stream);", "fuzz"),
    ("a sibling does not take over what was deferred", "src/lane/lane.c",
     "		reprise_trace_adopt(sibling, i, reprise_trace_op(trace, i));", "		(void)i;", "fuzz"),
    ("a pageable source is read later", "src/op/memory.c",
     "	       type == CU_MEMORYTYPE_HOST   ? REPRISE_MEMORY_PINNED :\n	                                      REPRISE_MEMORY_OTHER;",
     "	                                      REPRISE_MEMORY_PINNED;", "fuzz pageable_h2d pageable_d2h"),
    ("what an address is, is never asked again", "src/op/memory.c", "	atomic_fetch_add(&generation, 1);", "	(void)0;", "fuzz"),
    ("functions of an unloaded module are not forgotten", "src/lane/doors.c",
     "	reprise_lanes_each(forget, &forgetting);", "	if (what != REPRISE_LIFETIME_CODE)\n		reprise_lanes_each(forget, &forgetting);", "fuzz"),
    ("a function's attribute changes nothing", "src/lane/doors.c",
     "	reprise_lanes_each(forget, &forgetting);", "	if (what != REPRISE_LIFETIME_FUNCTION)\n		reprise_lanes_each(forget, &forgetting);", "fuzz"),
    ("a destroyed stream's lane is kept", "src/lane/doors.c",
     "		forgetting.retire = handle > (uintptr_t)CU_STREAM_PER_THREAD;\n", "		return;\n", "fuzz"),
    ("the program's own captures are not noticed", "src/lane/doors.c",
     "atomic_load_explicit(&capture_count, memory_order_acquire) == 0 &&", "atomic_load_explicit(&capture_count, memory_order_acquire) < 99 &&", "fuzz"),
    ("a graph that is half patched is launched", "src/graph/patch.c",
     "			reprise_count(REPRISE_COUNT_node_updates_failed, 1);\n			return false;",
     "			reprise_count(REPRISE_COUNT_node_updates_failed, 1);\n			return true;", "fuzz"),
    ("the hold limit never strikes", "src/lane/hold.c", "	reprise_lane_hold_limit(lane);", "	(void)lane;", "fuzz"),
)

# Hazards that no bug can be planted for, and why.
WITHOUT = {
}
