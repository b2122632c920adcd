/* What lanes must do, by plain loops: included by a test for each number of them. */
#ifndef BACUS_TEST_LANES_CASES_H
#define BACUS_TEST_LANES_CASES_H

#include "packet/own.h"

#include "lanes.h"
#include "test.h"

#define LANES_BYTES 96u
#define LANES_FIRST 3u	/* packets of the burst before those in hand */
#define LANES_BURST (LANES_FIRST + LANES)

struct lanes_case {
	uint8_t bytes[LANES_BURST][LANES_BYTES];
	void *packets[LANES_BURST];
	uint16_t lengths[LANES_BURST];
	uint16_t ports[LANES_BURST];
	struct burst burst;
	struct lanes_packets taken;
};

static void
lanes_begin(struct lanes_case *all, uint64_t *state)
{
	for (uint32_t i = 0; i < LANES_BURST; i++) {
		for (uint32_t at = 0; at < LANES_BYTES; at++)
			all->bytes[i][at] = (uint8_t)test_random(state);
		all->packets[i] = all->bytes[i];
		all->lengths[i] = (uint16_t)(LANES_BYTES - test_random(state) % 40);
		all->ports[i] = (uint16_t)test_random(state);
	}
	all->burst = (struct burst){ .count = LANES_BURST, .ports = all->ports, .packets = all->packets, .lengths = all->lengths };
}

static void
lanes_check_take(struct lanes_case *all)
{
	const lanes ports = lanes_ports(&all->burst, LANES_FIRST);
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < LANES; i++)
		least = all->lengths[LANES_FIRST + i] < least ? all->lengths[LANES_FIRST + i] : least;
	CHECK(!lanes_take(&all->burst, LANES_FIRST, least + 1, NULL, &all->taken));
	CHECK(lanes_take(&all->burst, LANES_FIRST, least, NULL, &all->taken));
	for (uint32_t i = 0; i < LANES; i++) {
		CHECK(all->taken.data[i] == all->bytes[LANES_FIRST + i] && all->taken.length[i] == all->lengths[LANES_FIRST + i]);
		CHECK(ports[i] == all->ports[LANES_FIRST + i]);
	}
}

/* Packets that wait until there are LANES of them, in the end fewer; of groups of which many, few or all wait. A handle is its packet's number, and 1. */
static void
lanes_check_wait(uint64_t *state)
{
	struct lanes_deferred waiting = { .count = 0 };
	void *packets[LANES_GROUP + 1];
	uint16_t lengths[LANES_GROUP + 1], ports[LANES_GROUP + 1];
	const struct burst group = { .count = LANES_GROUP + 1, .ports = ports, .packets = packets, .lengths = lengths };
	uint32_t expected[LANES_WAITING], count = 0;

	for (uint32_t i = 0; i <= LANES_GROUP; i++) {
		packets[i] = (void *)(uintptr_t)(i + 1);
		lengths[i] = (uint16_t)test_random(state);
		ports[i] = (uint16_t)test_random(state);
	}
	for (uint32_t round = 0; round < 40 || count != 0; round++) {
		const uint64_t drawn = test_random(state) ^ test_random(state) << 32;
		const uint64_t set = round >= 40 ? 0 : round % 3 == 0 ? drawn : round % 3 == 1 ? drawn & drawn >> 3 & drawn >> 7 : ~0ull;
		const uint32_t least = round < 40 ? LANES : 1;

		lanes_defer(&waiting, &group, 1, set);
		for (uint64_t rest = set; rest != 0; rest &= rest - 1)
			expected[count++] = 1 + (uint32_t)__builtin_ctzll(rest);
		while (count >= least) {
			const uint32_t size = count < LANES ? count : LANES;
			const struct burst burst = lanes_take_batch(&waiting, size);

			count -= size;
			CHECK(waiting.count == count && burst.count == LANES);
			for (uint32_t i = 0; i < LANES; i++) {
				const uint32_t number = expected[count + (i < size ? i : 0)];

				CHECK(burst.packets[i] == packets[number] && burst.lengths[i] == lengths[number] && burst.ports[i] == ports[number]);
			}
		}
		CHECK(waiting.count == count);
	}
}

static void
lanes_check_sum(const struct lanes_case *all, uint64_t *state)
{
	const uint32_t count = (uint32_t)test_random(state) % (2 * LANES + 1), set = (uint32_t)test_random(state) & lanes_first(count);
	uint32_t sum = 0;

	for (uint32_t i = 0; i < LANES; i++) {
		CHECK((lanes_first(count) >> i & 1) == (i < count));
		sum += set >> i & 1 ? all->lengths[LANES_FIRST + i] : 0;
	}
	CHECK(lanes_first(count) >> LANES == 0 && lanes_sum(all->taken.length, set) == sum);
}

static void
lanes_check_same(struct lanes_case *all)
{
	lanes numbers = lanes_broadcast(all->lengths[0]);
	uint32_t stored[LANES];

	CHECK(lanes_uniform(numbers));
	for (uint32_t i = 0; i < LANES; i++) {
		numbers[i] ^= 1u << (2 * i);
		CHECK(!lanes_uniform(numbers));
		lanes_store_numbers(stored, numbers);
		CHECK(stored[i] == (all->lengths[0] ^ 1u << (2 * i)));
		numbers[i] = all->lengths[0];
	}
}

static void
lanes_check_load(const struct lanes_case *all, uint32_t offset)
{
	lanes words[4];

	lanes_load(&all->taken, offset, words);
	for (uint32_t i = 0; i < LANES; i++) {
		const uint8_t *bytes = (const uint8_t *)all->taken.data[i] + offset;

		for (uint32_t word = 0; word < 4; word++, bytes += 4)
			CHECK(words[word][i] == ((uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3]));
	}
}

static void
lanes_check_numbers(uint64_t *state)
{
	uint32_t numbers[3][LANES];
	uint64_t keys[2 * LANES + 1];
	uint32_t bytes[LANES];
	lanes low, high, mask;
	uint32_t bits;

	for (uint32_t i = 0; i < LANES; i++) {
		numbers[0][i] = (uint32_t)test_random(state);
		numbers[1][i] = (uint32_t)test_random(state);
		numbers[2][i] = test_random(state) & 1 ? UINT32_MAX : 0;
	}
	low = lanes_numbers(numbers[0]);
	high = lanes_numbers(numbers[1]);
	mask = lanes_numbers(numbers[2]);
	bits = lanes_movemask(mask);
	CHECK(lanes_uniform(lanes_constant(0x1ffff)) && lanes_constant(0x1ffff)[LANES - 1] == 0x1ffff);
	CHECK(lanes_movemask(lanes_broadcast(UINT32_MAX)) == (1u << LANES) - 1u && lanes_movemask(lanes_broadcast(0)) == 0);
	lanes_store(keys, 1, low, high);
	for (uint32_t i = 0; i < LANES; i++)
		CHECK(keys[i] == ((uint64_t)numbers[1][i] << 32 | numbers[0][i]));
	memset(keys, 0x55, sizeof(keys));
	lanes_store(keys + 1, 2, low, high);
	lanes_store_bytes(bytes, low);
	for (uint32_t i = 0; i < LANES; i++) {
		const uint32_t chosen = lanes_blend(mask, low, high)[i];

		CHECK((bits >> i & 1) == (numbers[2][i] & 1));
		CHECK(chosen == numbers[numbers[2][i] != 0 ? 0 : 1][i]);
		CHECK(bytes[i] == __builtin_bswap32(numbers[0][i]));
		CHECK(keys[2 * i] == 0x5555555555555555 && keys[2 * i + 1] == ((uint64_t)numbers[1][i] << 32 | numbers[0][i]));
	}
	keys[2 * LANES] = 0xaaaaaaaaaaaaaaaa;
	lanes_store_two(keys, high, mask, low, high);
	CHECK(keys[2 * LANES] == 0xaaaaaaaaaaaaaaaa);
	for (uint32_t i = 0; i < LANES; i++) {
		CHECK(keys[2 * i] == ((uint64_t)numbers[2][i] << 32 | numbers[1][i]));
		CHECK(keys[2 * i + 1] == ((uint64_t)numbers[1][i] << 32 | numbers[0][i]));
	}
}

static void
lanes_check(void)
{
	struct lanes_case all;
	uint64_t state = LANES;

	for (uint32_t round = 0; round < 50; round++) {
		lanes_begin(&all, &state);
		lanes_check_take(&all);
		lanes_check_wait(&state);
		lanes_check_sum(&all, &state);
		lanes_check_same(&all);
		for (uint32_t offset = 0; offset < 40; offset++)
			lanes_check_load(&all, offset);
		lanes_check_numbers(&state);
	}
}

#endif
