#include "trace/place.h"

#include <stddef.h>

#include "trace/spot.h"

/* What halving and doubling these changes over recorded programs:
 * docs/results/2026-11-23-numbers.md, scripts/sensitivity. So with those of other files there. */
#define FAR 8192 /* ops: who has not waited for so long has come round, whatever the period */
#define LOOSE 3  /* new values among the last eight */
#define RANDOM 2 /* surprises among the last eight: nothing repeats but by chance */

/* Visits that make a place known (two are timed), and returns that settle it. Many ops share a wide
 * place, so it takes longer. */
static const struct {
	unsigned int known, settled;
} least[REPRISE_PLACE_BY_COUNT] = {
	[REPRISE_PLACE_BY_SEGMENT] = {3, 7},
	[REPRISE_PLACE_BY_POSITION] = {3, 7},
	[REPRISE_PLACE_BY_CONTEXT] = {6, 28},
};

uint32_t reprise_place_key(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | 1;
}

/* The place of this key, or else the one that would give way to it. */
static struct reprise_place *find(struct reprise_places *places, uint32_t key)
{
	struct reprise_place *row = places->rows[key * 0x9e3779b1u >> (32 - REPRISE_PLACE_ROW_BITS)],
						 *oldest = row;

	for (struct reprise_place *place = row; place < row + REPRISE_PLACE_ROW; place++) {
		if (place->key == key)
			return place;
		if ((int32_t)(oldest->segment - place->segment) > 0)
			oldest = place;
	}
	return oldest;
}

/* True if the value came at one of the last visits; notes it. */
static bool came_before(struct reprise_place *place, uint64_t value)
{
	uint32_t short_value = (uint32_t)(value >> 32);

	for (unsigned int i = 0; i < REPRISE_PLACE_VALUES; i++)
		if (place->values[i] == short_value)
			return true;
	place->values[place->next_value] = short_value;
	place->next_value = (place->next_value + 1) % REPRISE_PLACE_VALUES;
	return false;
}

/* In a long chain of one kernel all segments look alike: to be in the next one, too, is not to come
 * back. */
static bool comes_back(const struct reprise_place *place, const struct reprise_visit *visit)
{
	return visit->position < REPRISE_NEAR_WAIT || visit->position >= FAR ||
	       visit->segment - place->segment > 1;
}

static void count_up(uint8_t *count, bool by_one)
{
	*count += by_one && *count < UINT8_MAX;
}

void reprise_place_visit(struct reprise_places *places, uint32_t key,
                         const struct reprise_visit *visit)
{
	struct reprise_place *place = find(places, key);

	if (place->key != key)
		*place = (struct reprise_place){.key = key, .segment = visit->segment - 2};
	if (place->segment != visit->segment) {
		count_up(&place->visits, true);
		count_up(&place->returns, comes_back(place, visit));
		place->segment = visit->segment;
	}
	place->news =
		(uint8_t)(place->news << 1 | (!came_before(place, visit->value) && visit->is_new));
	if (visit->next != 0) {
		place->surprises =
			(uint8_t)(place->surprises << 1 | (place->next != (uint32_t)visit->next));
		place->next = (uint32_t)visit->next;
	}
	/* The least, so that one interrupt is not taken for a habit of the program's. */
	if (place->visits < least[REPRISE_PLACE_BY_SEGMENT].known || visit->gap < place->gap)
		place->gap = visit->gap;
}

struct reprise_judgement reprise_place_judge(struct reprise_places *places,
                                             const uint32_t keys[REPRISE_PLACE_BY_COUNT])
{
	for (unsigned int by = 0; by < REPRISE_PLACE_BY_COUNT; by++) {
		const struct reprise_place *place = keys[by] != 0 ? find(places, keys[by]) : NULL;

		if (place != NULL && place->key == keys[by] && place->visits >= least[by].known)
			return (struct reprise_judgement){place,
			                                  place->returns >= least[by].settled &&
			                                      __builtin_popcount(place->surprises) < RANDOM};
	}
	return (struct reprise_judgement){NULL, false};
}

bool reprise_place_is_loose(const struct reprise_judgement *judgement)
{
	unsigned int news = judgement->place->news;

	return judgement->settled ? __builtin_popcount(news) >= LOOSE : news & 1;
}
