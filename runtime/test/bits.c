/* Every field of up to 64 bits at every offset, against reading bit by bit, in a buffer that ends where the field ends: the address sanitizer sees a byte
 * too many. */
#include "bits.h"

#include "test.h"

#define BITS_BYTES 24u

__extension__ typedef __int128 bits_wide;
__extension__ typedef unsigned __int128 bits_wide_unsigned;

static uint64_t
bits_slow(const uint8_t *bytes, uint32_t offset, uint32_t width)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < width; i++)
		value = value << 1 | (bytes[(offset + i) / 8] >> (7 - (offset + i) % 8) & 1);
	return value;
}

static void
bits_field(uint32_t offset, uint32_t width, uint64_t *random)
{
	const uint32_t first = offset / 8, size = (offset + width + 7) / 8 - first;
	uint8_t *exact = malloc(size == 0 ? 1 : size), before[BITS_BYTES];
	const uint64_t value = test_random(random);

	for (uint32_t i = 0; i < size; i++)
		before[i] = exact[i] = (uint8_t)test_random(random);
	CHECK(bits_load(exact, offset % 8, width) == bits_slow(exact, offset % 8, width));
	CHECK(bits_load_in(exact, size, offset % 8, width) == bits_slow(exact, offset % 8, width));
	bits_store(exact, offset % 8, width, value);
	CHECK(bits_slow(exact, offset % 8, width) == (value & bits_mask(width)));
	for (uint32_t bit = 0; bit < 8 * size; bit++)
		if (bit < offset % 8 || bit >= offset % 8 + width)
			CHECK(bits_slow(exact, bit, 1) == bits_slow(before, bit, 1));
	free(exact);
}

/* A field and its word: two bytes, no more. */
static void
bits_in_word(uint32_t offset, uint32_t width, uint64_t *random)
{
	const uint32_t word = offset / 16 * 2;
	uint8_t bytes[8], before[8];
	const uint64_t value = test_random(random);

	for (uint32_t i = 0; i < sizeof(bytes); i++)
		before[i] = bytes[i] = (uint8_t)test_random(random);
	bits_store_in_word(bytes, offset, width, value);
	CHECK(bits_slow(bytes, offset, width) == (value & bits_mask(width)));
	for (uint32_t bit = 0; bit < 8 * sizeof(bytes); bit++)
		if (bit < offset || bit >= offset + width)
			CHECK(bits_slow(bytes, bit, 1) == bits_slow(before, bit, 1));
	CHECK(memcmp(bytes, before, word) == 0 && memcmp(bytes + word + 2, before + word + 2, sizeof(bytes) - word - 2) == 0);
}

static void
bits_in(uint32_t size, uint32_t offset, uint32_t width, uint64_t *random)
{
	uint8_t *bytes = malloc(size);

	for (uint32_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)test_random(random);
	CHECK(bits_load_in(bytes, size, offset, width) == bits_slow(bytes, offset, width));
	free(bytes);
}

static bits_wide
bits_signed(uint64_t value, uint32_t width)
{
	return (bits_wide)(int64_t)bits_sign(value, width);
}

static uint64_t
bits_limit(bits_wide value, uint32_t width)
{
	const bits_wide most = ((bits_wide)1 << (width - 1)) - 1;

	return (uint64_t)(value > most ? most : value < -most - 1 ? -most - 1 : value) & bits_mask(width);
}

static void
bits_arithmetic(uint32_t width, uint64_t *random)
{
	/* Half of the numbers near the ends, where things go wrong. */
	const uint64_t a = (test_random(random) % 2 ? test_random(random) : 0 - test_random(random) % 3) & bits_mask(width);
	const uint64_t b = (test_random(random) % 2 ? test_random(random) : (bits_mask(width) >> 1) + test_random(random) % 3) & bits_mask(width);
	const __uint128_t sum = (__uint128_t)a + b;
	const uint64_t amount = test_random(random) % 80;

	CHECK(bits_add_saturating(a, b, width) == (sum > bits_mask(width) ? bits_mask(width) : (uint64_t)sum));
	CHECK(bits_subtract_saturating(a, b) == (a > b ? a - b : 0));
	CHECK(bits_add_saturating_signed(a, b, width) == bits_limit(bits_signed(a, width) + bits_signed(b, width), width));
	CHECK(bits_subtract_saturating_signed(a, b, width) == bits_limit(bits_signed(a, width) - bits_signed(b, width), width));
	CHECK(bits_less_signed(a, b, width) == (bits_signed(a, width) < bits_signed(b, width)));
	CHECK(bits_shift_right_signed(a, amount, width) == ((uint64_t)(bits_signed(a, width) >> amount) & bits_mask(width)));
	CHECK((bits_shift_left(a, amount) & bits_mask(width)) == ((uint64_t)((__uint128_t)a << amount) & bits_mask(width)));
	CHECK(bits_shift_right(a, amount) == (uint64_t)((__uint128_t)a >> amount));
}

/* Copies so many bytes, and no other. */
static void
bits_copied(uint32_t count, uint64_t *random)
{
	uint8_t from[32], to[34], before[34];

	for (uint32_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)test_random(random);
	for (uint32_t i = 0; i < sizeof(to); i++)
		before[i] = to[i] = (uint8_t)test_random(random);
	switch (count) {
#define COUNT(n)                            \
	case n:                             \
		bits_copy(to + 1, from, n); \
		break;
		COUNT(1) COUNT(2) COUNT(3) COUNT(4) COUNT(5) COUNT(6) COUNT(7) COUNT(8) COUNT(9) COUNT(10) COUNT(11)
		COUNT(12) COUNT(13) COUNT(14) COUNT(15) COUNT(16) COUNT(17) COUNT(32)
#undef COUNT
	default:
		return;
	}
	CHECK(to[0] == before[0] && memcmp(to + 1, from, count) == 0);
	CHECK(memcmp(to + 1 + count, before + 1 + count, sizeof(to) - 1 - count) == 0);
}

/* Words that are stored together lie one behind the other, and nothing else changes. */
static void
bits_words(uint64_t *random)
{
	uint8_t one[34], together[34];
	uint64_t words[4];

	for (uint32_t i = 0; i < sizeof(one); i++)
		one[i] = together[i] = (uint8_t)test_random(random);
	for (uint32_t i = 0; i < 4; i++)
		words[i] = test_random(random);
	for (uint32_t i = 0; i < 2; i++)
		bits_store64(one + 1 + 8 * i, words[i]);
	bits_store_words2(together + 1, words[0], words[1]);
	CHECK(memcmp(one, together, sizeof(one)) == 0);
	for (uint32_t i = 2; i < 4; i++)
		bits_store64(one + 1 + 8 * i, words[i]);
	bits_store_words4(together + 1, words[0], words[1], words[2], words[3]);
	CHECK(memcmp(one, together, sizeof(one)) == 0);
}

void
test_bits(void)
{
	uint64_t random = 1;

	for (uint32_t round = 0; round < 4; round++)
		for (uint32_t width = 0; width <= 64; width++) {
			for (uint32_t offset = 0; offset < 16; offset++)
				bits_field(offset, width, &random);
			for (uint32_t size = (width + 7) / 8 + 1; size <= 12; size++)
				for (uint32_t offset = 0; offset + width <= 8 * size; offset++)
					bits_in(size, offset, width, &random);
			for (uint32_t offset = 0; offset < 32; offset++)
				if (width != 0 && offset % 16 + width <= 16)
					bits_in_word(offset, width, &random);
		}
	for (uint32_t width = 1; width <= 64; width++)
		for (uint32_t round = 0; round < 200; round++)
			bits_arithmetic(width, &random);
	for (uint32_t count = 1; count <= 32; count++)
		bits_copied(count, &random);
	for (uint32_t round = 0; round < 100; round++)
		bits_words(&random);
	CHECK(bits_divide(7, 0) == 0 && bits_remainder(7, 0) == 0 && bits_divide(7, 2) == 3 && bits_remainder(7, 2) == 1);
}
