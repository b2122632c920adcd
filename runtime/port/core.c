/* A thread that measures. Part of the host. */
#define _GNU_SOURCE
#include "port/core.h"

#include <sched.h>
#include <x86intrin.h>

#define CORE_PRIORITY 50
/* Of the piece of work: chains that do not wait for each other, steps, and words that they read. */
#define CORE_CHAINS 8u
#define CORE_STEPS 512u
#define CORE_WORDS 256u
#define CORE_MULTIPLIER 0x9e3779b97f4a7c15ull
/* A thread is not alone if the work takes longer than ever before by more than one part of so many. */
#define CORE_SHARED 12u

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

/* Ticks of a piece of work that leaves no port of the core idle. */
static uint64_t
core_work(void)
{
	uint64_t words[CORE_WORDS] = { 0 }, chains[CORE_CHAINS], sum = 0;
	const uint64_t start = __rdtsc();

	for (uint32_t chain = 0; chain < CORE_CHAINS; chain++)
		chains[chain] = chain;
	for (uint32_t step = 0; step < CORE_STEPS; step++) {
		for (uint32_t chain = 0; chain < CORE_CHAINS; chain++)
			chains[chain] = chains[chain] * CORE_MULTIPLIER + words[chains[chain] >> 32 & (CORE_WORDS - 1)];
		/* Nobody knows what the words are, so the work is done. */
		__asm__ volatile("" : : "r"(words) : "memory");
	}
	for (uint32_t chain = 0; chain < CORE_CHAINS; chain++)
		sum += chains[chain];
	__asm__ volatile("" : : "r"(sum));
	return __rdtsc() - start;
}

int
core_is_alone(void)
{
	static uint64_t shortest = UINT64_MAX;
	const uint64_t ticks = core_work(), before = __atomic_load_n(&shortest, __ATOMIC_RELAXED);

	if (ticks >= before)
		return ticks <= before + before / CORE_SHARED;
	__atomic_store_n(&shortest, ticks, __ATOMIC_RELAXED);
	return 1;
}
