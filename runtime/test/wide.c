/* Wide numbers against arithmetic bit by bit, at widths around the limbs' ends. */
#include "wide.h"

#include <string.h>

#include "test.h"

#define WIDE_MOST 320u
#define LIMBS WIDE_LIMBS(WIDE_MOST)

/* A number as bits, low first. */
struct slow {
	uint8_t bits[2 * WIDE_MOST];
};

static struct slow
slow_from(const uint64_t *a, uint32_t width)
{
	struct slow slow = { { 0 } };

	for (uint32_t i = 0; i < width; i++)
		slow.bits[i] = a[i / 64] >> i % 64 & 1;
	return slow;
}

/* Whether `a` has exactly these bits, and zeros above. */
static int
slow_is(const struct slow *slow, const uint64_t *a, uint32_t width)
{
	for (uint32_t i = 0; i < 64 * wide_limbs(width); i++)
		if ((a[i / 64] >> i % 64 & 1) != (i < width ? slow->bits[i] : 0))
			return 0;
	return 1;
}

static struct slow
slow_add(struct slow a, struct slow b, uint32_t width, uint8_t *carry)
{
	for (uint32_t i = 0; i < width; i++) {
		const uint8_t sum = (uint8_t)(a.bits[i] + b.bits[i] + *carry);

		a.bits[i] = sum & 1;
		*carry = sum >> 1;
	}
	return a;
}

static struct slow
slow_complement(struct slow a, uint32_t width)
{
	for (uint32_t i = 0; i < width; i++)
		a.bits[i] ^= 1;
	return a;
}

static struct slow
slow_shift(struct slow a, int32_t left, uint32_t width, uint8_t fill)
{
	struct slow out = { { 0 } };

	for (int32_t i = 0; i < (int32_t)width; i++)
		out.bits[i] = i - left < 0 ? 0 : i - left >= (int32_t)width ? fill : a.bits[i - left];
	return out;
}

static void
slow_number(uint64_t *a, uint32_t width, uint64_t *random)
{
	const uint64_t kind = test_random(random) % 5;

	for (uint32_t i = 0; i < LIMBS; i++)
		a[i] = kind == 0 ? 0 : kind == 1 ? UINT64_MAX : test_random(random);
	if (kind == 0)
		a[0] = test_random(random) % 3;
	if (kind == 2)
		memset(a + 1, 0, (LIMBS - 1) * sizeof(*a));
	for (uint32_t i = wide_limbs(width); i < LIMBS; i++)
		a[i] = 0;
	wide_trim(a, width);
}

static void
slow_sums(const uint64_t *a, const uint64_t *b, uint32_t width)
{
	uint64_t out[LIMBS];
	uint8_t carry = 0, no_borrow = 1;
	const struct slow left = slow_from(a, width), right = slow_from(b, width);
	const struct slow sum = slow_add(left, right, width, &carry);
	const struct slow difference = slow_add(left, slow_complement(right, width), width, &no_borrow);
	const uint8_t negative = left.bits[width - 1];
	struct slow ones = slow_complement((struct slow){ { 0 } }, width), zero = { { 0 } }, extreme = ones;

	wide_add(out, a, b, width);
	CHECK(slow_is(&sum, out, width));
	wide_subtract(out, a, b, width);
	CHECK(slow_is(&difference, out, width));
	CHECK(wide_less(a, b, width) == !no_borrow);
	CHECK(wide_equal(a, b, width) == (memcmp(left.bits, right.bits, width) == 0));
	wide_add_saturating(out, a, b, width);
	CHECK(slow_is(carry ? &ones : &sum, out, width));
	wide_subtract_saturating(out, a, b, width);
	CHECK(slow_is(no_borrow ? &difference : &zero, out, width));
	if (negative)
		memset(extreme.bits, 0, width);
	extreme.bits[width - 1] = negative;
	wide_add_saturating_signed(out, a, b, width);
	CHECK(slow_is(negative == right.bits[width - 1] && sum.bits[width - 1] != negative ? &extreme : &sum, out, width));
	wide_subtract_saturating_signed(out, a, b, width);
	CHECK(slow_is(negative != right.bits[width - 1] && difference.bits[width - 1] != negative ? &extreme : &difference, out, width));
	CHECK(wide_less_signed(a, b, width) == (negative != right.bits[width - 1] ? negative : !no_borrow));
}

static void
slow_products(const uint64_t *a, const uint64_t *b, uint32_t width)
{
	uint64_t out[LIMBS], quotient[LIMBS], remainder[LIMBS], back[LIMBS];
	struct slow product = { { 0 } };

	for (uint32_t i = 0; i < width; i++) {
		uint8_t carry = 0;

		if (wide_bit(b, i))
			product = slow_add(product, slow_shift(slow_from(a, width), (int32_t)i, width, 0), width, &carry);
	}
	wide_multiply(out, a, b, width);
	CHECK(slow_is(&product, out, width));
	wide_divide(quotient, remainder, a, b, width);
	if (wide_is_zero(b, width)) {
		CHECK(wide_is_zero(quotient, width) && wide_is_zero(remainder, width));
		return;
	}
	CHECK(wide_less(remainder, b, width));
	wide_multiply(back, quotient, b, width);
	wide_add(back, back, remainder, width);
	CHECK(wide_equal(back, a, width));
}

static void
slow_shifts(const uint64_t *a, const uint64_t *b, uint32_t width, uint64_t *random)
{
	const uint32_t amount = (uint32_t)(test_random(random) % (width + 70)), bounded = amount < width ? amount : width;
	const uint32_t low = (uint32_t)(test_random(random) % width), part = (uint32_t)(test_random(random) % (width - low)) + 1;
	const struct slow number = slow_from(a, width), other = slow_from(b, low == 0 ? 1 : low);
	uint64_t out[3 * LIMBS], trimmed[LIMBS];
	struct slow expected = slow_shift(number, (int32_t)bounded, width, 0);

	wide_shift_left(out, a, amount, width);
	CHECK(slow_is(&expected, out, width));
	wide_copy(out, a, width);
	wide_shift_left(out, out, amount, width);
	CHECK(slow_is(&expected, out, width));
	expected = slow_shift(number, -(int32_t)bounded, width, 0);
	wide_shift_right(out, a, amount, width);
	CHECK(slow_is(&expected, out, width));
	expected = slow_shift(number, -(int32_t)bounded, width, number.bits[width - 1]);
	wide_shift_right_signed(out, a, amount, width);
	CHECK(slow_is(&expected, out, width));
	expected = slow_shift(number, -(int32_t)low, width, 0);
	wide_slice(out, part, a, width, low);
	CHECK(slow_is(&expected, out, part));
	if (part <= 64)
		CHECK(wide_slice64(a, width, low, part) == out[0]);
	/* a above the low bits of b */
	wide_resize(trimmed, low == 0 ? 1 : low, b, width);
	wide_concat(out, a, width, trimmed, low == 0 ? 1 : low);
	for (uint32_t i = 0; i < width + (low == 0 ? 1 : low); i++) {
		const uint32_t cut = low == 0 ? 1 : low;

		CHECK(wide_bit(out, i) == (i < cut ? other.bits[i] : number.bits[i - cut]));
	}
	wide_extend_signed(out, width + amount, a, width);
	for (uint32_t i = 0; i < 64 * wide_limbs(width + amount); i++)
		CHECK(wide_bit(out, i) == (i >= width + amount ? 0 : number.bits[i < width ? i : width - 1]));
}

static void
slow_fields(const uint64_t *a, uint32_t width, uint32_t offset)
{
	const uint32_t size = (offset + width + 7) / 8;
	uint8_t *bytes = calloc(1, size);
	uint64_t out[LIMBS];

	memset(bytes, 0xa5, size);
	wide_store(bytes, offset, width, a);
	for (uint32_t i = 0; i < 8 * size; i++) {
		const int bit = bytes[i / 8] >> (7 - i % 8) & 1;

		CHECK(bit == (i < offset || i >= offset + width ? 0xa5 >> (7 - i % 8) & 1 : wide_bit(a, width - 1 - (i - offset))));
	}
	wide_load(out, bytes, offset, width);
	CHECK(wide_equal(out, a, width));
	free(bytes);
}

void
test_wide(void)
{
	static const uint32_t widths[] = { 1, 7, 33, 63, 64, 65, 96, 127, 128, 129, 160, 191, 192, 193, 255, 256, 257, 319, 320 };
	uint64_t random = 2;

	for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++)
		for (uint32_t round = 0; round < 60; round++) {
			uint64_t a[LIMBS], b[LIMBS], out[LIMBS];
			const struct slow zero = { { 0 } };
			uint8_t one = 1;
			struct slow negated;

			slow_number(a, widths[w], &random);
			slow_number(b, widths[w], &random);
			slow_sums(a, b, widths[w]);
			slow_products(a, b, widths[w]);
			slow_shifts(a, b, widths[w], &random);
			slow_fields(a, widths[w], round % 9);
			negated = slow_add(zero, slow_complement(slow_from(a, widths[w]), widths[w]), widths[w], &one);
			wide_negate(out, a, widths[w]);
			CHECK(slow_is(&negated, out, widths[w]));
		}
}
