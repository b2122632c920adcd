/* Packets that go to the worker of their flow: what steps read, that all workers have a share, and that rings hand each packet over once, in order. */
#include <pthread.h>
#include <string.h>

#include "port/layer.h"
#include "port/spread.h"
#include "test.h"

#define VALUES 20000u
#define WORKERS 3u
#define SLOTS SPREAD_SLOTS_LEAST
#define BUFFERS (4u * WORKERS * (WORKERS - 1) * SLOTS)
#define PACKETS 100000u

static uint64_t
bit_by_bit(const uint8_t *bytes, uint32_t bit, uint32_t width)
{
	uint64_t value = 0;

	for (uint32_t at = bit; at < bit + width; at++)
		value = value << 1 | (bytes[at / 8] >> (7 - at % 8) & 1);
	return value;
}

static void
check_values(uint64_t *state)
{
	for (uint32_t i = 0; i < VALUES; i++) {
		const uint32_t width = 1 + (uint32_t)(test_random(state) % 56), bit = (uint32_t)(test_random(state) % 100);
		const struct spread_step step = { .bit = bit, .width = width };
		const uint32_t length = (bit + width + 7) / 8;
		uint8_t *bytes = malloc(length);

		for (uint32_t at = 0; at < length; at++)
			bytes[at] = (uint8_t)test_random(state);
		CHECK(spread_value(&step, bytes) == bit_by_bit(bytes, bit, width));
		free(bytes);
	}
}

/* Bytes 2 and 3 of packets that begin with 8 or 9, and the port; others stay. */
static const struct spread_step STEPS[] = {
	{ .kind = SPREAD_TEST, .width = 8, .mask = UINT64_MAX, .low = 8, .high = 9, .otherwise = 4 },
	{ .kind = SPREAD_MIX, .bit = 16, .width = 16 },
	{ .kind = SPREAD_MIX },
	{ .kind = SPREAD_DONE },
	{ .kind = SPREAD_KEEP },
};

static void
check_workers(uint64_t *state)
{
	uint32_t shares[WORKERS] = { 0 };

	for (uint32_t flow = 0; flow < 3000; flow++) {
		uint8_t packet[] = { 8, (uint8_t)test_random(state), (uint8_t)(flow >> 8), (uint8_t)flow, 5 };
		const uint32_t worker = spread_worker(packet, 5, 7);

		packet[0] = 9;
		packet[1]++;
		packet[4]++;
		CHECK(worker < WORKERS && spread_worker(packet, 5, 7) == worker);
		CHECK(spread_worker(packet, 3, 7) == SPREAD_HERE);
		packet[0] = 10;
		CHECK(spread_worker(packet, 5, 7) == SPREAD_HERE);
		shares[worker]++;
	}
	for (uint32_t worker = 0; worker < WORKERS; worker++)
		CHECK(shares[worker] > 800);
}

/* Worker 1 reads what worker 0 hands over: numbers from 1 on, in the place of packets. */
static void *
read_all(void *ring)
{
	uint64_t expected = 1;

	while (expected <= PACKETS) {
		const uint32_t count = spread_ready(ring, 5);

		for (uint32_t i = 0; i < count; i++)
			CHECK((uintptr_t)spread_slot(ring, i)->packet == expected++);
		spread_take(ring, count);
	}
	return NULL;
}

/* What the control thread counts meanwhile may be of packets that have gone on since. */
static void *
count_all(void *ended)
{
	uint64_t bytes;

	while (atomic_load((_Atomic int *)ended) == 0)
		CHECK(spread_waiting_of(7, &bytes) <= PACKETS && spread_untaken() <= PACKETS && spread_held() <= PACKETS);
	return NULL;
}

static void
check_rings(void)
{
	struct spread_ring *ring = spread.rings[0][1];
	pthread_t reader, counter;
	_Atomic int ended = 0;

	CHECK(spread_room(0) == SLOTS && !spread_waits(1));
	CHECK(pthread_create(&counter, NULL, count_all, &ended) == 0);
	CHECK(pthread_create(&reader, NULL, read_all, ring) == 0);
	for (uintptr_t number = 1; number <= PACKETS;) {
		(void)spread_take_back(ring, atomic_load_explicit(&ring->read, memory_order_acquire));
		for (uint32_t room = spread_room(0); room != 0 && number <= PACKETS; room--)
			spread_put(0, 1, (struct spread_slot){ .packet = (void *)number++ });
		spread_rouse(0);
	}
	CHECK(pthread_join(reader, NULL) == 0);
	atomic_store(&ended, 1);
	CHECK(pthread_join(counter, NULL) == 0);
	CHECK(!spread_waits(1) && spread_held() == ring->staged - ring->back);
}

/* Two packets are in a ring while the steps change: nothing more comes until they are taken, and their slots come back. */
static void
check_changes(void)
{
	static const struct spread_step wait = { .kind = SPREAD_WAIT };
	const uint8_t packet[] = { 8, 0, 0, 1 };
	char error[PORT_ERROR_BYTES];

	CHECK(spread_set(WORKERS, &wait, 1, BUFFERS, error) == 0);
	CHECK(spread_room(0) == 0 && spread_worker(packet, sizeof(packet), 7) == SPREAD_HERE);
	CHECK(spread_untaken() == 2 && spread_waits(2) && spread_ready(spread.rings[0][2], 5) == 2);
	spread_take(spread.rings[0][2], 2);
	CHECK(spread_untaken() == 0 && spread_held() == 2);
	CHECK(spread_set(WORKERS, NULL, 0, BUFFERS, error) == 0);
	CHECK(spread_room(0) == UINT32_MAX && spread_held() == 2);
	CHECK(spread_take_back(spread.rings[0][2], 2) == 0 && spread_held() == 0);
}

/* What a port with the same number has left is no part of what this one has received. */
static void
check_counts(void)
{
	struct port_counts counts = { .received = 5, .received_bytes = 300 };

	port_not_received(&counts, 2, 120);
	CHECK(counts.received == 3 && counts.received_bytes == 180);
	port_not_received(&counts, 4, 240);
	CHECK(counts.received == 0 && counts.received_bytes == 0);
}

void
test_spread(void)
{
	char error[PORT_ERROR_BYTES];
	uint64_t state = 3, bytes;

	check_values(&state);
	CHECK(spread_set(WORKERS, STEPS, sizeof(STEPS) / sizeof(STEPS[0]), BUFFERS - 1, error) != 0 && strstr(error, "--buffers") != NULL);
	CHECK(spread_set(WORKERS, STEPS, sizeof(STEPS) / sizeof(STEPS[0]), BUFFERS, error) == 0);
	check_workers(&state);
	check_rings();
	/* What waits is counted for its port, if that has received it. */
	spread_put(0, 2, (struct spread_slot){ .length = 60, .port = 4, .received = 1 });
	spread_put(0, 2, (struct spread_slot){ .length = 70, .port = 4 });
	CHECK(spread_waiting_of(4, &bytes) == 0);
	spread_rouse(0);
	CHECK(spread_waiting_of(4, &bytes) == 1 && bytes == 60 && spread_waits(2));
	atomic_store(&spread.rings[0][1]->back, spread.rings[0][1]->staged);
	CHECK(spread_room(0) == SLOTS - 2);
	check_changes();
	check_counts();
}
