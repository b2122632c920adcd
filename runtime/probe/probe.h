/* What `bacus calibrate` measures: kernels that touch memory in one known pattern and return cycles of the time stamp counter.
 *
 * A kernel returns one short sample (some 0.1 ms); the caller takes many and their median, for these machines are shared. Compiled on the
 * machine it measures, so that gathers are there where the CPU has them. */
#ifndef BACUS_PROBE_H
#define BACUS_PROBE_H

#include <stddef.h>
#include <stdint.h>

/* Memory of `bytes`, a power of two, touched, in the largest pages that could be had; the system reports which those are. */
struct probe_memory {
	uint8_t *lines;
	size_t bytes;
};

enum probe_access {
	PROBE_LOAD,		/* chains of dependent loads */
	PROBE_GATHER,		/* chains of dependent vector gathers */
	PROBE_PREFETCH_T0,	/* a stream that asks for lines ahead of their use */
	PROBE_PREFETCH_T1,
	PROBE_GROUP_T0,		/* all lines of a group are prefetched, then all are read */
	PROBE_GROUP_T1,
	PROBE_BUSY_T0,		/* a stream with some 60 operations between its lines: what it costs more than these, no work hides */
	PROBE_BUSY_T1,
	PROBE_ACCESSES
};

/* 0, or -1 where there is not that much memory. */
int probe_allocate(struct probe_memory *memory, size_t bytes);

/* The same, in pages of 4 KB. */
int probe_allocate_small(struct probe_memory *memory, size_t bytes);
void probe_free(struct probe_memory *memory);

/* Reads the first `bytes` of the memory, a power of two, through once, and then in the order of chance: what the caches keep of them is there. */
void probe_touch(const struct probe_memory *memory, size_t bytes);

/* Cycles per line, times 1000, with `in_flight` lines (1 to 128) outstanding at a time within `bytes`; negative where the CPU cannot do it. */
int64_t probe_lines(const struct probe_memory *memory, size_t bytes, uint32_t access, uint32_t in_flight);

/* Cycles, times 1000, of two independent misses with `fillers` instructions that do nothing between them (a multiple of 16, up to 1008). They
 * overlap while both fit the reorder window (BACUS section 3, Fig. 8). */
int64_t probe_window(const struct probe_memory *memory, size_t bytes, uint32_t fillers);

/* Cycles, times 1000, of `loads` independent misses (1 to 64, in the steps of probe.c), `fillers` instructions that do nothing (0, 64 or 640), and one miss
 * more: all at a time while the core has room for as many (BACUS section 3, Fig. 8). -1 for other numbers. */
int64_t probe_misses(const struct probe_memory *memory, size_t bytes, uint32_t loads, uint32_t fillers);

/* The cost of a TLB miss, in cycles times 1000: by how much a line that is the only one on its small page, of `span` bytes of pages (a power of two), costs
 * more than one of adjacent lines. Lines are read as in `probe_lines`. Nearly 0 where pages are large, in this system and in the host of a virtual
 * machine. */
int64_t probe_apart(const struct probe_memory *memory, size_t span, uint32_t access, uint32_t in_flight);

/* Cycles, times 1000, that a mispredicted branch costs more than a predicted one. */
int64_t probe_mispredict(void);

/* Cycles, times 1000, to read the first header of each of `burst` packets that wait, prefetched together (BACUS section 3: Bmax). */
int64_t probe_burst(const struct probe_memory *memory, size_t bytes, uint32_t burst);

/* Ticks of the counter in this many microseconds, measured against the clock. */
uint64_t probe_ticks(uint32_t microseconds);

/* Cycles of the core to 1000 ticks of the counter. */
int64_t probe_core_clock(void);

#endif
