/* Checksums that a host has left to hardware, which nothing in the frame shows: those with the sum of the pseudo-header alone are completed, and all others
 * stay as they are. Frames lie in memory of their own length, so that a sanitizer sees each byte beyond. */
#define _GNU_SOURCE
#include <string.h>

#include "port/interface.h"
#include "test.h"

#define FRAMES 20000u
#define TCP 6u
#define UDP 17u

struct written {
	uint8_t *bytes;
	uint32_t length;
	uint32_t checksum;	/* where it is */
	uint32_t bare;		/* the sum of the pseudo-header, folded */
	uint32_t complete;
};

static uint32_t
folded(uint32_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static uint32_t
words(const uint8_t *bytes, uint32_t count)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += (uint32_t)bytes[i] << (i % 2 == 0 ? 8 : 0);
	return folded(sum);
}

static void
put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint8_t *
ip_header(uint8_t *at, uint32_t version, uint32_t protocol, uint32_t carried)
{
	if (version == 6) {
		at[0] = 0x60;
		put16(at + 4, carried);
		at[6] = (uint8_t)protocol;
		return at + 40;
	}
	at[0] = 0x45;
	put16(at + 2, 20 + carried);
	put16(at + 6, 0x4000);
	at[9] = (uint8_t)protocol;
	return at + 20;
}

/* A frame with up to two tags, of random bytes but for its headers. */
static struct written
write_frame(uint64_t *state)
{
	const uint32_t tags = (uint32_t)(test_random(state) % 3), version = test_random(state) % 2 == 0 ? 4 : 6;
	const uint32_t protocol = test_random(state) % 2 == 0 ? TCP : UDP, header = protocol == TCP ? 20 : 8;
	const uint32_t carried = header + (uint32_t)(test_random(state) % 60), padding = (uint32_t)(test_random(state) % 3);
	const uint32_t network = 14 + 4 * tags, addresses = version == 6 ? 8 : 12;
	struct written frame = { .length = network + (version == 6 ? 40 : 20) + carried + padding };
	uint8_t *ip, *transport;

	frame.bytes = malloc(frame.length);
	for (uint32_t i = 0; i < frame.length; i++)
		frame.bytes[i] = (uint8_t)test_random(state);
	for (uint32_t tag = 0; tag < tags; tag++)
		put16(frame.bytes + 12 + 4 * tag, tag == 0 && tags == 2 ? 0x88a8 : 0x8100);
	put16(frame.bytes + 12 + 4 * tags, version == 6 ? 0x86dd : 0x0800);
	ip = frame.bytes + network;
	transport = ip_header(ip, version, protocol, carried);
	frame.checksum = (uint32_t)(transport - frame.bytes) + (protocol == TCP ? 16 : 6);
	frame.bare = folded(words(ip + addresses, version == 6 ? 32 : 8) + protocol + carried);
	put16(frame.bytes + frame.checksum, 0);
	frame.complete = 0xffff & ~folded(frame.bare + words(transport, carried));
	if (frame.complete == 0 && protocol == UDP)
		frame.complete = 0xffff;
	return frame;
}

static void
check_frame(const struct written *frame, uint32_t before, uint32_t after)
{
	uint8_t *at = frame->bytes + frame->checksum;

	put16(at, before);
	frame_complete_bare(frame->bytes, frame->length);
	CHECK((uint32_t)(at[0] << 8 | at[1]) == after);
}

/* Anything at all, up to the length of two headers: nothing beyond it is read. */
static void
check_rubbish(uint64_t *state)
{
	const uint32_t length = (uint32_t)(test_random(state) % 90);
	uint8_t *bytes = malloc(length == 0 ? 1 : length);

	for (uint32_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)test_random(state);
	if (length > 14)
		put16(bytes + 12, test_random(state) % 2 == 0 ? 0x0800 : 0x86dd);
	if (length > 24)
		bytes[14] = test_random(state) % 2 == 0 ? 0x45 : 0x60;
	frame_complete_bare(bytes, length);
	free(bytes);
}

void
test_frames(void)
{
	uint64_t state = 64;

	for (uint32_t i = 0; i < FRAMES; i++) {
		const struct written frame = write_frame(&state);
		const uint32_t other = (uint32_t)(test_random(&state) & 0xffff);

		check_frame(&frame, frame.bare, frame.complete);
		check_frame(&frame, frame.complete, frame.complete);
		if (other != frame.bare)
			check_frame(&frame, other, other);
		free(frame.bytes);
		check_rubbish(&state);
	}
}
