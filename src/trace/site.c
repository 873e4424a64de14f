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

/* Segments' numbers go round: compared by their difference, a place that was never used, of segment
 * 0, is newer than any site for half of them. */
static bool is_older(const struct reprise_site *site, const struct reprise_site *other)
{
	return site->key == 0 ? other->key != 0
	                      : other->key != 0 && (int32_t)(other->segment - site->segment) > 0;
}

/* The site of this key, or else the one to replace. */
static struct reprise_site *find(struct reprise_sites *sites, uint32_t key)
{
	struct reprise_site *row = sites->rows[key * 0x9e3779b1u >> (32 - REPRISE_SITE_ROW_BITS)],
						*oldest = row;

	for (struct reprise_site *site = row; site < row + REPRISE_SITE_ROW; site++) {
		if (site->key == key)
			return site;
		if (is_older(site, oldest))
			oldest = site;
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
static bool comes_back(const struct reprise_site *site, const struct reprise_visit *visit)
{
	return visit->since_wait < REPRISE_TUNE_NEAR_WAIT ||
	       visit->since_wait >= REPRISE_TUNE_SITE_FAR || visit->segment - site->segment > 1;
}

static void count_up(uint8_t *count, bool by_one)
{
	*count += by_one && *count < UINT8_MAX;
}

void reprise_site_visit(struct reprise_sites *sites, uint32_t key,
                        const struct reprise_visit *visit)
{
	struct reprise_site *site = find(sites, key);

	if (site->key != key)
		*site = (struct reprise_site){.key = key, .segment = visit->segment - 2};
	if (site->segment != visit->segment) {
		count_up(&site->visits, true);
		count_up(&site->returns, comes_back(site, visit));
		site->segment = visit->segment;
	}
	site->news = (uint8_t)(site->news << 1 | (!came_before(site, visit->value) && visit->is_new));
	if (visit->next != 0) {
		site->surprises = (uint8_t)(site->surprises << 1 | (site->next != (uint32_t)visit->next));
		site->next = (uint32_t)visit->next;
	}
	/* The least, so that an interrupt is not taken for the program's gap. */
	if (site->visits < least[REPRISE_SITE_BY_SEGMENT].known || visit->gap < site->gap)
		site->gap = visit->gap;
}

struct reprise_judgement reprise_site_judge(struct reprise_sites *sites,
                                            const uint32_t keys[REPRISE_SITE_BY_COUNT])
{
	for (unsigned int by = 0; by < REPRISE_SITE_BY_COUNT; by++) {
		const struct reprise_site *site = keys[by] != 0 ? find(sites, keys[by]) : NULL;

		if (site != NULL && site->key == keys[by] && site->visits >= least[by].known)
			return (struct reprise_judgement){site, site->returns >= least[by].stable &&
			                                            __builtin_popcount(site->surprises) <
			                                                REPRISE_TUNE_SITE_RANDOM};
	}
	return (struct reprise_judgement){NULL, false};
}

bool reprise_site_is_any_value(const struct reprise_judgement *judgement)
{
	unsigned int news = judgement->site->news;

	return judgement->stable ? __builtin_popcount(news) >= REPRISE_TUNE_SITE_NEWS : news & 1;
}
