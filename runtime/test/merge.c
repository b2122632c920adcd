/* Segments of TCP that leave as a super-frame: what is made of it by segmentation is what went into it, bit by bit, whatever a program has sent. Most sequences
 * are plain data; some packets differ in a byte, in length, or in where they are. Packets lie in memory of their own length, so that a sanitizer sees each byte
 * beyond. */
#define _GNU_SOURCE
#include <string.h>

#include "port/checksum.h"
#include "port/interface.h"
#include "test.h"

#define SEQUENCES 20000u
#define PACKETS 8u
#define SEGMENT 64u		/* bytes of payload, at most */
#define FRAME 200u
#define PIECES (PACKETS + 3)

struct packet {
	uint8_t *bytes;
	uint32_t length;
};

static uint32_t
parts_of(const void *packet, uint32_t length, struct iovec *parts, uint32_t most)
{
	*parts = (struct iovec){ (void *)(uintptr_t)packet, length };
	return most != 0;
}

static void *
make(struct pool *pool, const struct iovec *parts, uint32_t count)
{
	static uint8_t packet[FRAME];
	uint8_t *to = packet;

	(void)pool;
	for (uint32_t i = 0; i < count; i++) {
		memcpy(to, parts[i].iov_base, parts[i].iov_len);
		to += parts[i].iov_len;
	}
	return packet;
}

/* Number `number` of a flow, behind so many bytes. */
static struct packet
segment_new(uint64_t *state, uint32_t version, uint32_t number, uint32_t before, uint32_t payload, uint32_t options)
{
	const uint32_t network = 14, transport = network + (version == 6 ? 40 : 20), tcp_bytes = 20 + options;
	struct packet packet = { .length = transport + tcp_bytes + payload };
	uint8_t *ip, *tcp;

	packet.bytes = calloc(1, packet.length);
	ip = packet.bytes + network;
	tcp = packet.bytes + transport;
	store16(packet.bytes + 12, version == 6 ? 0x86dd : 0x0800);
	ip[0] = version == 6 ? 0x60 : 0x45;
	ip[version == 6 ? 6 : 9] = 6;
	if (version == 6) {
		store16(ip + 4, tcp_bytes + payload);
	} else {
		store16(ip + 2, 20 + tcp_bytes + payload);
		store16(ip + 4, 0xfffe + number);
		store_checksum(ip + 10, checksum_sum(ip, 20), 0);
	}
	store32(tcp + 4, 0xffffffc0u + before);
	tcp[12] = (uint8_t)(tcp_bytes / 4 << 4);
	tcp[13] = 0x10;
	for (uint32_t i = 0; i < payload; i++)
		tcp[tcp_bytes + i] = (uint8_t)test_random(state);
	store_checksum(tcp + 16, pseudo_sum(ip, 6, tcp_bytes + payload) + checksum_sum(tcp, tcp_bytes + payload), 0);
	return packet;
}

static void
complete(const struct packet *packet, uint32_t version)
{
	const uint32_t transport = version == 6 ? 54 : 34;
	uint8_t *const ip = packet->bytes + 14, *const tcp = packet->bytes + transport;

	if (version == 4) {
		store16(ip + 10, 0);
		store_checksum(ip + 10, checksum_sum(ip, 20), 0);
	}
	store16(tcp + 16, 0);
	store_checksum(tcp + 16, pseudo_sum(ip, 6, packet->length - transport) + checksum_sum(tcp, packet->length - transport), 0);
}

/* Changes a byte: its checksums are then right again, half of the time. */
static void
change(uint64_t *state, const struct packet *packet, uint32_t version)
{
	packet->bytes[test_random(state) % packet->length] ^= (uint8_t)(1 << test_random(state) % 8);
	if (test_random(state) % 2 != 0)
		complete(packet, version);
}

/* The super-frame of a message, cut again, is the packets that it carries. */
static void
check(const struct interface *interface, const struct sent_frame *frame, const struct iovec *pieces, uint32_t used, const struct packet *packets)
{
	const struct packet_maker maker = { interface->packets, NULL };
	uint8_t bytes[PACKETS * FRAME];
	struct raw_frame raw = { .data = bytes, .offload = frame->offload };
	struct super_frame super;

	for (uint32_t i = 1; i < used; i++) {
		memcpy(bytes + raw.length, pieces[i].iov_base, pieces[i].iov_len);
		raw.length += (uint32_t)pieces[i].iov_len;
	}
	CHECK(super_frame_begin(&super, &raw));
	for (uint32_t i = 0; i < frame->packets; i++) {
		const struct interface_packet made = super_frame_segment(&maker, &super);

		CHECK(made.length == packets[i].length && memcmp(made.packet, packets[i].bytes, made.length) == 0);
	}
	CHECK(super_frame_is_done(&super));
}

/* How many packets the first message carries. */
static uint32_t
sequence(uint64_t *state, struct interface *interface)
{
	const uint32_t version = test_random(state) % 2 == 0 ? 4 : 6, count = 2 + (uint32_t)(test_random(state) % (PACKETS - 1));
	const uint32_t each = 1 + (uint32_t)(test_random(state) % SEGMENT), options = 4 * (uint32_t)(test_random(state) % 4);
	struct packet packets[PACKETS];
	void *addresses[PACKETS];
	uint16_t lengths[PACKETS];
	struct iovec pieces[PIECES];
	struct sent_frame frame = { .packets = 1 };
	uint32_t used, before = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t payload = test_random(state) % 8 == 0 ? (uint32_t)(test_random(state) % SEGMENT) : each;

		packets[i] = segment_new(state, version, i, before, payload, options);
		before += payload;
		if (test_random(state) % 8 == 0)
			change(state, &packets[i], version);
		addresses[i] = packets[i].bytes;
		lengths[i] = (uint16_t)packets[i].length;
	}
	frame.bytes = packets[0].length;
	pieces[1] = (struct iovec){ packets[0].bytes, packets[0].length };
	used = super_frame_merge(interface, &frame, addresses, lengths, count, pieces, PIECES);
	if (frame.packets > 1)
		check(interface, &frame, pieces, used, packets);
	else
		CHECK(used == 2 && pieces[1].iov_base == packets[0].bytes && pieces[1].iov_len == packets[0].length);
	for (uint32_t i = 0; i < count; i++)
		free(packets[i].bytes);
	return frame.packets;
}

/* How many of two packets the first message carries. They are done with. */
static uint32_t
pair(const struct interface *interface, const struct packet *packets)
{
	void *const addresses[2] = { packets[0].bytes, packets[1].bytes };
	const uint16_t lengths[2] = { (uint16_t)packets[0].length, (uint16_t)packets[1].length };
	struct iovec pieces[PIECES] = { [1] = { packets[0].bytes, packets[0].length } };
	struct sent_frame frame = { .packets = 1 };

	(void)super_frame_merge(interface, &frame, addresses, lengths, 2, pieces, PIECES);
	for (uint32_t i = 0; i < 2; i++)
		free(packets[i].bytes);
	return frame.packets;
}

/* Makes the checksum of one packet of two 0, by another word that it sums, and writes it as `written`. */
static void
make_zero(const struct packet *packets, uint32_t which, uint32_t version, uint32_t of_ip, uint32_t written)
{
	const uint32_t at = of_ip ? 24 : version == 6 ? 70 : 50, by = of_ip ? 26 : at + 4;
	uint8_t *const bytes = packets[which].bytes;
	const uint32_t sum = (uint32_t)load16(bytes + by) + load16(bytes + at);

	store16(bytes + by, (sum & 0xffff) + (sum >> 16));
	if (of_ip)
		memcpy(packets[1 - which].bytes + by, bytes + by, 2);
	complete(&packets[0], version);
	complete(&packets[1], version);
	CHECK(load16(bytes + at) == 0);
	store16(bytes + at, written);
}

/* A checksum of 0 is right as 0xffff, too, and segmentation would not keep which of them it was. */
static void
checksums_of_zero(uint64_t *state, const struct interface *interface)
{
	for (uint32_t i = 0; i < 16; i++) {
		const uint32_t version = (i & 1) != 0 ? 6 : 4, which = i >> 1 & 1, of_ip = i >> 2 & 1, written = (i & 8) != 0 ? 0xffff : 0;
		const struct packet packets[2] = { segment_new(state, version, 0, 0, 40, 0), segment_new(state, version, 1, 40, 40, 0) };

		if (of_ip && version == 6) {
			CHECK(pair(interface, packets) == 2);
		} else {
			make_zero(packets, which, version, of_ip, written);
			CHECK(pair(interface, packets) == 1);
		}
	}
}

/* The longest frame that the kernel passes on whole, and one byte more. */
static void
longest(uint64_t *state)
{
	static const struct interface_packets kind = { .make = make, .parts = parts_of, .longest = UINT16_MAX };
	const struct interface interface = { .packets = &kind, .mtu = UINT16_MAX - 14 };

	for (uint32_t version = 4; version <= 6; version += 2) {
		const uint32_t payload = UINT16_MAX - 14 - 20 - (version == 6 ? 40 : 20), first = payload / 2 + 1;

		for (uint32_t more = 0; more < 2; more++) {
			const struct packet packets[2] = {
				segment_new(state, version, 0, 0, first, 0), segment_new(state, version, 1, first, payload - first + more, 0),
			};

			CHECK(pair(&interface, packets) == 2 - more);
		}
	}
}

void
test_merge(void)
{
	static const struct interface_packets kind = { .make = make, .parts = parts_of, .longest = FRAME };
	struct interface interface = { .packets = &kind, .mtu = 1500 };
	uint64_t state = 7, merged = 0, alone = 0;

	for (uint32_t i = 0; i < SEQUENCES; i++) {
		const uint32_t carried = sequence(&state, &interface);

		merged += carried > 1;
		alone += carried == 1;
	}
	/* Both happen often. */
	CHECK(merged > SEQUENCES / 4 && alone > SEQUENCES / 20);
	checksums_of_zero(&state, &interface);
	longest(&state);
}
