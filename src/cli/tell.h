/* The lines of `reprise doctor`: what something is, and what it says of it; and beneath it, what to
 * do about it. */
#pragma once

__attribute__((format(printf, 2, 3))) void reprise_cli_tell(const char *what, const char *format,
                                                            ...);

/* Something that is in the way, in one sentence, and what to do about it, in another. */
void reprise_cli_tell_conflict(const char *what, const char *remedy);
