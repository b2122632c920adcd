/* A port layer: packets that go from the worker that has received them to the worker of their flow. */
#define _GNU_SOURCE
#include "port/spread.h"
#include "port/layer.h"

#include <stdlib.h>
#include <string.h>

struct spread spread;

static struct spread_ring *
spread_ring_new(uint32_t slots)
{
	struct spread_ring *ring = aligned_alloc(_Alignof(struct spread_ring), sizeof(*ring));

	if (ring == NULL)
		return NULL;
	memset(ring, 0, sizeof(*ring));
	ring->size = slots;
	ring->slots = calloc(slots, sizeof(*ring->slots));
	if (ring->slots != NULL)
		return ring;
	free(ring);
	return NULL;
}

/* Rings stay: what is in them is still for their readers. */
static int
spread_rings_new(uint32_t workers, uint32_t slots)
{
	uint32_t size = SPREAD_SLOTS_LEAST;

	while (2 * size <= slots && size < SPREAD_SLOTS)
		size *= 2;
	for (uint32_t worker = 0; worker < workers; worker++)
		for (uint32_t other = 0; other < workers; other++) {
			struct spread_ring **ring = &spread.rings[worker][other];

			if (worker != other && *ring == NULL && (*ring = spread_ring_new(size)) == NULL)
				return -1;
		}
	return 0;
}

int
spread_set(uint32_t workers, const struct spread_step *steps, uint32_t count, uint32_t buffers, char *error)
{
	const uint32_t rings = workers > 1 ? workers * (workers - 1) : 1, part = buffers / 4 / rings;
	struct spread_step *own = NULL;

	if (count != 0 && part < SPREAD_SLOTS_LEAST)
		return port_fail(error, "%u workers hand packets over by rings, which take %u of %u buffers at least: --buffers sets their number", workers,
			4 * rings * SPREAD_SLOTS_LEAST, buffers);
	if (count != 0) {
		own = calloc(count, sizeof(*own));
		if (own == NULL || spread_rings_new(workers, part) != 0) {
			free(own);
			return port_fail(error, "no memory for the rings of %u workers", workers);
		}
		memcpy(own, steps, count * sizeof(*own));
	}
	free(spread.steps);
	spread.steps = own;
	spread.count = count;
	spread.workers = workers;
	return 0;
}

/* Of a ring that both its workers may be using: what is read of a slot is of this packet or of a later one. */
static uint32_t
ring_waiting_of(const struct spread_ring *ring, uint16_t port, uint64_t *bytes)
{
	const uint64_t read = atomic_load(&ring->read), written = atomic_load(&ring->written);
	uint32_t count = 0;

	for (uint64_t at = read; at < written; at++) {
		const struct spread_slot *slot = &ring->slots[at & (ring->size - 1)];
		const uint32_t is_of = __atomic_load_n(&slot->port, __ATOMIC_RELAXED) == port && __atomic_load_n(&slot->received, __ATOMIC_RELAXED) != 0;

		count += is_of;
		*bytes += is_of ? __atomic_load_n(&slot->length, __ATOMIC_RELAXED) : 0;
	}
	return count;
}

uint32_t
spread_waiting_of(uint16_t port, uint64_t *bytes)
{
	uint32_t count = 0;

	*bytes = 0;
	for (uint32_t worker = 0; worker < spread.workers; worker++)
		for (uint32_t other = 0; other < spread.workers; other++)
			if (spread.rings[worker][other] != NULL)
				count += ring_waiting_of(spread.rings[worker][other], port, bytes);
	return count;
}

/* From a position to what is staged, of all rings. The position is read first: it is never beyond. */
static uint32_t
spread_from(const _Atomic uint64_t *(*position)(const struct spread_ring *ring))
{
	uint64_t count = 0;

	for (uint32_t worker = 0; worker < spread.workers; worker++)
		for (uint32_t other = 0; other < spread.workers; other++) {
			const struct spread_ring *ring = spread.rings[worker][other];
			const uint64_t from = ring == NULL ? 0 : atomic_load(position(ring));

			count += ring == NULL ? 0 : spread_own(&ring->staged) - from;
		}
	return (uint32_t)count;
}

static const _Atomic uint64_t *
ring_back(const struct spread_ring *ring)
{
	return &ring->back;
}

static const _Atomic uint64_t *
ring_read(const struct spread_ring *ring)
{
	return &ring->read;
}

uint32_t
spread_held(void)
{
	return spread_from(ring_back);
}

uint32_t
spread_untaken(void)
{
	return spread_from(ring_read);
}

int
spread_waits(uint32_t worker)
{
	for (uint32_t other = 0; other < spread.workers; other++) {
		const struct spread_ring *ring = spread.rings[other][worker];

		if (ring != NULL && atomic_load(&ring->written) != atomic_load(&ring->read))
			return 1;
	}
	return 0;
}

/* A worker that has announced its sleep looks at its rings once more, so one of both sees the other (sleep.h). */
static void
host_rouse(const struct host *host)
{
	const char byte = 0;

	if (host != NULL && atomic_load(&host->sleeping) != 0)
		(void)send(host->rouse, &byte, sizeof(byte), MSG_DONTWAIT);
}

void
spread_rouse(uint32_t worker)
{
	for (uint32_t other = 0; other < spread.workers; other++) {
		struct spread_ring *ring = spread.rings[worker][other];

		if (ring == NULL || spread_own(&ring->staged) == spread_own(&ring->written))
			continue;
		/* Sequentially consistent: the packets are there for all before `sleeping` is read. */
		atomic_store(&ring->written, spread_own(&ring->staged));
		host_rouse(atomic_load(&spread.hosts[other]));
	}
}
