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
 * the first line, so that a long trace stays small enough to be read as a stream. */
struct trace {
	const struct frame *frames;
	const uint32_t *order;		/* frame of each packet; NULL: packet i is frame i, or the only frame */
	const uint8_t *overlays;	/* `overlay_bytes` for each packet; a line before and behind all of them may be read */
	uint64_t count;
	uint32_t frame_count;
	uint32_t overlay_offset;
	uint32_t overlay_bytes;
	uint32_t unused;
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
	if (trace->order != NULL)
		return &trace->frames[trace->order[position]];
	return &trace->frames[trace->frame_count == 1 ? 0 : position];
}

/* Half a line at any address. An extension of gcc and clang: a copy through an array costs a dozen moves of the stack.
 * `may_alias`: packets are bytes of any type. `aligned(1)`: overlays begin anywhere. */
typedef uint64_t half_line __attribute__((vector_size(32), aligned(1), may_alias));

/* Which bytes of the first line are a packet's own: all ones there, else zeros. */
struct overlay {
	uint8_t bytes[LINE_BYTES];
};

static inline struct overlay
trace_overlay(const struct trace *trace)
{
	struct overlay overlay;

	for (uint32_t i = 0; i < LINE_BYTES; i++)
		overlay.bytes[i] = i - trace->overlay_offset < trace->overlay_bytes ? 0xff : 0;
	return overlay;
}

/* Bits of `own` where the mask is ones, of the frame elsewhere; without a branch per packet. */
static inline void
trace_merge_half(uint8_t *buffer, const uint8_t *frame, const uint8_t *own, const uint8_t *mask)
{
	const half_line shared = *(const half_line *)(const void *)frame, other = *(const half_line *)(const void *)own;

	*(half_line *)(void *)buffer = shared ^ ((shared ^ other) & *(const half_line *)(const void *)mask);
}

/* The first line of a packet. Each byte is stored once: a program that reads it soon after finds it in one store. */
static inline void
trace_merge(uint8_t *buffer, const uint8_t *frame, const uint8_t *own, const struct overlay *overlay)
{
	trace_merge_half(buffer, frame, own, overlay->bytes);
	trace_merge_half(buffer + LINE_BYTES / 2, frame + LINE_BYTES / 2, own + LINE_BYTES / 2, overlay->bytes + LINE_BYTES / 2);
}

/* What follows the first line, as whole lines. */
static inline void
trace_copy_rest(uint8_t *buffer, const struct frame *frame)
{
	for (uint32_t done = LINE_BYTES; __builtin_expect(done < frame->length, 0); done += LINE_BYTES / 2)
		*(half_line *)(void *)(buffer + done) = *(const half_line *)(const void *)(frame->bytes + done);
}

/* Where the line lies whose bytes under the overlay are those of packet `position`. */
static inline const uint8_t *
trace_own(const struct trace *trace, uint64_t position)
{
	return trace->overlays + position * trace->overlay_bytes - trace->overlay_offset;
}

/* Writes a packet as a NIC does: whole lines. The buffer has room for the last one. */
static inline const struct frame *
trace_copy(const struct trace *trace, const struct overlay *overlay, uint64_t position, uint8_t *buffer)
{
	const struct frame *frame = trace_frame(trace, position);

	trace_merge(buffer, frame->bytes, trace_own(trace, position), overlay);
	trace_copy_rest(buffer, frame);
	return frame;
}

/* Whether all packets are one frame, but for what they overlay: then the loop that writes them reads nothing else. */
static inline int
trace_is_uniform(const struct trace *trace)
{
	return trace->order == NULL && trace->frame_count == 1;
}

/* Packets from `position` on that come before the trace begins again, `limit` at most. */
static inline uint32_t
trace_run(const struct trace *trace, uint64_t position, uint32_t limit)
{
	return trace->count - position < limit ? (uint32_t)(trace->count - position) : limit;
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
