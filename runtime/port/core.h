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

/* Ticks that a fixed piece of work takes, some microseconds, which leaves no port of the core idle: more where another thread shares the core, be it of
 * another guest, which no priority keeps away. */
uint64_t core_work(void);

#endif
