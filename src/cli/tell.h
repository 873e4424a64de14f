/* The lines of `reprise doctor`: a name and what is known of it. */
#pragma once

__attribute__((format(printf, 2, 3))) void reprise_cli_tell(const char *what, const char *format,
                                                            ...);

/* A conflict, in one sentence, and what to do about it, in another. */
void reprise_cli_tell_conflict(const char *what, const char *remedy);
