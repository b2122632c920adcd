/* A thread that measures. Part of the host. */
#define _GNU_SOURCE
#include "port/core.h"

#include <sched.h>

#define CORE_PRIORITY 50

void
core_pin(void)
{
	cpu_set_t allowed, one;
	int last = -1;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	for (int core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, &allowed))
			last = core;
	if (last < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(last, &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
}

void
core_spread(void)
{
	cpu_set_t all;

	CPU_ZERO(&all);
	for (int core = 0; core < CPU_SETSIZE; core++)
		CPU_SET(core, &all);
	(void)sched_setaffinity(0, sizeof(all), &all);
}

int
core_hold(uint32_t held)
{
	const struct sched_param fifo = { .sched_priority = CORE_PRIORITY }, usual = { .sched_priority = 0 };

	return held ? sched_setscheduler(0, SCHED_FIFO, &fifo) == 0 : sched_setscheduler(0, SCHED_OTHER, &usual) == 0;
}
