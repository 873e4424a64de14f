/*
 * Who is connected to the socket of control: a bounded number at once, none of whom keeps another
 * waiting. Nothing here blocks but the wait itself.
 *
 * One thread's. A guest has a second to say its word, and a second for each further piece of its
 * answer. Where there are as many as may be, whoever comes takes the place of the one that has been
 * there longest, after a moment in which that one can still say its word.
 */
#pragma once

#include "control/peer.h"

#define REPRISE_GUESTS_MOST 32

/*
 * Does what the word asks. What there is to answer in a few bytes is sent at once; what may be more
 * is returned as a file, read from its beginning, which is closed when it has been sent; -1 if
 * there is nothing more.
 */
typedef int (*reprise_guests_obey)(int connection, enum reprise_control_word word);

/*
 * Waits until something happens, and sees to it. False if nobody can come any more, or is to be
 * seen to, since the program has locked itself in. The listener does not block.
 */
bool reprise_guests_wait(int listener, reprise_guests_obey obey);
