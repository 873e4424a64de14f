#include "trace/site.h"

#include <stddef.h>

#include "base/tuning.h"

/* Visits after which a site is known (the gap of the first one is dropped), and returns after which
 * it is stable. Many ops share a wide site, so it takes more. */
static const struct {
	unsigned int known, stable;
} least[REPRISE_SITE_BY_COUNT] = {
	[REPRISE_SITE_BY_SEGMENT] = {REPRISE_TUNE_SITE_SEGMENT_KNOWN, REPRISE_TUNE_SITE_SEGMENT_STABLE},
	[REPRISE_SITE_BY_POSITION] = {REPRISE_TUNE_SITE_POSITION_KNOWN,
                                  REPRISE_TUNE_SITE_POSITION_STABLE},
	[REPRISE_SITE_BY_CONTEXT] = {REPRISE_TUNE_SITE_CONTEXT_KNOWN, REPRISE_TUNE_SITE_CONTEXT_STABLE},
};

uint32_t reprise_site_key(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | 1;
}

/* Segments' numbers go round, and none is later than `now`. A place that was never used is older
 * than any site. */
static uint32_t age_of(const struct reprise_site_row *row, unsigned int at, uint32_t now)
{
	return row->keys[at] == 0 ? UINT32_MAX : now - row->segments[at];
}

/* The index in the row of this key's site, or else of the one to replace. */
static unsigned int find(const struct reprise_site_row *row, uint32_t key, uint32_t now)
{
	unsigned int oldest = 0;
	uint32_t oldest_age;

	for (unsigned int at = 0; at < REPRISE_SITE_ROW; at++)
		if (row->keys[at] == key)
			return at;
	oldest_age = age_of(row, 0, now);
	for (unsigned int at = 1; at < REPRISE_SITE_ROW; at++) {
		uint32_t age = age_of(row, at, now);

		oldest = age > oldest_age ? at : oldest;
		oldest_age = age > oldest_age ? age : oldest_age;
	}
	return oldest;
}

/* True if the site remembers the value; notes it otherwise. */
static bool came_before(struct reprise_site *site, uint64_t value)
{
	uint32_t short_value = (uint32_t)(value >> 32);

	for (unsigned int i = 0; i < REPRISE_TUNE_SITE_VALUES; i++)
		if (site->values[i] == short_value)
			return true;
	site->values[site->next_value] = short_value;
	site->next_value = (site->next_value + 1) % REPRISE_TUNE_SITE_VALUES;
	return false;
}

/* In a long chain of one kernel all segments look alike: to be in the next one is no return. */
static bool comes_back(uint32_t segment, const struct reprise_visit *visit)
{
	return visit->since_wait < REPRISE_TUNE_NEAR_WAIT ||
	       visit->since_wait >= REPRISE_TUNE_SITE_FAR || visit->segment - segment > 1;
}

static void count_up(uint8_t *count, bool by_one)
{
	*count += by_one && *count < UINT8_MAX;
}

/* The first visit counts as a return, and its value is not compared. */
static void begin(struct reprise_site *site, const struct reprise_visit *visit)
{
	uint32_t short_value = (uint32_t)(visit->value >> 32), next = (uint32_t)visit->next;

	*site = (struct reprise_site){
		.gap = visit->gap,
		.visits = 1,
		.returns = 1,
		.news = short_value != 0 && visit->is_new,
		.surprises = next != 0,
		.next_value = short_value != 0,
		.next = next,
		.values = {short_value},
	};
}

static void go_on(struct reprise_site *site, const struct reprise_visit *visit)
{
	site->news = (uint8_t)(site->news << 1 | (!came_before(site, visit->value) && visit->is_new));
	if (visit->next != 0) {
		site->surprises = (uint8_t)(site->surprises << 1 | (site->next != (uint32_t)visit->next));
		site->next = (uint32_t)visit->next;
	}
	/* The least, so that an interrupt is not taken for the program's gap. */
	if (site->visits < least[REPRISE_SITE_BY_SEGMENT].known || visit->gap < site->gap)
		site->gap = visit->gap;
}

void reprise_site_visit(struct reprise_sites *sites, struct reprise_site_name *name,
                        const struct reprise_visit *visit)
{
	uint32_t key = name->key, number = key * 0x9e3779b1u >> (32 - REPRISE_SITE_ROW_BITS);
	struct reprise_site_row *row = &sites->rows[number];
	unsigned int at = find(row, key, visit->segment);
	struct reprise_site *site = &row->sites[at];
	uint32_t segment = row->segments[at];
	bool fresh = row->keys[at] != key;

	name->place = (uint16_t)(number * REPRISE_SITE_ROW + at);
	row->segments[at] = visit->segment;
	if (fresh) {
		row->keys[at] = key;
		begin(site, visit);
		return;
	}
	if (segment != visit->segment) {
		count_up(&site->visits, true);
		count_up(&site->returns, comes_back(segment, visit));
	}
	go_on(site, visit);
}

/* Without the processor's instruction for it, which not all have, the compiler calls a function. */
static unsigned int bits_of(uint8_t byte)
{
	unsigned int bits = byte - (byte >> 1 & 0x55u);

	bits = (bits & 0x33) + (bits >> 2 & 0x33);
	return (bits + (bits >> 4)) & 0xf;
}

struct reprise_judgement reprise_site_judge(
	const struct reprise_sites *sites, const struct reprise_site_name names[REPRISE_SITE_BY_COUNT])
{
	for (unsigned int by = 0; by < REPRISE_SITE_BY_COUNT; by++) {
		const struct reprise_site_row *row = &sites->rows[names[by].place / REPRISE_SITE_ROW];
		unsigned int at = names[by].place % REPRISE_SITE_ROW;
		const struct reprise_site *site = &row->sites[at];

		if (names[by].key != 0 && row->keys[at] == names[by].key && site->visits >= least[by].known)
			return (struct reprise_judgement){site, site->returns >= least[by].stable &&
			                                            bits_of(site->surprises) <
			                                                REPRISE_TUNE_SITE_RANDOM};
	}
	return (struct reprise_judgement){NULL, false};
}

bool reprise_site_is_any_value(const struct reprise_judgement *judgement)
{
	uint8_t news = judgement->site->news;

	return judgement->stable ? bits_of(news) >= REPRISE_TUNE_SITE_NEWS : news & 1;
}
