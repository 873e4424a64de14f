/*
 * What processes share of an event created with CU_EVENT_INTERPROCESS: how often it was recorded,
 * and up to which record all has finished. It stands in a file without a name, which another
 * process opens by way of /proc. Only records in streams are shared, not those of graphs and
 * contexts.
 */
#pragma once

#include "sim.h"

struct sim_shared_event;

/* What was recorded last, in whichever process. It stays mapped while the process lives. */
struct sim_shared_event *sim_shared_event_new(int *file);
uint64_t sim_shared_event_count(const struct sim_shared_event *shared);
bool sim_shared_event_has_finished(const struct sim_shared_event *shared, uint64_t count);

/* A record is enqueued, and is the count-th; it has been run. */
uint64_t sim_shared_event_record(struct sim_shared_event *shared);
void sim_shared_event_finish(struct sim_shared_event *shared, uint64_t count);

/* The handle by which another process opens it; NULL if the handle is none, or of this process. */
void sim_shared_event_export(CUipcEventHandle *handle, int file);
struct sim_shared_event *sim_shared_event_import(const CUipcEventHandle *handle);
