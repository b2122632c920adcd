/* Counters: each worker counts in cells of its own, and whoever reads adds them up, so counting costs no lock and no shared line. */
#ifndef BACUS_COUNTER_H
#define BACUS_COUNTER_H

#include "abi.h"

/* So many packets, of so many bytes together, in a cell that the counter has. */
static inline void
counter_add_some(const struct worker *worker, uint32_t counter, uint64_t index, uint64_t packets, uint64_t bytes)
{
	struct counter_cell *cell = &worker->counters[counter][index];

	/* Single stores, so that who reads from another thread never sees half a number. */
	__atomic_store_n(&cell->packets, cell->packets + packets, __ATOMIC_RELAXED);
	__atomic_store_n(&cell->bytes, cell->bytes + bytes, __ATOMIC_RELAXED);
}

/* An index that the counter does not have counts nothing. `size` is the descriptor's, or for a direct counter UINT64_MAX with `record_cell` as index. */
static inline void
counter_add(const struct worker *worker, uint32_t counter, uint64_t size, uint64_t index, uint64_t bytes)
{
	if (index < size)
		counter_add_some(worker, counter, index, 1, bytes);
}

/* Drop reasons, hits and misses of tables, edges: plain numbers of the worker. */
static inline void
counter_increase(uint64_t *cell, uint64_t by)
{
	__atomic_store_n(cell, *cell + by, __ATOMIC_RELAXED);
}

static inline void
counter_increment(uint64_t *cell)
{
	counter_increase(cell, 1);
}

#endif
