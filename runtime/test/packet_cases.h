/* What each packet descriptor must do: included behind packet/own.h or packet/mbuf.h by a test that gives `cases_worker` a pool, and defines how
 * many buffers are free. */
#ifndef BACUS_TEST_PACKET_CASES_H
#define BACUS_TEST_PACKET_CASES_H

#include <string.h>

#include "test.h"
#include "packet/picked.h"
#include "walk.h"

#define CASES_OUT 4u
#define CASES_GROUP 64u
/* More than any headroom: that of a packet of the program's own depends on where its buffer lies. */
#define CASES_FRONT 2000u

struct cases {
	struct worker worker;
	void *sent[CASES_OUT];
	uint16_t lengths[CASES_OUT];
	uint16_t ports[CASES_OUT];
	void *freed[CASES_OUT];
	uint32_t flushes;
	uint32_t (*available)(struct cases *cases);
	void (*give_back)(struct cases *cases, void *const *packets, uint32_t count);
};

static void
cases_flush(struct worker *worker)
{
	struct cases *cases = worker->host;

	cases->give_back(cases, worker->out.packets, worker->out.count);
	cases->give_back(cases, worker->freed.packets, worker->freed.count);
	worker->out.count = 0;
	worker->freed.count = 0;
	cases->flushes++;
}

static void
cases_begin(struct cases *cases, struct pool *pool)
{
	cases->worker.pool = pool;
	cases->worker.port_count = 8;
	cases->worker.host = cases;
	cases->worker.flush = cases_flush;
	cases->worker.out = (struct output){ .capacity = CASES_OUT, .packets = cases->sent, .lengths = cases->lengths, .ports = cases->ports };
	cases->worker.freed = (struct released){ .capacity = CASES_OUT, .packets = cases->freed };
}

/* A packet with bytes 0, 1, 2, ... */
static struct packet
cases_packet(struct cases *cases, uint32_t length)
{
	struct packet packet = packet_from(cases->worker.pool->allocate(cases->worker.pool), 0);

	CHECK(packet_length(&packet) == 0);
	CHECK(packet_append(&cases->worker, &packet, length));
	for (uint32_t i = 0; i < length; i++)
		packet_data(&packet)[i] = (uint8_t)i;
	return packet;
}

static int
cases_holds(const struct packet *packet, uint32_t first, uint32_t length)
{
	struct packet_segment segment = packet_segment(packet, 0);
	uint32_t at = 0, wrong = 0;

	do {
		for (uint32_t i = 0; i < segment.length; i++)
			wrong += segment.data[i] != (uint8_t)(first + at++);
	} while (packet_segment_next(&segment));
	return wrong == 0 && at == length && packet_length(packet) == length;
}

static void
cases_front_and_end(struct cases *cases)
{
	struct packet packet = cases_packet(cases, 100);
	const uint32_t headroom = packet_headroom(&cases->worker, &packet);

	CHECK(cases_holds(&packet, 0, 100));
	CHECK(packet_gather(&cases->worker, &packet, 100) && !packet_gather(&cases->worker, &packet, 101));
	packet_trim(&packet, 14);
	CHECK(cases_holds(&packet, 14, 86) && packet_headroom(&cases->worker, &packet) == headroom + 14);
	CHECK(packet_prepend(&cases->worker, &packet, 14) && cases_holds(&packet, 0, 100));
	CHECK(packet_prepend(&cases->worker, &packet, headroom) && packet_headroom(&cases->worker, &packet) == 0);
	CHECK(!packet_prepend(&cases->worker, &packet, 1) && packet_length(&packet) == 100 + headroom);
	packet_trim(&packet, headroom);
	packet_truncate(&cases->worker, &packet, 200);
	CHECK(cases_holds(&packet, 0, 100));
	packet_truncate(&cases->worker, &packet, 30);
	CHECK(cases_holds(&packet, 0, 30) && packet_contiguous(&packet) == 30);
	CHECK(!packet_append(&cases->worker, &packet, 1u << 16) && cases_holds(&packet, 0, 30));
	packet_trim(&packet, 30);
	CHECK(packet_length(&packet) == 0);
	packet_drop(&cases->worker, &packet);
	cases_flush(&cases->worker);
}

/* A front that is shorter than what it replaces, one that fits in front of the packet, and one that needs another buffer. */
static void
cases_places(struct cases *cases)
{
	const uint32_t places[] = { 10, 100, CASES_FRONT };
	uint8_t front[CASES_FRONT], buffer[CASES_FRONT];

	for (uint32_t i = 0; i < sizeof(front); i++)
		front[i] = (uint8_t)(i - sizeof(front) + 20);
	for (uint32_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const uint32_t bytes = places[i];
		struct packet packet = cases_packet(cases, 100);
		const struct piece piece = { .bytes = front + sizeof(front) - bytes, .count = bytes };

		CHECK(walk_place(&cases->worker, &packet, 20, &piece, 1, buffer));
		CHECK(cases_holds(&packet, 20 - bytes, bytes + 80));
		packet_drop(&cases->worker, &packet);
		cases_flush(&cases->worker);
	}
}

static void
cases_copies(struct cases *cases)
{
	struct packet packet = cases_packet(cases, 60), copy, other;
	const uint8_t more[] = { 60, 61, 62 };

	CHECK(packet_copy(&cases->worker, &packet, &copy) && cases_holds(&copy, 0, 60));
	CHECK(packet_add(&cases->worker, &copy, more, 3) && cases_holds(&copy, 0, 63) && cases_holds(&packet, 0, 60));
	packet_data(&copy)[0] = 77;
	CHECK(cases_holds(&packet, 0, 60));
	CHECK(!packet_shared(&cases->worker, &packet));
	CHECK(packet_reference(&cases->worker, &packet) && packet_shared(&cases->worker, &packet));
	other = packet;
	CHECK(packet_claim(&cases->worker, &other) && packet_data(&other) != packet_data(&packet) && cases_holds(&other, 0, 60));
	cases_flush(&cases->worker);
	CHECK(!packet_shared(&cases->worker, &packet) && packet_claim(&cases->worker, &packet) && cases_holds(&packet, 0, 60));
	packet_drop(&cases->worker, &packet);
	packet_drop(&cases->worker, &copy);
	packet_drop(&cases->worker, &other);
	cases_flush(&cases->worker);
}

/* One reference leaves while the output is full, one is dropped, one asks for a port that is not there: the buffer is free once, with the last. */
static void
cases_references(struct cases *cases)
{
	const uint32_t before = cases->available(cases);
	uint64_t drops[1] = { 0 };
	uint64_t *const counted = cases->worker.drops;
	struct packet packet = cases_packet(cases, 60);
	struct output out;

	CHECK(cases->available(cases) == before - 1);
	cases->worker.drops = drops;
	CHECK(packet_reference(&cases->worker, &packet) && packet_reference(&cases->worker, &packet));
	CHECK(cases->available(cases) == before - 1);
	walk_open(&cases->worker, &out);
	for (uint32_t i = 1; i < CASES_OUT; i++)
		walk_send(&cases->worker, &out, cases_packet(cases, 20), i, 0);
	walk_send(&cases->worker, &out, packet, 7, 0);
	CHECK(out.count == 0 && cases->available(cases) == before - 1 && cases_holds(&packet, 0, 60));
	walk_drop(&cases->worker, packet, 0);
	walk_close(&cases->worker, &out);
	cases_flush(&cases->worker);
	CHECK(cases->available(cases) == before - 1 && !packet_shared(&cases->worker, &packet) && cases_holds(&packet, 0, 60));
	walk_open(&cases->worker, &out);
	walk_send(&cases->worker, &out, packet, cases->worker.port_count, 0);
	walk_close(&cases->worker, &out);
	cases_flush(&cases->worker);
	CHECK(drops[0] == 2 && cases->available(cases) == before);
	cases->worker.drops = counted;
}

static void
cases_sending(struct cases *cases)
{
	struct packet packet = cases_packet(cases, 50), again;
	const uint32_t before = cases->flushes;
	uint16_t length = 50;
	void *handle;
	const uint16_t port = 3;
	struct burst burst = { .count = 1, .ports = &port, .packets = &handle, .lengths = &length };

	packet_trim(&packet, 10);
	length = (uint16_t)packet_length(&packet);
	handle = packet_store(&packet);
	again = packet_take(&burst, 0);
	CHECK(cases_holds(&again, 10, 40) && packet_data(&again) == packet_data(&packet));
	packet_send(&cases->worker, &packet, 5);
	CHECK(cases->worker.out.count == 1 && cases->ports[0] == 5 && cases->sent[0] == handle);
	for (uint32_t i = 1; i < CASES_OUT; i++) {
		struct packet more = cases_packet(cases, 20);

		CHECK(cases->flushes == before);
		packet_send(&cases->worker, &more, i);
	}
	CHECK(cases->flushes == before + 1 && cases->worker.out.count == 0);
}

/* A group of `count` is sent at once: those in `sent` have gone before the others, those in `dropped` for good, and the ones in `refused` ask for a port that
 * is none. Packets leave in the order of the group, and nothing is stored beyond the available room. */
static void
cases_group(struct cases *cases, uint32_t count, uint64_t sent, uint64_t dropped, uint64_t refused)
{
	void *handles[CASES_GROUP], *left[CASES_GROUP + 1];
	uint16_t lengths[CASES_GROUP], ports[CASES_GROUP] = { 0 }, left_lengths[CASES_GROUP + 1], left_ports[CASES_GROUP + 1];
	const uint32_t unused = CASES_GROUP - count;
	uint64_t drops[2] = { 0, 0 };
	struct worker worker = cases->worker;
	const struct burst burst = { .count = count, .ports = ports, .packets = handles + unused, .lengths = lengths + unused };
	uint32_t at = 0;

	worker.drops = drops;
	worker.out = (struct output){ .capacity = count + 1, .packets = left + unused, .lengths = left_lengths + unused, .ports = left_ports + unused };
	for (uint32_t i = 0; i < count; i++) {
		struct packet packet = cases_packet(cases, 20 + i);

		burst.packets[i] = packet_store(&packet);
		burst.lengths[i] = (uint16_t)(20 + i);
		if (dropped >> i & 1)
			walk_drop(&worker, packet, 0);
		else if (sent >> i & 1)
			walk_send(&worker, &worker.out, packet, i % 8, 1);
		else
			ports[unused + i] = (uint16_t)(refused >> i & 1 ? 8 : i % 8);
	}
	walk_send_group(&worker, &worker.out, &burst, 0, count, ports + unused, (sent | dropped) & walk_first(count), sent, 1);
	for (uint32_t i = 0; i < count; i++) {
		if ((dropped | refused) >> i & 1)
			continue;
		CHECK(worker.out.packets[at] == burst.packets[i] && worker.out.ports[at] == i % 8);
		at++;
	}
	CHECK(at == worker.out.count);
	CHECK(drops[0] == (uint64_t)__builtin_popcountll(dropped) && drops[1] == (uint64_t)__builtin_popcountll(refused));
	cases_flush(&worker);
}

/* A packet of a burst begins earlier, and later. */
static void
cases_moved(struct cases *cases)
{
	struct packet packet = cases_packet(cases, 100);
	const uint32_t headroom = packet_headroom(&cases->worker, &packet);
	void *packets[1] = { packet_store(&packet) };
	uint16_t lengths[1] = { 100 };
	struct burst burst = { .count = 1, .packets = packets, .lengths = lengths };

	CHECK(packet_move(&burst, 0, packet, 4) == packet_data(&packet) - 4);
	packet = packet_take(&burst, 0);
	CHECK(packet_length(&packet) == 104 && packet_contiguous(&packet) == 104 && packet_headroom(&cases->worker, &packet) == headroom - 4);
	CHECK(packet_move(&burst, 0, packet, -14) == packet_data(&packet) + 14);
	packet = packet_take(&burst, 0);
	CHECK(cases_holds(&packet, 10, 90) && packet_headroom(&cases->worker, &packet) == headroom + 10);
	packet_drop(&cases->worker, &packet);
	cases_flush(&cases->worker);
}

/* Any packets of groups of any size may be gone. */
static void
cases_groups(struct cases *cases)
{
	uint64_t random = 1;

	for (uint32_t count = 0; count <= CASES_GROUP; count++)
		for (uint32_t i = 0; i < 20; i++)
			cases_group(cases, count, 0, (test_random(&random) | test_random(&random) << 32) & walk_first(count), 0);
}

/* Packets that are picked from a group are a burst in their order, and go back to their places. */
static void
cases_picked(void)
{
	void *handles[CASES_GROUP + 1];
	uint16_t lengths[CASES_GROUP + 1], ports[CASES_GROUP + 1], to[CASES_GROUP], sent[CASES_GROUP];
	const struct burst burst = { .count = CASES_GROUP + 1, .ports = ports, .packets = handles, .lengths = lengths };
	uint64_t random = 1;

	for (uint32_t round = 0; round < 100; round++) {
		const uint64_t set = round == 0 ? ~0ull : test_random(&random) | (uint64_t)test_random(&random) << 32;
		const uint64_t back = test_random(&random) & walk_first((uint32_t)__builtin_popcountll(set));
		struct picked picked;
		struct burst taken;
		uint64_t places = 0;
		uint32_t at = 0;

		for (uint32_t i = 0; i <= CASES_GROUP; i++) {
			handles[i] = &handles[i];
			lengths[i] = ports[i] = (uint16_t)(100 + i);
		}
		memset(sent, 0, sizeof(sent));
		taken = picked_take(&picked, &burst, 1, set);
		CHECK(taken.count == (uint32_t)__builtin_popcountll(set));
		for (uint32_t i = 0; i < CASES_GROUP; i++) {
			if ((set >> i & 1) == 0)
				continue;
			CHECK(taken.packets[at] == &handles[1 + i] && taken.ports[at] == 101 + i);
			/* It begins elsewhere now. */
			taken.packets[at] = NULL;
			to[at] = (uint16_t)(200 + i);
			places |= (back >> at & 1) << i;
			at++;
		}
		CHECK(picked_places(&picked, back) == places);
		picked_put(&picked, &burst, 1, back, to, sent);
		CHECK(handles[0] == &handles[0]);
		for (uint32_t i = 0; i < CASES_GROUP; i++) {
			const int is_back = places >> i & 1;

			CHECK(handles[1 + i] == (is_back ? NULL : &handles[1 + i]) && sent[i] == (is_back ? 200 + i : 0));
		}
	}
}

/* Any of some packets are freed together, while there is room and where there is none. */
static void
cases_freeing(struct cases *cases)
{
	uint64_t random = 1;

	for (uint32_t i = 0; i < 200; i++) {
		const uint32_t count = i % 17, before = cases->worker.freed.count, flushes = cases->flushes;
		const uint64_t set = test_random(&random) & walk_first(count);
		void *handles[16];

		for (uint32_t at = 0; at < count; at++) {
			struct packet packet = cases_packet(cases, 20);

			handles[at] = packet_store(&packet);
		}
		walk_free_some(&cases->worker, handles, count, set);
		if (cases->flushes == flushes) {
			uint32_t freed = before;

			for (uint64_t rest = set; rest != 0; rest &= rest - 1)
				CHECK(cases->worker.freed.packets[freed++] == handles[__builtin_ctzll(rest)]);
			CHECK(cases->worker.freed.count == freed);
		}
		CHECK(cases->worker.freed.count < cases->worker.freed.capacity);
		walk_free_some(&cases->worker, handles, count, walk_first(count) & ~set);
	}
	cases_flush(&cases->worker);
}

/* Zeros among numbers that have bits set here or there: of any count, in an array that ends with them. */
static void
cases_zeros(void)
{
	uint64_t random = 1;

	for (uint32_t i = 0; i < 2000; i++) {
		const uint32_t count = i % 65;
		uint32_t all[64], *numbers = all + 64 - count;
		uint64_t zeros = 0;

		for (uint32_t at = 0; at < count; at++) {
			const uint64_t drawn = test_random(&random);

			numbers[at] = drawn % 3 == 0 ? 0 : 1u << (drawn >> 8) % 32;
			zeros |= (uint64_t)(numbers[at] == 0) << at;
		}
		CHECK(walk_zeros(numbers, count) == zeros);
	}
}

static void
cases_order(void)
{
	uint16_t given[WALK_BURST] = {0}, ordered[WALK_BURST];
	uint32_t count = 0;

	walk_order(ordered, given, 0);
	for (uint32_t i = 1; i < WALK_BURST; i += 3)
		given[count++] = (uint16_t)i;
	for (uint32_t i = 0; i < WALK_BURST; i += i % 3 == 0 ? 2 : 1)
		given[count++] = (uint16_t)i;
	CHECK(count == WALK_BURST);
	walk_order(ordered, given, count);
	for (uint32_t i = 0; i < count; i++)
		CHECK(ordered[i] == i);
	walk_order(ordered, given, 170);
	CHECK(ordered[0] == 1 && ordered[169] == 508);
}

static void
cases_exhaustion(struct cases *cases)
{
	const uint8_t front[CASES_FRONT] = { 0 };
	const struct piece piece = { .bytes = front, .count = sizeof(front) };
	struct packet packets[128], copy;
	uint8_t buffer[sizeof(front)];
	uint32_t count = 0;

	while (cases->available(cases) != 0 && count < 128)
		packets[count++] = cases_packet(cases, 8);
	CHECK(count > 1 && cases->available(cases) == 0);
	CHECK(!packet_copy(&cases->worker, &packets[0], &copy));
	CHECK(!walk_place(&cases->worker, &packets[0], 0, &piece, 1, buffer));
	CHECK(cases_holds(&packets[0], 0, 8));
	while (count-- != 0)
		packet_drop(&cases->worker, &packets[count]);
	cases_flush(&cases->worker);
}

/* Runs all cases and finds every buffer back. */
static void
cases_run(struct cases *cases)
{
	const uint32_t available = cases->available(cases);

	cases_front_and_end(cases);
	cases_moved(cases);
	CHECK(cases->available(cases) == available);
	cases_places(cases);
	CHECK(cases->available(cases) == available);
	cases_copies(cases);
	cases_references(cases);
	CHECK(cases->available(cases) == available);
	cases_sending(cases);
	CHECK(cases->available(cases) == available);
	cases_group(cases, CASES_GROUP, 0, 0, 0);
	cases_group(cases, CASES_GROUP, 0, 0x402, 0);
	cases_group(cases, CASES_GROUP, 0x088, 0x404, 0);
	cases_group(cases, CASES_GROUP, 0x801, 0x010, 0x022);
	cases_groups(cases);
	cases_picked();
	cases_freeing(cases);
	cases_zeros();
	cases_order();
	CHECK(cases->available(cases) == available);
	cases_exhaustion(cases);
	CHECK(cases->available(cases) == available);
}

#endif
