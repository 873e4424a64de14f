/*
 * Places: where in a program's stream an op comes, as far as can be told from what is around it;
 * and what the ops that came there had in common. A table of bounded size: the place that was
 * visited longest ago is forgotten first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REPRISE_SITE_ROW_BITS 10
#define REPRISE_SITE_ROW 4
#define REPRISE_SITE_VALUES 6 /* different values remembered: longer cycles are not seen */

/* By what places are told apart, from narrow to wide. */
enum reprise_site_by {
	REPRISE_SITE_BY_SEGMENT,  /* the shapes of the whole segment, and where in it */
	REPRISE_SITE_BY_POSITION, /* the shape before and the distance from the last wait, if that is
	                              near */
	REPRISE_SITE_BY_CONTEXT,  /* the last few shapes, wherever they are */
	REPRISE_SITE_BY_COUNT
};

struct reprise_site {
	uint32_t key;      /* never 0 */
	uint32_t segment;  /* at the last visit */
	uint32_t gap;      /* the least since it is known, in ticks */
	uint8_t visits;    /* segments that it was in */
	uint8_t returns;   /* of these, not in the midst of others that look alike */
	uint8_t news;      /* a bit for each of the last ops, the latest lowest: its value was new */
	uint8_t surprises; /* the same: another shape came next than the time before */
	uint8_t next_value;
	uint32_t next;                        /* the shape of what came next, cut short */
	uint32_t values[REPRISE_SITE_VALUES]; /* hashes, cut short: at worst a patch that need not have
	                                          been, or a trace too many */
};

struct reprise_sites {
	struct reprise_site rows[1u << REPRISE_SITE_ROW_BITS][REPRISE_SITE_ROW];
};

/* An op on a visit. */
struct reprise_visit {
	uint32_t segment;        /* counts segments */
	unsigned int since_wait; /* ops since the last wait */
	uint32_t gap;            /* before it, in ticks */
	uint64_t value;
	bool is_new;   /* the value, as far as is known elsewhere */
	uint64_t next; /* shape; 0 if nothing came yet */
};

uint32_t reprise_site_key(uint64_t hash);

void reprise_site_visit(struct reprise_sites *sites, uint32_t key,
                        const struct reprise_visit *visit);

/* What is known of a place: `settled` if the op came back so often, and what comes next is so sure,
 * that what is loose stays so. */
struct reprise_judgement {
	const struct reprise_site *site;
	bool settled;
};

/* By the narrowest of these places that is known; place is NULL if none is. A key of 0 is no place.
 */
struct reprise_judgement reprise_site_judge(struct reprise_sites *sites,
                                            const uint32_t keys[REPRISE_SITE_BY_COUNT]);

/* Whether the op's value is as good as never one that came before. */
bool reprise_site_is_any_value(const struct reprise_judgement *judgement);
