/* A thread that measures: where it runs, whether others may interrupt it, and whether another one shares its core. Part of the host. */
#ifndef BACUS_CORE_H
#define BACUS_CORE_H

#include <stdint.h>

/* Keeps the calling thread on the last core that it may use. */
void core_pin(void);

/* The thread, and what it starts from now on, may run on every core again. */
void core_spread(void);

/* `held` 1: nothing of ordinary priority interrupts the calling thread from now on. `held` 0: the thread has ordinary priority again. 0 where the
 * system does not allow it. */
int core_hold(uint32_t held);
/* Gives the thread, and what it starts from now on, about a tenth of a core on which others run as well. */
void core_background(void);

/* Ticks of a piece of work that is always the same, a microsecond or two, and leaves no port of the core idle. Threads of one core slow each other down by up
 * to two, and the other may be another guest's, which no priority keeps away: then it takes longer. */
uint64_t core_work(void);

/* Whether a thread whose work took so many ticks had the core for itself, as far as can be seen: the work has hardly ever been shorter in this process. That
 * the core's clock has become slower is believed after some ten thousand times. */
int core_was_alone(uint64_t ticks);

/* Nanoseconds that the threads of this process have run, together. */
uint64_t core_process_ns(void);

#endif
