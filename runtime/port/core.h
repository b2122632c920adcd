/* A thread that measures: where it runs, and whether others may interrupt it. Part of the host. */
#ifndef BACUS_CORE_H
#define BACUS_CORE_H

#include <stdint.h>

/* Keeps the calling thread on the last core that it may use. */
void core_pin(void);

/* The thread, and what it starts from now on, may run on every core again. */
void core_spread(void);

/* From now on nothing of ordinary priority interrupts the calling thread (`held` 1), or as usual again (0). 0 where the system does not allow it. */
int core_hold(uint32_t held);

/* Whether the calling thread has its core for itself just now, as far as can be seen. Threads of one core slow each other down by up to two, and the other may
 * be another guest's, which no priority keeps away. A piece of work that is always the same, some microseconds, takes no longer than it ever took here. */
int core_is_alone(void);

#endif
