/* The thread that launches pending visits (lane/submission.h). */
#pragma once

/* Before the first op. */
void reprise_submission_define(void);

/* At exit: the thread does nothing more. */
void reprise_submission_stop(void);

/* After fork, in the child: there is no thread. */
void reprise_submission_reset(void);
