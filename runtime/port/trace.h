/* A trace: the packets that an in-memory port receives, and a log of what it sends. Both descriptors use it. */
#ifndef BACUS_TRACE_H
#define BACUS_TRACE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64u

/* A frame. Its bytes are aligned to a line and may be read to the end of their last line. */
struct frame {
	const uint8_t *bytes;
	uint32_t length;
	uint16_t port;		/* where it comes in */
};

/* Packets in order of arrival. Millions of flows need not be millions of frames: each packet may overlay some bytes of its own within
 * the first line, so that a long trace stays small enough to be read from cache. */
struct trace {
	const struct frame *frames;
	const uint32_t *order;		/* frame of each packet; NULL: packet i is frame i */
	const uint8_t *overlays;	/* `overlay_bytes` for each packet */
	uint64_t count;
	uint32_t overlay_offset;
	uint32_t overlay_bytes;
};

/* What left, in order. `bytes` of all packets lie one behind the other in `data`. */
struct sent_packet {
	uint64_t offset;
	uint32_t length;
	uint32_t port;
};

struct sent_log {
	struct sent_packet *packets;
	uint8_t *data;
	uint64_t count;
	uint64_t capacity;
	uint64_t data_bytes;
	uint64_t data_capacity;
};

/* What came and went at an in-memory port. */
struct memory_counts {
	uint64_t received;
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t sent_ports;	/* sum of port numbers: evidence that two runs did the same */
	uint64_t released;
	uint64_t starved;	/* packets lost for want of a buffer */
};

static inline const struct frame *
trace_frame(const struct trace *trace, uint64_t position)
{
	return &trace->frames[trace->order == NULL ? position : trace->order[position]];
}

/* Writes a packet as a NIC does: whole lines. The buffer has room for the last one. */
static inline const struct frame *
trace_copy(const struct trace *trace, uint64_t position, uint8_t *buffer)
{
	const struct frame *frame = trace_frame(trace, position);

	memcpy(buffer, frame->bytes, LINE_BYTES);
	for (uint32_t done = LINE_BYTES; done < frame->length; done += LINE_BYTES)
		memcpy(buffer + done, frame->bytes + done, LINE_BYTES);
	if (trace->overlay_bytes != 0)
		memcpy(buffer + trace->overlay_offset, trace->overlays + position * trace->overlay_bytes, trace->overlay_bytes);
	return frame;
}

static inline uint64_t
trace_next(const struct trace *trace, uint64_t position)
{
	return position + 1 == trace->count ? 0 : position + 1;
}

/* Grows `*array` to hold `needed` elements; a log that cannot grow is the end of a test, not of a packet. */
static inline void
log_reserve(void **array, uint64_t *capacity, uint64_t needed, size_t element_bytes)
{
	if (needed <= *capacity)
		return;
	*capacity = needed + needed / 2 + 64;
	*array = realloc(*array, *capacity * element_bytes);
	if (*array == NULL)
		abort();
}

/* Room for a packet at the end of the log; the caller fills it. */
static inline uint8_t *
sent_append(struct sent_log *log, uint32_t length, uint32_t port)
{
	uint8_t *to;

	log_reserve((void **)&log->packets, &log->capacity, log->count + 1, sizeof(*log->packets));
	log_reserve((void **)&log->data, &log->data_capacity, log->data_bytes + length, 1);
	log->packets[log->count++] = (struct sent_packet){ log->data_bytes, length, port };
	to = log->data + log->data_bytes;
	log->data_bytes += length;
	return to;
}

#endif
