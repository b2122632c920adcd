/* Packets of the program's own. */
#include "packet/own.h"

#include "packet_cases.h"

#define PACKET_BUFFERS 128u

static uint32_t
packet_available(struct cases *cases)
{
	return ((const struct own_pool *)cases->worker.pool->handle)->free_count;
}

static void
packet_give_back(struct cases *cases, void *const *packets, uint32_t count)
{
	own_free(cases->worker.pool->handle, packets, count);
}

void
test_packet(void)
{
	struct cases cases = { .available = packet_available, .give_back = packet_give_back };
	struct own_pool *own = own_create(PACKET_BUFFERS, 4096, 128);
	struct packet packet;

	CHECK(own != NULL);
	if (own == NULL)
		return;
	cases_begin(&cases, &own->pool);
	cases_run(&cases);
	/* A packet may fill its buffer, and still be known by its address when nothing is left of it. */
	packet = cases_packet(&cases, own_capacity(own));
	while (packet_append(&cases.worker, &packet, 1))
		;
	packet_trim(&packet, packet_length(&packet));
	packet_drop(&cases.worker, &packet);
	cases_flush(&cases.worker);
	CHECK(own->free_count == PACKET_BUFFERS);
	/* More references than can be counted are refused, and none is lost. */
	packet = cases_packet(&cases, 8);
	for (uint32_t i = 0; i < 255; i++)
		CHECK(packet_reference(&cases.worker, &packet));
	CHECK(!packet_reference(&cases.worker, &packet));
	for (uint32_t i = 0; i < 256; i++)
		packet_drop(&cases.worker, &packet);
	cases_flush(&cases.worker);
	CHECK(own->free_count == PACKET_BUFFERS && own->shared == 0);
	own_destroy(own);
}
