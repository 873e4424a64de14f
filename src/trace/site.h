/* Sites: where in a stream an op comes, told by the ops around it, and what the ops at a site have
 * in common. The table has a bounded size: the site visited longest ago is forgotten first. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tuning.h"

#define REPRISE_SITE_ROW_BITS 10
#define REPRISE_SITE_ROW 4

/* What sites are told apart by, from narrow to wide. */
enum reprise_site_by {
	REPRISE_SITE_BY_SEGMENT, /* the shapes of the whole segment, and the index in it */
	/* the shape before, and the distance from the last wait if that is near */
	REPRISE_SITE_BY_POSITION,
	REPRISE_SITE_BY_CONTEXT, /* the last few shapes, anywhere */
	REPRISE_SITE_BY_COUNT
};

struct reprise_site {
	uint32_t gap;      /* ticks: the least since the site is known */
	uint8_t visits;    /* segments with this site */
	uint8_t returns;   /* visits that were not in the midst of segments that look alike */
	uint8_t news;      /* a bit for each of the last ops, the latest lowest: the value was new */
	uint8_t surprises; /* likewise: another shape came next than the time before */
	uint8_t next_value;
	uint32_t next; /* the shape that came next, truncated */
	/* Truncated hashes: at worst a patch too many, or a trace too many. */
	uint32_t values[REPRISE_TUNE_SITE_VALUES];
};

/* What a search reads comes first, on a cache line or two. */
struct reprise_site_row {
	uint32_t keys[REPRISE_SITE_ROW];     /* 0: none */
	uint32_t segments[REPRISE_SITE_ROW]; /* of the last visits */
	struct reprise_site sites[REPRISE_SITE_ROW];
};

struct reprise_sites {
	struct reprise_site_row rows[1u << REPRISE_SITE_ROW_BITS];
};

/* What a site is asked for by, so that it is searched for once. Another one may have replaced it
 * since it was visited. */
struct reprise_site_name {
	uint32_t key;   /* 0: no site */
	uint16_t place; /* where it was visited last */
};

/* An op at a site. */
struct reprise_visit {
	uint32_t segment;        /* the segment's number */
	unsigned int since_wait; /* ops since the last wait */
	uint32_t gap;            /* before the op, in ticks */
	uint64_t value;
	bool is_new;   /* the value did not follow the two before it earlier */
	uint64_t next; /* the next op's shape; 0 if none came yet */
};

uint32_t reprise_site_key(uint64_t hash);

/* Notes the op at the site of this key, and sets the name's place. */
void reprise_site_visit(struct reprise_sites *sites, struct reprise_site_name *name,
                        const struct reprise_visit *visit);

/* What is known of a site. `stable`: the op returned often enough, with the same shape after it,
 * that its any-value judgement holds. */
struct reprise_judgement {
	const struct reprise_site *site;
	bool stable;
};

/* Judges by the narrowest known site of these, which were visited; `site` is NULL if none is
 * known. */
struct reprise_judgement reprise_site_judge(
	const struct reprise_sites *sites, const struct reprise_site_name names[REPRISE_SITE_BY_COUNT]);

/* True if the value is almost always new. */
bool reprise_site_is_any_value(const struct reprise_judgement *judgement);

/* The position of an op: what came before it in the lane. */

/* `before`: the shape of an op, or one of these. */
#define REPRISE_BEFORE_NOTHING 1u
#define REPRISE_BEFORE_BARRIER 2u /* a barrier without a wait of the host */
#define REPRISE_BEFORE_WAIT 3u    /* the host waited: the stream was empty */

struct reprise_position {
	uint64_t before;
	uint64_t value;          /* of the op before; 0: none, or an any-value op */
	unsigned int since_wait; /* ops since the last wait */
};
