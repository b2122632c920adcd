/* Meters, random numbers and hashes give the numbers that the interpreter's documentation gives; registers, counters and groups keep to their bounds. */
#include <string.h>

#include "extern/key_sketch.h"
#include "extern/counter.h"
#include "extern/group.h"
#include "extern/hash.h"
#include "extern/meter.h"
#include "extern/random.h"
#include "extern/state.h"
#include "test.h"

static void
extern_meters(void)
{
	static const uint32_t expected[] = { 0, 0, 1, 1, 2, 2 };
	const meter_tokens unit = 1000000000, largest = ((meter_tokens)1 << 64) * unit - 1;
	struct meter_element element = { .configured = 0 };

	CHECK(meter_execute(&element, 9000, 0, 0) == COLOUR_GREEN);
	meter_configure(&element, 1000 * unit, 2, 2000 * unit, 4, 0);
	for (uint32_t i = 0; i < 6; i++)
		CHECK(meter_execute(&element, 1, 0, 0) == expected[i]);
	CHECK(meter_execute(&element, 1, 0, 499999) == COLOUR_RED);
	CHECK(meter_execute(&element, 1, 0, 500000) == COLOUR_YELLOW);
	CHECK(meter_execute(&element, 1, 0, 999999) == COLOUR_RED);
	CHECK(meter_execute(&element, 1, 0, 1000000) == COLOUR_GREEN);
	for (uint32_t i = 0; i < 5; i++)
		CHECK(meter_execute(&element, 1, 0, UINT64_MAX) == expected[i]);
	meter_configure(&element, largest, UINT64_MAX, largest, UINT64_MAX, 0);
	CHECK(meter_execute(&element, UINT64_MAX, 0, 0) == COLOUR_GREEN);
	CHECK(meter_execute(&element, UINT64_MAX, 0, 0) == COLOUR_RED);
	CHECK(meter_execute(&element, 1, COLOUR_YELLOW, UINT64_MAX) == COLOUR_YELLOW);
	CHECK(meter_execute(&element, 1, 7, UINT64_MAX) == COLOUR_RED);
	meter_configure(&element, 1, 1, unit / 2, 1, 0);
	CHECK(meter_execute(&element, 1, 0, 0) == COLOUR_GREEN);
	CHECK(meter_execute(&element, 1, 0, 2 * (uint64_t)unit - 1) == COLOUR_RED);
	CHECK(meter_execute(&element, 1, 0, 2 * (uint64_t)unit) == COLOUR_YELLOW);
	CHECK(meter_execute(&element, 1, 0, METER_UNIT - 1) == COLOUR_YELLOW);
	CHECK(meter_execute(&element, 1, 0, METER_UNIT + 2 * (uint64_t)unit) == COLOUR_GREEN);
	meter_reset(&element);
	CHECK(meter_execute(&element, 1, 2, 0) == COLOUR_GREEN);
}

static void
extern_random(void)
{
	static const uint64_t first[] = { 0xa706dd2f4d197e6f, 0x2a98f501af37e97f, 0x82876e1c4f0b438c };
	static const uint64_t second[] = { 0x3d41bf495cd3075f, 0xb8b4c2977eabce45, 0x27e8ac81e7bc3b89 };
	uint64_t draws = 0, out[2];
	const uint64_t base = random_base(2, 2), low[2] = { 5, 0 }, high[2] = { 4, 0 }, ones[2] = { UINT64_MAX, UINT64_MAX }, zero[2] = { 0, 0 };

	for (uint32_t i = 0; i < 3; i++) {
		CHECK(random_draw(random_base(0, 0), i) == first[i]);
		CHECK(random_draw(random_base(1, 7), i) == second[i]);
	}
	for (uint32_t i = 0; i < 100; i++) {
		const uint64_t number = random_between(base, &draws, 5, 8);

		CHECK(number >= 5 && number <= 8 && number == 5 + random_draw(base, i) % 4);
	}
	CHECK(random_between(base, &draws, 0, UINT64_MAX) == random_draw(base, 100) && draws == 101);
	CHECK(random_between(base, &draws, 5, 4) == 5 && draws == 102);
	draws = 0;
	random_between_wide(base, &draws, out, zero, ones, 128);
	CHECK(draws == 2 && out[0] == random_draw(base, 0) && out[1] == random_draw(base, 1));
	random_between_wide(base, &draws, out, low, high, 128);
	CHECK(draws == 4 && out[0] == 5 && out[1] == 0);
	random_between_wide(base, &draws, out, low, (const uint64_t[2]){ 8, 0 }, 128);
	CHECK(out[0] >= 5 && out[0] <= 8 && out[1] == 0);
}

static void
extern_hashes(void)
{
	static const uint8_t digits[] = "123456789";
	static const uint8_t header[] = { 0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7 };
	static const uint8_t data[] = { 0x12, 0x34, 0xff, 0xff, 0x80 };

	CHECK(hash_crc32(digits, 9) == 0xcbf43926);
	CHECK(hash_crc16(digits, 9) == 0xbb3d);
	CHECK(hash_identity(digits, 9) == 0x3132333435363738);
	CHECK(hash_csum16(digits, 9) == 0xf62a);
	CHECK(hash_xor16(digits, 9) == 0x3908);
	CHECK(hash_target(digits, 9) == 0x982d267ba75a59a0);
	CHECK(hash_csum16(header, sizeof(header)) == 0xb861);
	CHECK(hash_crc32(digits, 0) == 0 && hash_target(digits, 0) == 0 && hash_csum16(digits, 0) == 0xffff);
	CHECK(hash_sum_subtract(hash_sum_add(0, data, 5), data + 2, 3) == 0x1234);
	CHECK(hash_sum_add(0xffff, (const uint8_t[]){ 0, 1 }, 2) == 1);
}

/* Words and bytes have the same remainder, for every number of bytes behind the last word. */
static void
extern_crc_words(void)
{
	uint64_t random = 7;
	uint8_t bytes[80];

	for (uint32_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)test_random(&random);
	for (uint32_t count = 0; count <= sizeof(bytes); count++) {
		CHECK(hash_crc32(bytes, count) == (uint32_t)~hash_crc32_bytes(UINT32_MAX, bytes, count));
		CHECK(hash_crc16(bytes, count) == hash_crc16_bytes(0, bytes, count));
	}
}

/* CRC-16/IBM-3740, at the top of its words, in the second set of an array; and those of the start, where none is in use. */
static void
extern_crc_parameters(void)
{
	static uint32_t words[1 + 2 * HASH_CRC_WORDS];
	const struct state_array array = { .count = 1 + 2 * HASH_CRC_WORDS, .elements = (uint8_t *)words };
	const uint8_t *digits = (const uint8_t *)"123456789";
	struct hash_crc crc = { .initial = 0xffff0000, .shift = 16 };

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t remainder = i << 24;

		for (uint32_t bit = 0; bit < 8; bit++)
			remainder = remainder << 1 ^ (remainder >> 31 != 0 ? 0x10210000u : 0);
		crc.remainders[i] = remainder;
	}
	CHECK(hash_crc_set(&array) == NULL);
	CHECK(hash_crc16_custom(NULL, digits, 9) == 0xbb3d && hash_crc32_custom(NULL, digits, 9) == 0xcbf43926);
	memcpy(words + 1 + HASH_CRC_WORDS, &crc, sizeof(crc));
	words[0] = 2;
	CHECK(hash_crc16_custom(hash_crc_set(&array), digits, 9) == 0x29b1);
	crc.reversed = 16;
	crc.last = 0xffff;
	CHECK(hash_crc_with(&crc, digits, 9) == (0x8d94 ^ 0xffff));
	CHECK(hash_crc_with(&crc, digits, 0) == 0);
}

/* The same bits in pieces of any width. */
static void
extern_pieces(void)
{
	uint64_t random = 5;

	for (uint32_t round = 0; round < 500; round++) {
		uint8_t whole[64], collected[80];
		struct hash_input input = hash_begin(collected);
		uint32_t bit = 0;
		const uint32_t bits = (uint32_t)(test_random(&random) % 400);

		for (uint32_t i = 0; i < sizeof(whole); i++)
			whole[i] = (uint8_t)test_random(&random);
		memset(collected, 0xff, sizeof(collected));
		while (bit < bits) {
			const uint32_t left = bits - bit, width = 1 + (uint32_t)(test_random(&random) % (left < 100 ? left : 100));
			uint64_t wide[2];

			wide_load(wide, whole, bit, width);
			if (test_random(&random) % 4 == 0 && bit % 8 == 0)
				hash_add_bytes(&input, whole + bit / 8, width);
			else if (width <= 64)
				hash_add(&input, wide[0], width);
			else
				hash_add_wide(&input, wide, width);
			bit += width;
		}
		if (bits % 8 != 0)
			whole[bits / 8] &= (uint8_t)(0xff << (8 - bits % 8));
		CHECK(input.bits == bits && hash_bytes(&input) == (bits + 7) / 8);
		CHECK(memcmp(whole, collected, (bits + 7) / 8) == 0);
	}
}

/* Keys looked up before set no bit, others nearly always another bit, and only in their table's map. */
static void
extern_asked(void)
{
	static uint64_t maps[3 * KEY_SKETCH_WORDS];
	const struct worker worker = { .key_sketches = maps };
	uint64_t bits = 0, elsewhere = 0;

	for (uint64_t round = 0; round < 2; round++) {
		for (uint64_t key = 0; key < 1000; key++) {
			sketch_add_key(&worker, 1, (const uint64_t[]){ key }, 1);
			sketch_add_key(&worker, 1, (const uint64_t[]){ 7, key << 40 }, 2);
		}
	}
	for (uint32_t word = 0; word < KEY_SKETCH_WORDS; word++) {
		bits += (uint64_t)__builtin_popcountll(maps[KEY_SKETCH_WORDS + word]);
		elsewhere |= maps[word] | maps[2 * KEY_SKETCH_WORDS + word];
	}
	/* By chance, 30 of 2,000 keys share a bit with another. */
	CHECK(bits > 1940 && bits <= 2000 && elsewhere == 0);
}

static void
extern_state(void)
{
	_Alignas(8) uint8_t elements[48] = { 0 };
	struct state_array array = { .count = 3, .elements = elements };
	const uint64_t wide[2] = { 5, 6 };
	uint64_t value = 99, out[2] = { 1, 1 };

	for (uint32_t bytes = 1; bytes <= 8; bytes *= 2) {
		state_write(&array, 2, bytes, 0xab);
		state_write(&array, 3, bytes, 0xcd);
		CHECK(state_read(&array, 2, bytes, &value) && value == 0xab);
		CHECK(!state_read(&array, 3, bytes, &value) && value == 0xab);
		CHECK(elements[3 * bytes] == 0);
		state_write(&array, 2, bytes, 0);
	}
	state_write_wide(&array, 2, 2, wide);
	state_write_wide(&array, 3, 2, wide);
	CHECK(state_read_wide(&array, 2, 2, out) && out[0] == 5 && out[1] == 6);
	CHECK(!state_read_wide(&array, UINT64_MAX, 2, out));
}

static void
extern_counters_and_groups(void)
{
	struct counter_element elements[2] = { { 0, 0 }, { 0, 0 } };
	struct counter_element *const counters[] = { elements };
	const struct worker worker = { .counters = counters };
	struct groups *table = calloc(1, sizeof(*table) + 8 * sizeof(struct group_slot));
	struct groups *_Atomic published = NULL;
	const struct group *groups[6];

	counter_add(&worker, 0, 2, 1, 60);
	counter_add(&worker, 0, 2, 1, 40);
	counter_add(&worker, 0, 2, 2, 60);
	CHECK(elements[0].packets == 0 && elements[1].packets == 2 && elements[1].bytes == 100);
	CHECK(group_find(&published, 1) == NULL);
	table->mask = 7;
	for (uint32_t i = 0; i < 6; i++) {
		groups[i] = calloc(1, sizeof(*groups[i]));
		CHECK(group_insert(table, i * 8, groups[i]));
	}
	published = table;
	for (uint32_t i = 0; i < 6; i++)
		CHECK(group_find(&published, i * 8) == groups[i]);
	CHECK(group_find(&published, 1) == NULL);
	for (uint32_t i = 0; i < 6; i++)
		free((void *)(uintptr_t)groups[i]);
	free(table);
}

void
test_extern(void)
{
	extern_meters();
	extern_random();
	extern_hashes();
	extern_crc_words();
	extern_crc_parameters();
	extern_pieces();
	extern_asked();
	extern_state();
	extern_counters_and_groups();
}
