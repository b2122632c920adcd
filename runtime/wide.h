/* Numbers of any width, in limbs of 64 bits, low limb first; bits above the width are zero, in operands and
 * results. There are `wide_limbs(width)` limbs, at least one. `width` is a literal in generated code, so
 * loops unroll. A result may be the same memory as an operand, unless a function's comment excludes it. */
#ifndef BACUS_WIDE_H
#define BACUS_WIDE_H

#include "bits.h"

#define WIDE_LIMBS(width) ((width) == 0 ? 1 : ((width) + 63) / 64)

static inline uint32_t
wide_limbs(uint32_t width)
{
	return WIDE_LIMBS(width);
}

/* Clears the bits above the width. */
static inline void
wide_trim(uint64_t *a, uint32_t width)
{
	if (width % 64 != 0 || width == 0)
		a[wide_limbs(width) - 1] &= bits_mask(width % 64);
}

static inline void
wide_zero(uint64_t *out, uint32_t width)
{
	memset(out, 0, wide_limbs(width) * sizeof(*out));
}

static inline void
wide_copy(uint64_t *out, const uint64_t *a, uint32_t width)
{
	memmove(out, a, wide_limbs(width) * sizeof(*out));
}

static inline void
wide_from(uint64_t *out, uint64_t value, uint32_t width)
{
	wide_zero(out, width);
	out[0] = width < 64 ? value & bits_mask(width) : value;
}

/* The number, or UINT64_MAX if it is larger: for shift amounts and indices. */
static inline uint64_t
wide_to_saturating(const uint64_t *a, uint32_t width)
{
	for (uint32_t i = 1; i < wide_limbs(width); i++)
		if (a[i] != 0)
			return UINT64_MAX;
	return a[0];
}

/* A field of a packet; see bits.h. A field counts from its most significant bit, limbs from the least
 * significant one: limb i ends 64 * i bits before the field's end. The top limb has what is left. */
static inline void
wide_load(uint64_t *out, const uint8_t *bytes, uint32_t offset, uint32_t width)
{
	const uint32_t limbs = wide_limbs(width);

	for (uint32_t i = 0; i + 1 < limbs; i++)
		out[i] = bits_load(bytes, offset + width - 64 * (i + 1), 64);
	out[limbs - 1] = bits_load(bytes, offset, width - 64 * (limbs - 1));
}

static inline void
wide_store(uint8_t *bytes, uint32_t offset, uint32_t width, const uint64_t *a)
{
	const uint32_t limbs = wide_limbs(width);

	for (uint32_t i = 0; i + 1 < limbs; i++)
		bits_store(bytes, offset + width - 64 * (i + 1), 64, a[i]);
	bits_store(bytes, offset, width - 64 * (limbs - 1), a[limbs - 1]);
}

static inline void
wide_and(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t width)
{
	for (uint32_t i = 0; i < wide_limbs(width); i++)
		out[i] = a[i] & b[i];
}

static inline void
wide_or(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t width)
{
	for (uint32_t i = 0; i < wide_limbs(width); i++)
		out[i] = a[i] | b[i];
}

static inline void
wide_xor(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t width)
{
	for (uint32_t i = 0; i < wide_limbs(width); i++)
		out[i] = a[i] ^ b[i];
}

static inline void
wide_complement(uint64_t *out, const uint64_t *a, uint32_t width)
{
	for (uint32_t i = 0; i < wide_limbs(width); i++)
		out[i] = ~a[i];
	wide_trim(out, width);
}

/* a + b + carry over whole limbs; returns the carry out of the last one. Two additions may carry, but not both
 * for one limb: after the first carry `partial` is 0. */
static inline uint64_t
wide_add_limbs(uint64_t *out, const uint64_t *a, const uint64_t *b, uint64_t carry, uint32_t limbs)
{
	for (uint32_t i = 0; i < limbs; i++) {
		const uint64_t partial = a[i] + carry;
		const uint64_t sum = partial + b[i];

		carry = (uint64_t)(partial < carry) | (uint64_t)(sum < partial);
		out[i] = sum;
	}
	return carry;
}

/* a - b over whole limbs; returns the borrow. */
static inline uint64_t
wide_subtract_limbs(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t limbs)
{
	uint64_t borrow = 0;

	for (uint32_t i = 0; i < limbs; i++) {
		const uint64_t left = a[i], right = b[i], difference = left - right;

		out[i] = difference - borrow;
		borrow = (uint64_t)(left < right) | (uint64_t)(difference < borrow);
	}
	return borrow;
}

static inline void
wide_add(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t width)
{
	wide_add_limbs(out, a, b, 0, wide_limbs(width));
	wide_trim(out, width);
}

static inline void
wide_subtract(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t width)
{
	wide_subtract_limbs(out, a, b, wide_limbs(width));
	wide_trim(out, width);
}

/* Complement plus one; the carry goes on as long as limbs become 0. */
static inline void
wide_negate(uint64_t *out, const uint64_t *a, uint32_t width)
{
	uint64_t carry = 1;

	for (uint32_t i = 0; i < wide_limbs(width); i++) {
		out[i] = ~a[i] + carry;
		carry &= out[i] == 0;
	}
	wide_trim(out, width);
}

/* `out` must not be an operand. By rows, as by hand, without limbs beyond the width. A product of two limbs plus
 * two more limbs fits 128 bits. */
static inline void
wide_multiply(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t width)
{
	__extension__ typedef unsigned __int128 product;
	const uint32_t limbs = wide_limbs(width);

	wide_zero(out, width);
	for (uint32_t i = 0; i < limbs; i++) {
		uint64_t carry = 0;

		for (uint32_t j = 0; i + j < limbs; j++) {
			const product sum = (product)a[i] * b[j] + out[i + j] + carry;

			out[i + j] = (uint64_t)sum;
			carry = (uint64_t)(sum >> 64);
		}
	}
	wide_trim(out, width);
}

static inline int
wide_is_zero(const uint64_t *a, uint32_t width)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < wide_limbs(width); i++)
		any |= a[i];
	return any == 0;
}

static inline int
wide_equal(const uint64_t *a, const uint64_t *b, uint32_t width)
{
	uint64_t differ = 0;

	for (uint32_t i = 0; i < wide_limbs(width); i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}

/* From the low limb up, without a branch: a higher limb that differs overrules. */
static inline int
wide_less(const uint64_t *a, const uint64_t *b, uint32_t width)
{
	int less = 0;

	for (uint32_t i = 0; i < wide_limbs(width); i++)
		less = a[i] != b[i] ? a[i] < b[i] : less;
	return less;
}

static inline int
wide_bit(const uint64_t *a, uint32_t bit)
{
	return (int)(a[bit / 64] >> bit % 64 & 1);
}

static inline int
wide_negative(const uint64_t *a, uint32_t width)
{
	return width != 0 && wide_bit(a, width - 1);
}

static inline int
wide_less_signed(const uint64_t *a, const uint64_t *b, uint32_t width)
{
	const int left = wide_negative(a, width), right = wide_negative(b, width);

	return left != right ? left : wide_less(a, b, width);
}

static inline void
wide_ones(uint64_t *out, uint32_t width)
{
	for (uint32_t i = 0; i < wide_limbs(width); i++)
		out[i] = UINT64_MAX;
	wide_trim(out, width);
}

/* From the top down, since the result may be the operand. A shift of 0 within limbs would shift by 64: left out. */
static inline void
wide_shift_left(uint64_t *out, const uint64_t *a, uint64_t amount, uint32_t width)
{
	const uint32_t limbs = wide_limbs(width);
	const uint64_t skip = amount / 64;
	const uint32_t shift = amount % 64;

	for (uint32_t i = limbs; i-- != 0;) {
		const uint64_t high = i >= skip ? a[i - skip] << shift : 0;
		const uint64_t low = i > skip && shift != 0 ? a[i - skip - 1] >> (64 - shift) : 0;

		out[i] = high | low;
	}
	wide_trim(out, width);
}

/* From the bottom up, for the same reason. `skip < limbs - i`: i + skip could overflow. */
static inline void
wide_shift_right(uint64_t *out, const uint64_t *a, uint64_t amount, uint32_t width)
{
	const uint32_t limbs = wide_limbs(width);
	const uint64_t skip = amount / 64;
	const uint32_t shift = amount % 64;

	for (uint32_t i = 0; i < limbs; i++) {
		const uint64_t low = skip < limbs - i ? a[i + skip] >> shift : 0;
		const uint64_t high = skip + 1 < limbs - i && shift != 0 ? a[i + skip + 1] << (64 - shift) : 0;

		out[i] = low | high;
	}
}

/* Sets the bits from `from` to `width - 1`. */
static inline void
wide_fill(uint64_t *out, uint32_t from, uint32_t width)
{
	for (uint32_t i = from / 64; i < wide_limbs(width); i++)
		out[i] |= i == from / 64 ? UINT64_MAX << from % 64 : UINT64_MAX;
	wide_trim(out, width);
}

/* By at most the width: larger amounts leave the sign only. */
static inline void
wide_shift_right_signed(uint64_t *out, const uint64_t *a, uint64_t amount, uint32_t width)
{
	const int negative = wide_negative(a, width);
	const uint32_t by = amount < width ? (uint32_t)amount : width;

	wide_shift_right(out, a, by, width);
	if (negative)
		wide_fill(out, width - by, width);
}

/* Bits `low` to `low + width - 1` of a number of `width_a` bits. */
static inline void
wide_slice(uint64_t *out, uint32_t width, const uint64_t *a, uint32_t width_a, uint32_t low)
{
	const uint32_t limbs = wide_limbs(width), limbs_a = wide_limbs(width_a), skip = low / 64, shift = low % 64;

	for (uint32_t i = 0; i < limbs; i++) {
		const uint64_t lower = i + skip < limbs_a ? a[i + skip] >> shift : 0;
		const uint64_t upper = i + skip + 1 < limbs_a && shift != 0 ? a[i + skip + 1] << (64 - shift) : 0;

		out[i] = lower | upper;
	}
	wide_trim(out, width);
}

/* At most 64 bits from `low` on. */
static inline uint64_t
wide_slice64(const uint64_t *a, uint32_t width_a, uint32_t low, uint32_t width)
{
	uint64_t out = 0;

	wide_slice(&out, width, a, width_a, low);
	return out;
}

/* Stores `width_b` bits of `b` into the bits from `low` on, which are zero. */
static inline void
wide_place(uint64_t *out, uint32_t width, const uint64_t *b, uint32_t width_b, uint32_t low)
{
	const uint32_t limbs = wide_limbs(width), skip = low / 64, shift = low % 64;

	for (uint32_t i = 0; i < wide_limbs(width_b); i++) {
		if (i + skip < limbs)
			out[i + skip] |= b[i] << shift;
		if (i + skip + 1 < limbs && shift != 0)
			out[i + skip + 1] |= b[i] >> (64 - shift);
	}
}

/* Concatenates: `a` above `b`. `out` must not be an operand. */
static inline void
wide_concat(uint64_t *out, const uint64_t *a, uint32_t width_a, const uint64_t *b, uint32_t width_b)
{
	wide_zero(out, width_a + width_b);
	wide_place(out, width_a + width_b, b, width_b, 0);
	wide_place(out, width_a + width_b, a, width_a, width_b);
}

/* Zero extension or truncation to another width. */
static inline void
wide_resize(uint64_t *out, uint32_t width, const uint64_t *a, uint32_t width_a)
{
	for (uint32_t i = 0; i < wide_limbs(width); i++)
		out[i] = i < wide_limbs(width_a) ? a[i] : 0;
	wide_trim(out, width);
}

/* Sign extension to a larger width. */
static inline void
wide_extend_signed(uint64_t *out, uint32_t width, const uint64_t *a, uint32_t width_a)
{
	const int negative = wide_negative(a, width_a);

	wide_resize(out, width, a, width_a);
	if (negative && width > width_a)
		wide_fill(out, width_a, width);
}

static inline void
wide_add_saturating(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t width)
{
	const uint32_t limbs = wide_limbs(width);
	const uint64_t carry = wide_add_limbs(out, a, b, 0, limbs);

	if (carry != 0 || (width % 64 != 0 && out[limbs - 1] >> width % 64 != 0))
		wide_ones(out, width);
}

static inline void
wide_subtract_saturating(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t width)
{
	if (wide_subtract_limbs(out, a, b, wide_limbs(width)) != 0)
		wide_zero(out, width);
}

/* The largest signed number, or the smallest. */
static inline void
wide_extreme(uint64_t *out, int negative, uint32_t width)
{
	wide_zero(out, width);
	wide_fill(out, width - 1, width);
	if (!negative)
		wide_complement(out, out, width);
}

static inline void
wide_add_saturating_signed(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t width)
{
	const int left = wide_negative(a, width), right = wide_negative(b, width);

	wide_add(out, a, b, width);
	if (left == right && wide_negative(out, width) != left)
		wide_extreme(out, left, width);
}

static inline void
wide_subtract_saturating_signed(uint64_t *out, const uint64_t *a, const uint64_t *b, uint32_t width)
{
	const int left = wide_negative(a, width), right = wide_negative(b, width);

	wide_subtract(out, a, b, width);
	if (left != right && wide_negative(out, width) != left)
		wide_extreme(out, left, width);
}

/* Bit by bit, since division of wide numbers is rare. Division by zero gives 0 for both. All four must be
 * different memory.
 *
 * `carry` is the bit that doubling the remainder pushes out: the remainder is then above any divisor, and the
 * subtraction is right modulo 2^width. */
static inline void
wide_divide(uint64_t *quotient, uint64_t *remainder, const uint64_t *a, const uint64_t *b, uint32_t width)
{
	wide_zero(quotient, width);
	wide_zero(remainder, width);
	if (wide_is_zero(b, width))
		return;
	for (uint32_t bit = width; bit-- != 0;) {
		const int carry = wide_negative(remainder, width);

		wide_shift_left(remainder, remainder, 1, width);
		remainder[0] |= (uint64_t)wide_bit(a, bit);
		if (carry || !wide_less(remainder, b, width)) {
			wide_subtract(remainder, remainder, b, width);
			quotient[bit / 64] |= (uint64_t)1 << bit % 64;
		}
	}
}

/* As FIELD_READ and FIELD_WRITE, for numbers of several limbs. */
#define FIELD_READ_WIDE(name, offset, width)                                                                                                        \
	FIELD_INLINE void name(const uint8_t *header, uint64_t *value) { wide_load(value, header, offset, width); }
#define FIELD_WRITE_WIDE(name, offset, width)                                                                                                       \
	FIELD_INLINE void name(uint8_t *header, const uint64_t *value) { wide_store(header, offset, width, value); }

#endif
