/*
 * The connections to the control socket: a bounded number, and none makes another wait. Only the
 * wait itself blocks.
 *
 * For one thread. A client has one second for its word, and one for each piece of its answer. If
 * all slots are taken, a new connection replaces the oldest one, which first gets a moment to say
 * its word.
 */
#pragma once

#include "control/peer.h"

#define REPRISE_CLIENTS_MOST 32

/* Does what the word asks. A short answer is sent at once. A long one is returned as a file, which
 * is sent from its beginning and then closed; -1 if there is none. */
typedef int (*reprise_clients_obey)(int connection, enum reprise_control_word word);

/* Waits for something to happen and handles it. False if no connection can come any more, or if the
 * program has locked itself in. The listener does not block. */
bool reprise_clients_wait(int listener, reprise_clients_obey obey);
