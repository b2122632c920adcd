/* The same packets as mbufs, and what only mbufs do: several segments, one by one and side by side. A program of its own, since it needs DPDK; without
 * hugepages, NIC or root. */
#include <rte_eal.h>
#include <rte_mbuf.h>

#include "packet/mbuf.h"

#ifndef LANES
#define LANES 8u
#endif

#include "lanes.h"
#include "packet_cases.h"

#define MBUF_BEFORE 3u	/* packets of the burst before those in hand */
#define MBUF_BURST (MBUF_BEFORE + LANES)
#define MBUF_FIRST 48u	/* bytes of a first segment */

unsigned test_failures;

static void *
mbuf_allocate(struct pool *pool)
{
	return rte_pktmbuf_alloc(pool->handle);
}

static uint32_t
mbuf_available(struct cases *cases)
{
	return rte_mempool_avail_count(cases->worker.pool->handle);
}

static void
mbuf_give_back(struct cases *cases, void *const *packets, uint32_t count)
{
	(void)cases;
	for (uint32_t i = 0; i < count; i++)
		rte_pktmbuf_free(packets[i]);
}

/* A packet of three segments of these lengths, with bytes 0, 1, 2, ... */
static struct packet
mbuf_chain(struct cases *cases, uint32_t first, uint32_t second, uint32_t third)
{
	struct packet packet = cases_packet(cases, first), middle = cases_packet(cases, second), last = cases_packet(cases, third);
	struct rte_mbuf *head = packet_store(&packet);

	for (uint32_t i = 0; i < second; i++)
		packet_data(&middle)[i] = (uint8_t)(first + i);
	for (uint32_t i = 0; i < third; i++)
		packet_data(&last)[i] = (uint8_t)(first + second + i);
	CHECK(rte_pktmbuf_chain(head, packet_store(&middle)) == 0);
	CHECK(rte_pktmbuf_chain(head, packet_store(&last)) == 0);
	return packet_from(head, 0);
}

static void
mbuf_segments(struct cases *cases)
{
	struct packet packet = mbuf_chain(cases, 40, 30, 50), copy;
	struct packet_segment segment;
	uint8_t more[5000];

	CHECK(cases_holds(&packet, 0, 120) && packet_contiguous(&packet) == 40);
	segment = packet_segment(&packet, 75);
	CHECK(segment.data[0] == 75 && segment.length == 45 && !packet_segment_next(&segment));
	CHECK(packet_copy(&cases->worker, &packet, &copy) && cases_holds(&copy, 0, 120) && copy.mbuf->nb_segs == 1);
	CHECK(packet_reference(&cases->worker, &packet));
	packet_drop(&cases->worker, &packet);
	cases_flush(&cases->worker);
	CHECK(cases_holds(&packet, 0, 120) && !packet_shared(&cases->worker, &packet));
	CHECK(packet_gather(&cases->worker, &packet, 75) && packet_contiguous(&packet) == 75 && cases_holds(&packet, 0, 120));
	packet_store(&packet);
	CHECK(packet.mbuf->nb_segs == 2);
	packet_truncate(&cases->worker, &packet, 80);
	CHECK(cases_holds(&packet, 0, 80));
	packet_truncate(&cases->worker, &packet, 60);
	CHECK(cases_holds(&packet, 0, 60) && packet_contiguous(&packet) == 60);
	packet_store(&packet);
	CHECK(packet.mbuf->nb_segs == 1 && packet.mbuf->next == NULL);
	packet_send(&cases->worker, &packet, 1);
	packet_send(&cases->worker, &copy, 1);
	rte_mbuf_sanity_check(cases->sent[0], 1);
	rte_mbuf_sanity_check(cases->sent[1], 1);
	cases_flush(&cases->worker);
	/* A first segment without room for so much of the rest. */
	packet = mbuf_chain(cases, 10, 1500, 1500);
	CHECK(packet_gather(&cases->worker, &packet, 1510));
	CHECK(!packet_gather(&cases->worker, &packet, 3000) && packet_contiguous(&packet) == 1510 && cases_holds(&packet, 0, 3010));
	CHECK(packet_copy(&cases->worker, &packet, &copy) && cases_holds(&copy, 0, 3010) && copy.mbuf->nb_segs == 2);
	for (uint32_t i = 0; i < sizeof(more); i++)
		more[i] = (uint8_t)(3010 + i);
	CHECK(packet_add(&cases->worker, &copy, more, sizeof(more)) && cases_holds(&copy, 0, 8010) && copy.mbuf->nb_segs == 4);
	CHECK(packet_add(&cases->worker, &copy, more, 0) && cases_holds(&copy, 0, 8010));
	rte_mbuf_sanity_check(packet_store(&packet), 1);
	rte_mbuf_sanity_check(packet_store(&copy), 1);
	packet_drop(&cases->worker, &packet);
	packet_drop(&cases->worker, &copy);
	cases_flush(&cases->worker);
}

/* Every lane has its packet's bytes, as far as these are in the first segment. */
static void
mbuf_load(const struct packet *packets, const struct lanes_packets *taken, uint32_t offset)
{
	lanes words[4];

	lanes_load(taken, offset, words);
	for (uint32_t i = 0; i < LANES; i++) {
		const uint8_t *bytes = packet_data(&packets[i]) + offset;

		if (offset + 16 > packet_contiguous(&packets[i]))
			continue;
		for (uint32_t word = 0; word < 4; word++, bytes += 4)
			CHECK(words[word][i] == ((uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3]));
	}
}

/* A packet taken again with where its bytes are is the packet of its mbuf. */
static void
mbuf_known(const struct burst *burst, uint32_t i, void *data)
{
	const struct packet taken = packet_take(burst, i), known = packet_known(burst, i, data);

	CHECK(known.mbuf == taken.mbuf && known.data == taken.data && known.length == taken.length);
	CHECK(known.contiguous == taken.contiguous && known.changed == taken.changed);
}

/* Packets side by side that all go on in further segments; the first one of packet `odd` ends after `bytes`. Lanes may load what is in first segments, and
 * only packets in hand count; a packet is as long as all of its segments. */
static void
mbuf_lanes(struct cases *cases, uint32_t odd, uint32_t bytes)
{
	const uint32_t least = odd >= MBUF_BEFORE && bytes < MBUF_FIRST ? bytes : MBUF_FIRST;
	struct packet packets[MBUF_BURST];
	void *handles[MBUF_BURST], *data[LANES];
	const struct burst burst = { .count = MBUF_BURST, .packets = handles };
	struct lanes_packets taken;

	for (uint32_t i = 0; i < MBUF_BURST; i++) {
		packets[i] = mbuf_chain(cases, i == odd ? bytes : MBUF_FIRST, 30 + i, 50);
		for (uint32_t at = 0; at < packet_contiguous(&packets[i]); at++)
			packet_data(&packets[i])[at] = (uint8_t)(16 * i + at);
		handles[i] = packet_store(&packets[i]);
	}
	CHECK(!lanes_take(&burst, MBUF_BEFORE, least + 1, data, &taken));
	CHECK(lanes_take(&burst, MBUF_BEFORE, least, data, &taken));
	for (uint32_t i = 0; i < LANES; i++) {
		const uint32_t first = MBUF_BEFORE + i == odd ? bytes : MBUF_FIRST;

		CHECK(taken.data[i] == data[i] && taken.length[i] == first + 80 + MBUF_BEFORE + i);
		mbuf_known(&burst, MBUF_BEFORE + i, data[i]);
	}
	for (uint32_t offset = 0; offset + 16 <= MBUF_FIRST; offset++)
		mbuf_load(packets + MBUF_BEFORE, &taken, offset);
	for (uint32_t i = 0; i < MBUF_BURST; i++)
		packet_drop(&cases->worker, &packets[i]);
	cases_flush(&cases->worker);
}

int
main(void)
{
	char *arguments[] = { "test", "--no-huge", "--no-pci", "-m", "64", "--no-shconf", "--log-level=error" };
	struct cases cases = { .available = mbuf_available, .give_back = mbuf_give_back };
	struct pool pool = { .allocate = mbuf_allocate, .headroom_bytes = RTE_PKTMBUF_HEADROOM };
	uint32_t available;

	if (rte_eal_init(sizeof(arguments) / sizeof(arguments[0]), arguments) < 0)
		return 1;
	pool.handle = rte_pktmbuf_pool_create("test", 127, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	CHECK(pool.handle != NULL);
	if (pool.handle == NULL)
		return 1;
	cases_begin(&cases, &pool);
	cases_run(&cases);
	available = mbuf_available(&cases);
	mbuf_segments(&cases);
	for (uint32_t odd = 0; odd < MBUF_BURST; odd++)
		for (uint32_t bytes = 0; bytes <= MBUF_FIRST + 4; bytes += 4)
			mbuf_lanes(&cases, odd, bytes);
	CHECK(mbuf_available(&cases) == available);
	printf("%-14s %s\n", "packet_mbuf", test_failures == 0 ? "ok" : "FAILED");
	return test_failures != 0;
}
