/* Operations on a packet beside the program's own nodes: drop, send, replace its front, hash its payload.
 *
 * Packets are passed by value, so that their state stays in registers on the hot path. Generated code
 * includes this file after packet/own.h or packet/mbuf.h. */
#ifndef BACUS_WALK_H
#define BACUS_WALK_H

#include <stdbool.h>
#include <string.h>

#include "abi.h"
#include "extern/counter.h"
#include "extern/hash.h"
#include "packet/compact.h"

/* Bytes of a header that a deparser emits. */
struct piece {
	const uint8_t *bytes;
	uint32_t count;
};

/* Gives a header that has no storage `size` bytes of zeros. */
static inline __attribute__((always_inline)) void
walk_place_header(uint8_t **header, uint8_t *scratch, uint32_t size)
{
	if (*header == NULL)
		*header = memset(scratch, 0, size);
}

/* setValid: a header that was invalid has fields of 0. */
static inline __attribute__((always_inline)) void
walk_set_valid(uint8_t **header, bool *valid, uint8_t *scratch, uint32_t size)
{
	if (*valid)
		return;
	*header = memset(scratch, 0, size);
	*valid = true;
}

static inline void
walk_drop(struct worker *worker, struct packet packet, uint32_t reason)
{
	counter_increment(&worker->drops[reason]);
	packet_drop(worker, &packet);
}

/* Copies member by member: a copy as a whole would load a vector from smaller stores, and stall until these
 * are done. */
static inline void
walk_copy_output(struct output *to, const struct output *from)
{
	to->count = from->count;
	to->capacity = from->capacity;
	to->packets = from->packets;
	to->lengths = from->lengths;
	to->ports = from->ports;
}

/* Memory for the states of copied packets, behind the pipeline's own of `bytes` bytes: one for each buffer of the pool. */
static inline void *
walk_copies(const struct worker *worker, size_t bytes)
{
	return (uint8_t *)worker->memory + ((bytes + 63) & ~(size_t)63);
}

/* Outputs of a burst are counted in a copy of `worker->out`, which stays in registers. Between `walk_open`
 * and `walk_close` the worker's own count is zero, so that a flush caused by drops sends nothing twice. */
static inline void
walk_open(struct worker *worker, struct output *out)
{
	if (__builtin_expect(worker->out.count != 0, 0))
		worker->flush(worker);
	walk_copy_output(out, &worker->out);
}

static inline void
walk_close(struct worker *worker, const struct output *out)
{
	worker->out.count = out->count;
}

static __attribute__((noinline, unused)) struct output
walk_flush(struct worker *worker, struct output out)
{
	walk_close(worker, &out);
	worker->flush(worker);
	return worker->out;
}

/* Sends a packet by an existing port, or drops it for `reason`. */
static inline void
walk_send(struct worker *worker, struct output *out, struct packet packet, uint32_t port, uint32_t reason)
{
	if (__builtin_expect(port >= worker->port_count, 0)) {
		walk_drop(worker, packet, reason);
		return;
	}
	packet_put(worker, out, &packet, port);
	if (__builtin_expect(out->count == out->capacity, 0))
		*out = walk_flush(worker, *out);
}

#define WALK_BURST 512u	/* largest burst that code is written for */

/* Copies the numbers of some packets of a burst, distinct and in ascending order. A sort without branches on the
 * numbers: each sets a bit, and bits are read in order. */
static inline void
walk_order(uint16_t *to, const uint16_t *from, uint32_t count)
{
	uint64_t sets[WALK_BURST / 64] = { 0 };
	uint32_t at = 0;

	for (uint32_t i = 0; i < count; i++)
		sets[from[i] / 64] |= 1ull << from[i] % 64;
	for (uint32_t set = 0; set < WALK_BURST / 64; set++) {
		for (uint64_t rest = sets[set]; rest != 0; rest &= rest - 1)
			to[at++] = (uint16_t)(64 * set + (uint32_t)__builtin_ctzll(rest));
	}
}

/* Which of `count` numbers, at most 64, are 0. 16 or 8 numbers per comparison, a bit for each. */
static inline uint64_t
walk_zeros(const uint32_t *numbers, uint32_t count)
{
	uint64_t set = 0;
	uint32_t i = 0;

#if defined(TABLE_AVX512)
	for (; i + 16 <= count; i += 16)
		set |= (uint64_t)_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(numbers + i), _mm512_setzero_si512()) << i;
#elif defined(TABLE_AVX2)
	for (; i + 8 <= count; i += 8) {
		const __m256i zeros = _mm256_cmpeq_epi32(_mm256_loadu_si256((const void *)(numbers + i)), _mm256_setzero_si256());

		set |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(zeros)) << i;
	}
#endif
	for (; i < count; i++)
		set |= (uint64_t)(numbers[i] == 0) << i;
	return set;
}

/* The set of the first `count` numbers, at most 64. */
static inline uint64_t
walk_first(uint32_t count)
{
	return count < 64 ? (1ull << count) - 1 : ~0ull;
}

/* Frees the packets in the set, at most 64, given as in bursts. */
static inline void
walk_free_some(struct worker *worker, void *const *packets, uint32_t count, uint64_t set)
{
	struct released *freed = &worker->freed;

	if (__builtin_expect(count < freed->capacity - freed->count, 1)) {
		freed->count += compact_packets(freed->packets + freed->count, packets, NULL, 0, count, set);
		return;
	}
	for (; set != 0; set &= set - 1) {
		freed->packets[freed->count++] = packets[__builtin_ctzll(set)];
		if (freed->count == freed->capacity)
			worker->flush(worker);
	}
}

/* Makes room for so many packets in the output. */
static inline void
walk_room(struct worker *worker, struct output *out, uint32_t count)
{
	if (__builtin_expect(count >= out->capacity - out->count, 0))
		*out = walk_flush(worker, *out);
}

/* `walk_send` for the packets of a group in `set`, merged between those in `sent`, which are the last in the
 * output. Packets leave in order of arrival. There is room.
 *
 *    output   .. s1 s3 | free             `sent` are packets 1 and 3 of the group, the last in the output
 *    set      0, 2, 4                      to be merged
 *    result   .. p0 s1 p2 s3 p4            filled from the end: a packet moves up, onto a place already left
 */
static __attribute__((noinline, unused)) void
walk_send_between(struct worker *worker, struct output *out, const struct burst *burst, uint32_t from, const uint16_t *ports, uint64_t set,
	uint64_t sent, uint32_t reason)
{
	uint32_t last = out->count, end, place;

	for (uint64_t rest = set; rest != 0; rest &= rest - 1) {
		const uint32_t i = (uint32_t)__builtin_ctzll(rest);

		if (ports[i] >= worker->port_count) {
			walk_drop(worker, packet_take(burst, from + i), reason);
			set &= ~(1ull << i);
		}
	}
	/* Backwards, so that none is overwritten. */
	place = end = last + (uint32_t)__builtin_popcountll(set);
	for (uint64_t rest = set | sent; rest != 0;) {
		const uint32_t i = 63u - (uint32_t)__builtin_clzll(rest);

		rest &= ~(1ull << i);
		out->count = --place;
		if (sent >> i & 1)
			packet_put_again(out, --last);
		else
			packet_put_group(out, burst, from + i, 1, ports + i);
	}
	out->count = end;
}

/* Not inlined into the code of groups without side exits. */
static __attribute__((noinline, unused)) void
walk_send_some(struct output *given, const struct burst *burst, uint32_t from, uint32_t count, const uint16_t *ports, uint64_t set)
{
	struct output out = *given;

	packet_put_some(&out, burst, from, count, ports, set);
	given->count = out.count;
}

/* Sends up to 64 packets of a burst in order: the `count` from number `from` on, except those in `gone`,
 * whose port is 0. Those in `sent` have been sent since the group began, one packet each. There was room for
 * the whole group then. */
static inline void
walk_send_group(struct worker *worker, struct output *out, const struct burst *burst, uint32_t from, uint32_t count, const uint16_t *ports,
	uint64_t gone, uint64_t sent, uint32_t reason)
{
	const uint64_t stay = ~gone & walk_first(count);
	uint16_t last = 0;
	int between;

	for (uint32_t i = 0; i < count; i++)
		last = ports[i] > last ? ports[i] : last;
	between = sent != 0 || last >= worker->port_count;
	if (__builtin_expect(between || gone != 0, 0)) {
		/* Copies, so that the originals can stay in registers. */
		const struct burst taken = *burst;
		struct output sending = *out;

		if (between)
			walk_send_between(worker, &sending, &taken, from, ports, stay, sent, reason);
		else
			walk_send_some(&sending, &taken, from, count, ports, stay);
		out->count = sending.count;
	} else if (count != 0) {
		/* A burst without packets need not have arrays. */
		packet_put_group(out, burst, from, count, ports);
	}
}

static inline struct packet
walk_truncate(struct worker *worker, struct packet packet, uint64_t bytes)
{
	packet_truncate(worker, &packet, bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX);
	return packet;
}

/* Copies the first `bytes` bytes of a packet of several segments. */
static __attribute__((noinline, unused)) void
walk_save_segments(struct packet packet, uint8_t *to, uint32_t bytes)
{
	struct packet_segment segment = packet_segment(&packet, 0);
	uint32_t part;

	for (; bytes != 0; bytes -= part, to += part) {
		part = segment.length < bytes ? segment.length : bytes;
		memcpy(to, segment.data, part);
		if (!packet_segment_next(&segment))
			break;
	}
}

/* Saves the front of a packet as received: at most so many bytes. Parsers gather what they read into the
 * first segment and overwrite bytes there, so these are saved as well. */
static inline void
walk_save(const struct packet *packet, uint8_t *to, uint32_t most)
{
	const uint32_t front = packet_length(packet) < most ? packet_length(packet) : most;

	if (__builtin_expect(packet_contiguous(packet) < front, 0))
		walk_save_segments(*packet, to, front);
	else
		memcpy(to, packet_data(packet), front);
}

/* Replaces the packet: `bytes` bytes from `front`, followed by what is behind the first `before` ones. 0 if
 * there is no memory or no room; nothing has changed then. */
static __attribute__((noinline, unused)) int
walk_place_anew(struct worker *worker, struct packet *packet, uint32_t before, const uint8_t *front, uint32_t bytes)
{
	struct packet_segment segment = packet_segment(packet, before);
	struct packet fresh;
	int added;

	if (!packet_copy(worker, packet, &fresh))
		return 0;
	packet_truncate(worker, &fresh, 0);
	added = packet_add(worker, &fresh, front, bytes);
	do
		added = added && packet_add(worker, &fresh, segment.data, segment.length);
	while (packet_segment_next(&segment));
	packet_drop(worker, added ? packet : &fresh);
	if (added)
		*packet = fresh;
	return added;
}

/* Replaces everything before `cursor` by the pieces. Pieces that are in place already stay; the others go
 * through `buffer`, since they may overlap the new front. 0 if there is no room; nothing has changed then. */
static inline int
walk_place(struct worker *worker, struct packet *packet, uint32_t cursor, const struct piece *pieces, uint32_t count, uint8_t *buffer)
{
	const uint8_t *data = packet_data(packet), *stays = data + cursor;
	uint32_t bytes = 0, before;

	while (count != 0 && pieces[count - 1].bytes + pieces[count - 1].count == stays)
		stays = pieces[--count].bytes;
	for (uint32_t i = 0; i < count; i++) {
		memcpy(buffer + bytes, pieces[i].bytes, pieces[i].count);
		bytes += pieces[i].count;
	}
	before = (uint32_t)(stays - data);
	if (bytes <= before) {
		packet_trim(packet, before - bytes);
	} else if (!packet_prepend(worker, packet, bytes - before)) {
		/* A copy, so that the original can stay in registers. */
		struct packet moved = *packet;

		if (!walk_place_anew(worker, &moved, before, buffer, bytes))
			return 0;
		*packet = moved;
		return 1;
	}
	memcpy(packet_data(packet), buffer, bytes);
	return 1;
}

/* Rebuilds a header whose varbit field has changed: `before` bytes of the old header, `count` bytes of the
 * new field, and the `behind` bytes after the `old` bytes of the old field. The result is in `scratch`, which
 * may contain the header or the field already. */
static inline uint8_t *
walk_varbit(uint8_t *scratch, const uint8_t *header, uint32_t before, uint32_t old, uint32_t behind, const uint8_t *field, uint32_t count)
{
	uint8_t bytes[UINT16_MAX];

	memcpy(bytes, header, before);
	memcpy(bytes + before, field, count);
	memcpy(bytes + before + count, header + before + old, behind);
	return memcpy(scratch, bytes, before + count + behind);
}

/* Ones' complement sums of 16-bit words in memory order. The sum of byte-swapped words is the byte-swapped sum
 * (RFC 1071, section 2 B), so bytes are swapped once, by `walk_sum_end`. A last odd byte counts as a word with a
 * zero. Four bytes are two words side by side: their carries meet in the upper half of the sum, and the fold
 * brings them back. 2^32 such additions fit 64 bits. */
static inline uint64_t
walk_sum(uint64_t sum, const uint8_t *bytes, uint32_t count)
{
	uint32_t i = 0;

	for (; i + 4 <= count; i += 4) {
		uint32_t words;

		memcpy(&words, bytes + i, sizeof(words));
		sum += words;
	}
	for (; i + 2 <= count; i += 2) {
		uint16_t word;

		memcpy(&word, bytes + i, sizeof(word));
		sum += word;
	}
	return i < count ? sum + bytes[i] : sum;
}

/* Subtracts whole words: adds their complements. */
static inline uint64_t
walk_sum_subtract(uint64_t sum, const uint8_t *bytes, uint32_t count)
{
	uint32_t i = 0;

	for (; i + 4 <= count; i += 4) {
		uint32_t words;

		memcpy(&words, bytes + i, sizeof(words));
		sum += ~words;
	}
	for (; i < count; i += 2) {
		uint16_t word;

		memcpy(&word, bytes + i, sizeof(word));
		sum += (uint16_t)~word;
	}
	return sum;
}

/* Adds a number of 16, 32, 48 or 64 bits in network order. */
static inline uint64_t
walk_sum_number(uint64_t sum, uint64_t number, uint32_t width)
{
	const uint64_t words = __builtin_bswap64(number) >> (64 - width);

	return sum + (words & 0xffffffff) + (words >> 32);
}

static inline uint16_t
walk_sum_end(uint64_t sum)
{
	return __builtin_bswap16(hash_sum_fold(sum));
}

/* Adds what is behind `cursor`. A piece at an odd offset is byte-swapped in every word. A segment of odd length
 * puts the next one's bytes into the other halves of words. */
static inline uint64_t
walk_sum_payload(uint64_t sum, struct packet packet, uint32_t cursor)
{
	struct packet_segment segment = packet_segment(&packet, cursor);
	uint32_t odd = 0;

	do {
		const uint16_t part = hash_sum_fold(walk_sum(0, segment.data, segment.length));

		sum += odd ? __builtin_bswap16(part) : part;
		odd ^= segment.length & 1;
	} while (packet_segment_next(&segment));
	return sum;
}

/* Hashes what is behind `cursor`. */
static inline void
walk_hash_payload(struct hash_input *input, struct packet packet, uint32_t cursor)
{
	struct packet_segment segment = packet_segment(&packet, cursor);

	do
		hash_add_bytes(input, segment.data, 8 * (uint64_t)segment.length);
	while (packet_segment_next(&segment));
}

#endif
