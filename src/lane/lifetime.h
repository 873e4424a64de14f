/* The doors of what ends or changes (LIFETIME): everything deferred is issued, and the traces that refer to it are forgotten. */
#pragma once

/* Forgets the traces of all lanes. Building is paused. */
void reprise_lanes_forget_all(void);
