/* Amounts formatted for people. */
#pragma once

#define REPRISE_AMOUNT_MOST 32

/* 1204331 becomes 1,204,331. Returns `text`. */
const char *reprise_amount_count(unsigned long long value, char text[REPRISE_AMOUNT_MOST]);

/* Three digits, in the unit that fits. Returns `text`. */
const char *reprise_amount_duration(double ns, char text[REPRISE_AMOUNT_MOST]);
