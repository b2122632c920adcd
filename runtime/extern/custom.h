/* Lends a packet's payload to a custom extern. Included after packet/own.h or packet/mbuf.h. */
#ifndef BACUS_CUSTOM_H
#define BACUS_CUSTOM_H

#include <stdlib.h>
#include <string.h>

#include "extern/payload.h"

/* A lent payload. If a packet's bytes lie in several buffers, a copy is lent. */
struct custom_loan {
	struct extern_payload payload;
	uint8_t *copy;		/* NULL: the packet's own bytes are lent */
};

/* Copies between `bytes` and the packet's bytes from `cursor` on, segment by segment. */
static inline void
custom_copy(const struct packet *packet, uint32_t cursor, uint8_t *bytes, uint32_t count, int back)
{
	struct packet_segment segment = packet_segment(packet, cursor);

	do {
		const uint32_t part = segment.length < count ? segment.length : count;

		if (back)
			memcpy((uint8_t *)(uintptr_t)segment.data, bytes, part);
		else
			memcpy(bytes, segment.data, part);
		bytes += part;
		count -= part;
	} while (count != 0 && packet_segment_next(&segment));
}

/* Lends the bytes from `cursor` on. 0: no memory. */
static inline int
custom_open(struct worker *worker, struct packet *packet, uint32_t cursor, struct custom_loan *loan)
{
	const uint32_t length = packet_length(packet), count = length - cursor;
	const uint32_t grown = packet_extend(worker, packet, EXTERN_GROWTH) ? EXTERN_GROWTH : 0;

	*loan = (struct custom_loan){ .payload = { .length = count, .room = count + grown } };
	if (__builtin_expect(packet_gather(worker, packet, length + grown), 1)) {
		loan->payload.data = packet_data(packet) + cursor;
		return 1;
	}
	loan->copy = malloc((size_t)count + grown + 1);
	if (loan->copy == NULL)
		return 0;
	custom_copy(packet, cursor, loan->copy, count, 0);
	loan->payload.data = loan->copy;
	return 1;
}

/* Takes the payload back: the packet ends where the payload does. */
static inline void
custom_close(struct worker *worker, struct packet *packet, uint32_t cursor, struct custom_loan *loan)
{
	const struct extern_payload *payload = &loan->payload;
	const uint32_t length = payload->length < payload->room ? payload->length : payload->room;

	if (loan->copy != NULL) {
		custom_copy(packet, cursor, loan->copy, length, 1);
		free(loan->copy);
	}
	packet_truncate(worker, packet, cursor + length);
}

#endif
