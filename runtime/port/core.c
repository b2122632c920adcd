/* A thread that measures, and who shares its core. Part of the host. */
#define _GNU_SOURCE
#include "port/core.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <x86intrin.h>

#define CORE_PRIORITY 50
/* Of work in the background. Beside threads of ordinary priority it gets a tenth of a core, so that it ends in the end. */
#define CORE_NICE 10
/* Of the piece of work: chains that do not wait for each other, steps, and words that they read. The first steps are not timed: they bring the code. */
#define CORE_CHAINS 8u
#define CORE_STEPS 512u
#define CORE_FIRST 16u
#define CORE_WORDS 256u
#define CORE_MULTIPLIER 0x9e3779b97f4a7c15ull
/* A thread is not alone if the work takes longer than ever before by more than one part of so many. */
#define CORE_SHARED 12u
/* The shortest time is kept in parts of a tick, and becomes longer by one part of so many each time, since the core's clock may have become slower. */
#define CORE_FRACTION 16
#define CORE_AGE 17

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
	const struct sched_param fifo = { .sched_priority = CORE_PRIORITY }, ordinary = { .sched_priority = 0 };

	return held ? sched_setscheduler(0, SCHED_FIFO, &fifo) == 0 : sched_setscheduler(0, SCHED_OTHER, &ordinary) == 0;
}

void
core_background(void)
{
	(void)setpriority(PRIO_PROCESS, 0, CORE_NICE);
}

static uint64_t shortest = UINT64_MAX;

/* Steps of all chains. Not made wider by vectors, which would be other work. */
static inline void
core_steps(const uint64_t *words, uint64_t *chains, uint32_t steps)
{
	for (uint32_t step = 0; step < steps; step++) {
		for (uint32_t chain = 0; chain < CORE_CHAINS; chain++) {
			chains[chain] = chains[chain] * CORE_MULTIPLIER + words[chains[chain] >> 32 & (CORE_WORDS - 1)];
			__asm__ volatile("" : "+r"(chains[chain]));
		}
	}
}

uint64_t
core_work(void)
{
	uint64_t words[CORE_WORDS] = { 0 }, chains[CORE_CHAINS], start, ticks, before;

	for (uint32_t chain = 0; chain < CORE_CHAINS; chain++)
		chains[chain] = chain;
	core_steps(words, chains, CORE_FIRST);
	start = __rdtsc();
	core_steps(words, chains, CORE_STEPS);
	ticks = __rdtsc() - start;
	before = __atomic_load_n(&shortest, __ATOMIC_RELAXED);
	before = before == UINT64_MAX ? before : before + (before >> CORE_AGE);
	__atomic_store_n(&shortest, ticks << CORE_FRACTION < before ? ticks << CORE_FRACTION : before, __ATOMIC_RELAXED);
	return ticks;
}

int
core_was_alone(uint64_t ticks)
{
	const uint64_t least = __atomic_load_n(&shortest, __ATOMIC_RELAXED) >> CORE_FRACTION;

	return ticks <= least + least / CORE_SHARED;
}

uint64_t
core_process_ns(void)
{
	struct timespec time = { 0 };

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
