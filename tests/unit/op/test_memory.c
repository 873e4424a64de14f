/* What the driver answers about addresses: kinds, extents, what is remembered, and for how long. */
#include "../../suite.h"
#include "driver/driver.h"
#include "op/memory.h"

#define START ((CUdeviceptr)0x100000)
#define BYTES 0x1000
#define PINNED REPRISE_MEMORY_PINNED
#define OTHER REPRISE_MEMORY_OTHER
#define BEYOND REPRISE_MEMORY_BEYOND
#define DEVICE(number) (REPRISE_MEMORY_DEVICE | (number) << 2)

/* The only memory: what the driver answers of it. */
static struct {
	CUresult asked;
	uint64_t type, managed, pool;
	int device;
	size_t reserved;
	/* What is mapped of it, piece by piece. */
	struct {
		CUdeviceptr start;
		size_t bytes;
	} pieces[3];
} memory;

static unsigned int questions, extents; /* that were asked */
static bool range_refused;              /* what is mapped is not told */
static CUresult count_answer;
static int devices;

/* The piece at the address; 3 if nothing is mapped there. */
static unsigned int piece_at(CUdeviceptr address)
{
	unsigned int i = 0;

	while (i < 3 && address - memory.pieces[i].start >= memory.pieces[i].bytes)
		i++;
	return i;
}

static CUresult CUDAAPI get_attributes(unsigned int count, CUpointer_attribute *attributes,
                                       void **answers, CUdeviceptr address)
{
	bool inside = piece_at(address) < 3;

	questions++;
	for (unsigned int i = 0; i < count; i++)
		switch (attributes[i]) {
		case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
			*(unsigned int *)answers[i] = inside ? (unsigned int)memory.type : 0;
			break;
		case CU_POINTER_ATTRIBUTE_IS_MANAGED:
			*(unsigned int *)answers[i] = inside && memory.managed != 0;
			break;
		case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
			*(int *)answers[i] = inside ? memory.device : -2;
			break;
		case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
			*(CUdeviceptr *)answers[i] = inside ? START : 0;
			break;
		case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
			*(size_t *)answers[i] = inside ? memory.reserved : 0;
			break;
		default:
			*(uint64_t *)answers[i] = inside ? memory.pool : 0;
		}
	return memory.asked;
}

static CUresult CUDAAPI get_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
	unsigned int i = piece_at(address);

	extents++;
	if (i == 3 || range_refused)
		return CUDA_ERROR_INVALID_VALUE;
	*base = memory.pieces[i].start;
	*bytes = memory.pieces[i].bytes;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI count_devices(int *count)
{
	*count = devices;
	questions++;
	return count_answer;
}

/* Memory of a device, all of it mapped in one piece. */
static void setup(void)
{
	memory.type = CU_MEMORYTYPE_DEVICE;
	memory.reserved = memory.pieces[0].bytes = BYTES;
	memory.pieces[0].start = START;
	reprise_driver.cuPointerGetAttributes = get_attributes;
	reprise_driver.cuMemGetAddressRange_v2 = get_range;
	reprise_driver.cuDeviceGetCount = count_devices;
}

/* ---- kinds ---- */

static const struct {
	uint64_t type, managed;
	int device;
	CUresult asked;
	uint8_t kind;
} kinds[] = {
	{CU_MEMORYTYPE_DEVICE, 0, 0, CUDA_SUCCESS, DEVICE(0)},
	{CU_MEMORYTYPE_DEVICE, 0, 1, CUDA_SUCCESS, DEVICE(1)},
	{CU_MEMORYTYPE_DEVICE, 0, 62, CUDA_SUCCESS, DEVICE(62)},
	{CU_MEMORYTYPE_DEVICE, 0, 63, CUDA_SUCCESS, OTHER},
	{CU_MEMORYTYPE_DEVICE, 0, -2, CUDA_SUCCESS, OTHER},
	{CU_MEMORYTYPE_DEVICE, 1, 0, CUDA_SUCCESS, OTHER},
	{CU_MEMORYTYPE_DEVICE, 0, 0, CUDA_ERROR_INVALID_VALUE, OTHER},
	{CU_MEMORYTYPE_HOST, 0, 0, CUDA_SUCCESS, PINNED},
	{CU_MEMORYTYPE_HOST, 0, -2, CUDA_SUCCESS, PINNED},
	{CU_MEMORYTYPE_HOST, 0, 63, CUDA_SUCCESS, PINNED},
	{CU_MEMORYTYPE_HOST, 1, 0, CUDA_SUCCESS, OTHER},
	{CU_MEMORYTYPE_ARRAY, 0, 0, CUDA_SUCCESS, OTHER},
	{CU_MEMORYTYPE_UNIFIED, 0, 0, CUDA_SUCCESS, OTHER},
	{0, 0, -2, CUDA_SUCCESS, OTHER},
};

START_TEST(each_kind_of_memory_is_told)
{
	memory.type = kinds[_i].type;
	memory.managed = kinds[_i].managed;
	memory.device = kinds[_i].device;
	memory.asked = kinds[_i].asked;
	ck_assert_uint_eq(reprise_memory_of(START, 8), kinds[_i].kind);
	ck_assert_uint_eq(reprise_memory_of(START + BYTES - 8, 8), kinds[_i].kind);
}
END_TEST

/* ---- extents ---- */

static const struct {
	CUdeviceptr at;
	size_t bytes;
	bool beyond;
} ranges[] = {
	{START, 0, false},
	{START, 1, false},
	{START, BYTES, false},
	{START, BYTES + 1, true},
	{START, SIZE_MAX, true},
	{START + 1, BYTES - 1, false},
	{START + 1, BYTES, true},
	{START + BYTES - 1, 0, false},
	{START + BYTES - 1, 1, false},
	{START + BYTES - 1, 2, true},
	{START + BYTES - 1, SIZE_MAX, true},
};

START_TEST(a_range_ends_with_its_memory)
{
	static const uint8_t of_type[][2] = {{CU_MEMORYTYPE_DEVICE, DEVICE(0)},
	                                     {CU_MEMORYTYPE_HOST, PINNED}};

	for (unsigned int i = 0; i < 2; i++) {
		memory.type = of_type[i][0];
		ck_assert_uint_eq(reprise_memory_of(ranges[_i].at, ranges[_i].bytes),
		                  ranges[_i].beyond ? BEYOND : of_type[i][1]);
		reprise_changes_begin(REPRISE_CHANGES_MEMORY);
		reprise_changes_end(REPRISE_CHANGES_MEMORY);
	}
}
END_TEST

/* Where what was asked first was shorter, and where it was longer. */
START_TEST(each_extent_is_judged_by_itself)
{
	ck_assert_uint_eq(reprise_memory_of(START, 8), DEVICE(0));
	ck_assert_uint_eq(reprise_memory_of(START, BYTES + 1), BEYOND);
	ck_assert_uint_eq(reprise_memory_of(START, BYTES), DEVICE(0));
	ck_assert_uint_eq(reprise_memory_of(START + BYTES, 1), OTHER);
	ck_assert_uint_eq(reprise_memory_of(START - 1, 2), OTHER);
}
END_TEST

/* As the range is that of the reservation, what the driver does not tell of may end anywhere. */
START_TEST(where_it_is_not_told_what_is_mapped_all_is_beyond)
{
	range_refused = true;
	ck_assert_uint_eq(reprise_memory_of(START, 8), BEYOND);
	ck_assert_uint_eq(reprise_memory_of(START + BYTES - 8, 8), BEYOND);
	range_refused = false;
	ck_assert_uint_eq(reprise_memory_of(START, 8), DEVICE(0));
}
END_TEST

/* What is unknown is never beyond anything. */
START_TEST(unknown_memory_has_no_extent)
{
	memory.type = 0;
	ck_assert_uint_eq(reprise_memory_of(START, BYTES + 1), OTHER);
	ck_assert_uint_eq(reprise_memory_of(START, SIZE_MAX), OTHER);
}
END_TEST

/* Three pieces in a reservation, the last of them behind a gap. */
static void map_by_hand(void)
{
	memory.reserved = 8 * BYTES;
	memory.pieces[1].start = START + BYTES;
	memory.pieces[1].bytes = BYTES;
	memory.pieces[2].start = START + 3 * BYTES;
	memory.pieces[2].bytes = BYTES;
}

static const struct {
	size_t from, bytes;
	bool beyond;
} mapped[] = {
	{0, BYTES, false},         {0, BYTES + 1, false},     {0, 2 * BYTES, false},
	{0, 2 * BYTES + 1, true},  {0, 4 * BYTES, true},      {0, 8 * BYTES, true},
	{8, 2 * BYTES - 8, false}, {8, 2 * BYTES - 7, true},  {BYTES, BYTES, false},
	{BYTES, BYTES + 1, true},  {3 * BYTES, BYTES, false}, {3 * BYTES, BYTES + 1, true},
};

START_TEST(of_a_reservation_only_what_is_mapped_counts)
{
	map_by_hand();
	ck_assert_uint_eq(reprise_memory_of(START + mapped[_i].from, mapped[_i].bytes),
	                  mapped[_i].beyond ? BEYOND : DEVICE(0));
}
END_TEST

START_TEST(a_reservation_that_ends_with_its_last_piece_is_covered)
{
	map_by_hand();
	memory.reserved = 2 * BYTES;
	ck_assert_uint_eq(reprise_memory_of(START, 2 * BYTES), DEVICE(0));
	ck_assert_uint_eq(reprise_memory_of(START, 2 * BYTES + 1), BEYOND);
}
END_TEST

/* ---- what is remembered ---- */

static void change(CUdeviceptr first, CUdeviceptr last)
{
	reprise_changes_begin_range(REPRISE_CHANGES_MEMORY, first, last);
	reprise_changes_end(REPRISE_CHANGES_MEMORY);
}

/* True if the driver was asked about the first bytes of the memory. */
static bool is_asked(size_t bytes)
{
	unsigned int before = questions;

	reprise_memory_of(START, bytes);
	return questions != before;
}

static const struct {
	CUdeviceptr first, last;
	bool asked;
} changes[] = {
	{0, START, false},
	{0, START + 1, true},
	{START + BYTES, UINTPTR_MAX, false},
	{START + BYTES - 1, START + BYTES, true},
	{START + 100, START + 101, true},
	{START, START + BYTES, true},
	{0, UINTPTR_MAX, true},
	{2 * START, 2 * START + 8, false},
};

START_TEST(the_driver_is_asked_again_where_memory_changed)
{
	ck_assert(is_asked(8));
	ck_assert(!is_asked(8));
	ck_assert(!is_asked(BYTES));
	change(changes[_i].first, changes[_i].last);
	ck_assert_int_eq(is_asked(8), changes[_i].asked);
	ck_assert(!is_asked(8));
}
END_TEST

/* The answer is as old as the last change that spared it. */
START_TEST(an_answer_outlives_any_number_of_changes_elsewhere)
{
	ck_assert(is_asked(8));
	for (unsigned int i = 0; i < 4 * REPRISE_CHANGES_KEPT; i++) {
		change(0, START);
		ck_assert(!is_asked(8));
	}
	change(START, START + 1);
	ck_assert(is_asked(8));
}
END_TEST

START_TEST(unknown_memory_is_asked_about_again_after_each_change)
{
	memory.pieces[0].bytes = 0;
	ck_assert(is_asked(8));
	ck_assert(!is_asked(8));
	change(2 * START, 2 * START + 8);
	ck_assert(is_asked(8));
}
END_TEST

START_TEST(while_memory_changes_nothing_is_remembered)
{
	reprise_changes_begin_range(REPRISE_CHANGES_MEMORY, START, START + BYTES);
	ck_assert(is_asked(8));
	ck_assert(is_asked(8));
	reprise_changes_end(REPRISE_CHANGES_MEMORY);
	ck_assert(is_asked(8));
	ck_assert(!is_asked(8));
}
END_TEST

START_TEST(many_addresses_are_told_apart)
{
	map_by_hand();
	for (unsigned int round = 0; round < 2; round++)
		for (CUdeviceptr at = 0; at < 8 * BYTES; at += 64) {
			bool there = at < 2 * BYTES || (at >= 3 * BYTES && at < 4 * BYTES);

			ck_assert_uint_eq(reprise_memory_of(START + at, 64), there ? DEVICE(0) : OTHER);
		}
}
END_TEST

/* ---- what a change spared ---- */

static const struct {
	CUdeviceptr at;
	size_t bytes;
	bool spared;
} spared[] = {
	{START - 8, 8, true},
	{START - 8, 9, false},
	{START, 0, false},
	{START, 1, false},
	{START + BYTES - 1, 0, false},
	{START + BYTES - 1, 1, false},
	{START + BYTES, 0, true},
	{START + BYTES, 8, true},
	{START - 1, 0, true},
	{0, START, true},
	{0, SIZE_MAX, false},
	{2 * START, SIZE_MAX, false},
	{UINTPTR_MAX - 7, 8, false},
	{UINTPTR_MAX - 8, 8, true},
};

START_TEST(a_range_beside_a_change_is_spared)
{
	uint32_t under = reprise_memory_generation();

	change(START, START + BYTES);
	ck_assert_int_eq(reprise_memory_spared(spared[_i].at, spared[_i].bytes, under),
	                 spared[_i].spared);
	ck_assert(!reprise_memory_spared(spared[_i].at, spared[_i].bytes, 0));
}
END_TEST

/* ---- memory of pools ---- */

static bool is_freed(CUdeviceptr address, bool may_ask)
{
	bool told = reprise_memory_free_begin(address, may_ask);

	if (told)
		reprise_memory_free_end();
	return told;
}

START_TEST(a_free_changes_nothing_before_a_pool_is_known)
{
	ck_assert(!is_freed(START, true));
	reprise_memory_of(START, 8);
	ck_assert(!is_freed(START, true));
	memory.pool = 1;
	change(START, START + 1);
	reprise_memory_of(START, 8);
	ck_assert(is_freed(START, true));
	memory.pool = 0;
	reprise_memory_of(START, 8);
	ck_assert(is_freed(START, true));
}
END_TEST

static const struct {
	CUdeviceptr freed;
	bool may_ask, far_is_spared;
} frees[] = {{START, true, true}, {START + 8, true, true}, {START, false, false}, {8, true, false}};

START_TEST(a_free_is_about_its_extent_if_that_can_be_asked)
{
	uint32_t under;

	memory.pool = 1;
	reprise_memory_of(START, 8);
	extents = 0;
	under = reprise_memory_generation();
	ck_assert(is_freed(frees[_i].freed, frees[_i].may_ask));
	ck_assert_uint_eq(extents, frees[_i].may_ask);
	ck_assert(!reprise_memory_spared(START, 1, under));
	ck_assert(!reprise_memory_spared(START + BYTES - 1, 1, under));
	ck_assert_int_eq(reprise_memory_spared(START + BYTES, 1, under), frees[_i].far_is_spared);
	ck_assert_int_eq(reprise_memory_spared(START - 1, 1, under), frees[_i].far_is_spared);
	ck_assert_uint_ne(reprise_memory_learn(), 0);
}
END_TEST

START_TEST(nothing_is_learnt_during_a_free)
{
	memory.pool = 1;
	reprise_memory_of(START, 8);
	ck_assert(reprise_memory_free_begin(START, true));
	ck_assert_uint_eq(reprise_memory_learn(), 0);
	reprise_memory_free_end();
	ck_assert_uint_ne(reprise_memory_learn(), 0);
}
END_TEST

/* ---- devices ---- */

/* Where the driver does not count them, there may be as many as there can be. */
static const struct {
	CUresult answer;
	int count, devices;
} counts[] = {
	{CUDA_SUCCESS, 1, 1},
	{CUDA_SUCCESS, 8, 8},
	{CUDA_SUCCESS, 0, 63},
	{CUDA_ERROR_NOT_INITIALIZED, 1, 63},
};

START_TEST(devices_are_counted_once)
{
	count_answer = counts[_i].answer;
	devices = counts[_i].count;
	ck_assert_int_eq(reprise_memory_devices(), counts[_i].devices);
	questions = 0;
	ck_assert_int_eq(reprise_memory_devices(), counts[_i].devices);
	ck_assert_uint_eq(questions, 0);
}
END_TEST

#define ALL(table) (int)(sizeof(table) / sizeof(table[0]))

int main(void)
{
	Suite *suite = suite_create("memory");
	TCase *tests = tcase_create("memory");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, each_kind_of_memory_is_told, 0, ALL(kinds));
	tcase_add_loop_test(tests, a_range_ends_with_its_memory, 0, ALL(ranges));
	tcase_add_test(tests, each_extent_is_judged_by_itself);
	tcase_add_test(tests, where_it_is_not_told_what_is_mapped_all_is_beyond);
	tcase_add_test(tests, unknown_memory_has_no_extent);
	tcase_add_loop_test(tests, of_a_reservation_only_what_is_mapped_counts, 0, ALL(mapped));
	tcase_add_test(tests, a_reservation_that_ends_with_its_last_piece_is_covered);
	tcase_add_loop_test(tests, the_driver_is_asked_again_where_memory_changed, 0, ALL(changes));
	tcase_add_test(tests, an_answer_outlives_any_number_of_changes_elsewhere);
	tcase_add_test(tests, unknown_memory_is_asked_about_again_after_each_change);
	tcase_add_test(tests, while_memory_changes_nothing_is_remembered);
	tcase_add_test(tests, many_addresses_are_told_apart);
	tcase_add_loop_test(tests, a_range_beside_a_change_is_spared, 0, ALL(spared));
	tcase_add_test(tests, a_free_changes_nothing_before_a_pool_is_known);
	tcase_add_loop_test(tests, a_free_is_about_its_extent_if_that_can_be_asked, 0, ALL(frees));
	tcase_add_test(tests, nothing_is_learnt_during_a_free);
	tcase_add_loop_test(tests, devices_are_counted_once, 0, ALL(counts));
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
