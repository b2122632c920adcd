/* Counters: each worker has elements of its own, and readers sum them up, so counting needs no lock and
 * shares no cache line. */
#ifndef BACUS_COUNTER_H
#define BACUS_COUNTER_H

#include "abi.h"

/* Counts packets and bytes at an index that the counter has. */
static inline void
counter_add_some(const struct worker *worker, uint32_t counter, uint64_t index, uint64_t packets, uint64_t bytes)
{
	struct counter_element *element = &worker->counters[counter][index];

	/* Single stores, so that a reader on another thread never sees a torn value. */
	__atomic_store_n(&element->packets, element->packets + packets, __ATOMIC_RELAXED);
	__atomic_store_n(&element->bytes, element->bytes + bytes, __ATOMIC_RELAXED);
}

/* An index out of range counts nothing. `size` is the descriptor's, or for a direct counter UINT64_MAX with
 * `record_counter_index` as index. */
static inline void
counter_add(const struct worker *worker, uint32_t counter, uint64_t size, uint64_t index, uint64_t bytes)
{
	if (index < size)
		counter_add_some(worker, counter, index, 1, bytes);
}

/* Drop reasons, hits and misses of tables, edges: plain counts of the worker. */
static inline void
counter_increase(uint64_t *element, uint64_t by)
{
	__atomic_store_n(element, *element + by, __ATOMIC_RELAXED);
}

static inline void
counter_increment(uint64_t *element)
{
	counter_increase(element, 1);
}

#endif
