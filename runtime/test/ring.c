/* One thread writes messages of many lengths, another reads them: in order, whole, and each either read or counted as lost. */
#include <pthread.h>
#include <string.h>

#include "port/ring.h"
#include "test.h"

#define RING_BYTES 4096u
#define MESSAGES 200000u
#define LONGEST 300u

static uint32_t
length_of(uint32_t number)
{
	return (number * 2654435761u >> 16) % (LONGEST + 1);
}

static void *
write_all(void *argument)
{
	struct ring *ring = argument;

	for (uint32_t number = 0; number < MESSAGES; number++) {
		uint8_t *to = ring_reserve(ring, number, length_of(number));

		if (to == NULL)
			continue;
		memset(to, (int)(number & 0xff), length_of(number));
		ring_commit(ring);
	}
	/* The last one gets through, so that the reader knows the end. */
	while (ring_reserve(ring, MESSAGES, 0) == NULL)
		;
	ring_commit(ring);
	return NULL;
}

static unsigned
is_whole(const struct ring_head *head)
{
	const uint8_t *bytes = (const uint8_t *)(head + 1);
	unsigned same = 1;

	for (uint32_t i = 0; i < head->bytes; i++)
		same &= bytes[i] == (head->tag & 0xff);
	return same;
}

static void
test_threads(void)
{
	struct ring *ring = ring_create(RING_BYTES);
	uint64_t read = 0, wrong = 0;
	uint32_t next = 0;
	pthread_t writer;

	CHECK(ring != NULL);
	CHECK(pthread_create(&writer, NULL, write_all, ring) == 0);
	for (;;) {
		const struct ring_head *head = ring_first(ring);

		if (head == NULL)
			continue;
		if (head->tag == MESSAGES)
			break;
		wrong += head->tag < next || head->bytes != length_of(head->tag) || !is_whole(head);
		next = head->tag + 1;
		read++;
		ring_release(ring, head);
	}
	pthread_join(writer, NULL);
	CHECK(wrong == 0);
	CHECK(read > 0 && read + ring_host_lost(ring) >= MESSAGES);
	ring_destroy(ring);
}

static void
test_bounds(void)
{
	struct ring *ring = ring_create(64);

	CHECK(ring_first(ring) == NULL);
	/* Each takes 24 bytes with its head, so two fit. */
	for (uint32_t number = 0; number < 2; number++) {
		CHECK(ring_reserve(ring, number, 9) != NULL);
		ring_commit(ring);
	}
	CHECK(ring_reserve(ring, 2, 9) == NULL);
	CHECK(ring_host_lost(ring) == 1);
	CHECK(ring_first(ring)->tag == 0 && ring_first(ring)->bytes == 9);
	ring_release(ring, ring_first(ring));
	/* 24 bytes are free at the begin and 16 at the end, which is skipped. */
	CHECK(ring_reserve(ring, 3, 16) != NULL);
	ring_commit(ring);
	CHECK(ring_first(ring)->tag == 1);
	ring_release(ring, ring_first(ring));
	CHECK(ring_first(ring)->tag == 3 && ring_first(ring)->bytes == 16);
	ring_release(ring, ring_first(ring));
	CHECK(ring_first(ring) == NULL);
	ring_destroy(ring);
}

void
test_ring(void)
{
	test_bounds();
	test_threads();
}
