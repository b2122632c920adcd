/* Bit fields of packets and numbers of up to 64 bits. Bits of a packet are counted from the first byte's most
 * significant bit, as in protocol drawings.
 *
 * With `offset` and `width` known at compile time, a load folds to one or two loads, a byte swap and a shift.
 * If more bytes around the field are readable (`bits_load_in`), it folds to one load. Bytes outside the field
 * are never written. */
#ifndef BACUS_BITS_H
#define BACUS_BITS_H

#include <stdint.h>
#include <string.h>

#include "table/vectors.h"

#define BITS_INLINE static inline __attribute__((always_inline))

/* The lowest `width` bits set, 0 <= width <= 64. */
BITS_INLINE uint64_t
bits_mask(uint32_t width)
{
	return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

BITS_INLINE uint64_t
bits_load16(const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return __builtin_bswap16(value);
}

BITS_INLINE uint64_t
bits_load32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return __builtin_bswap32(value);
}

BITS_INLINE uint64_t
bits_load64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return __builtin_bswap64(value);
}

/* `count` bytes, 1 to 8, as a big-endian number. Odd counts use overlapping loads.
 *
 *    5 bytes   b0 b1 b2 b3 .       load32 at 0, shifted up by one byte
 *              .  b1 b2 b3 b4      load32 at 1, of which the last byte is taken
 */
BITS_INLINE uint64_t
bits_load_bytes(const uint8_t *bytes, uint32_t count)
{
	switch (count) {
	case 1:
		return bytes[0];
	case 2:
		return bits_load16(bytes);
	case 3:
		return bits_load16(bytes) << 8 | bytes[2];
	case 4:
		return bits_load32(bytes);
	case 8:
		return bits_load64(bytes);
	default:
		return bits_load32(bytes) << 8 * (count - 4) | (bits_load32(bytes + count - 4) & bits_mask(8 * (count - 4)));
	}
}

/* Copies `count` bytes; the count is a compile-time constant. Sizes other than a register's use one masked
 * load and store instead of two of each: loads and stores bound the commit phase. */
BITS_INLINE void
bits_copy(uint8_t *to, const uint8_t *from, uint32_t count)
{
#ifdef TABLE_AVX512
	if (count < 16 && (count & (count - 1)) != 0) {
		const __mmask16 bytes = (__mmask16)((1u << count) - 1);

		_mm_mask_storeu_epi8(to, bytes, _mm_maskz_loadu_epi8(bytes, from));
		return;
	}
#endif
	memcpy(to, from, count);
}

BITS_INLINE void
bits_store16(uint8_t *bytes, uint64_t number)
{
	const uint16_t value = __builtin_bswap16((uint16_t)number);

	memcpy(bytes, &value, sizeof(value));
}

BITS_INLINE void
bits_store32(uint8_t *bytes, uint64_t number)
{
	const uint32_t value = __builtin_bswap32((uint32_t)number);

	memcpy(bytes, &value, sizeof(value));
}

BITS_INLINE void
bits_store64(uint8_t *bytes, uint64_t number)
{
	const uint64_t value = __builtin_bswap64(number);

	memcpy(bytes, &value, sizeof(value));
}

/* Stores the low `count` bytes of the number, 1 to 8, big-endian. */
BITS_INLINE void
bits_store_bytes(uint8_t *bytes, uint32_t count, uint64_t number)
{
	switch (count) {
	case 1:
		bytes[0] = (uint8_t)number;
		break;
	case 2:
		bits_store16(bytes, number);
		break;
	case 3:
		bits_store16(bytes, number >> 8);
		bytes[2] = (uint8_t)number;
		break;
	case 4:
		bits_store32(bytes, number);
		break;
	case 8:
		bits_store64(bytes, number);
		break;
	default:
		bits_store32(bytes, number >> 8 * (count - 4));
		bits_store32(bytes + count - 4, number);
		break;
	}
}

/* The field of `width` bits, 0 to 64, that begins `offset` bits after `bytes`.
 *
 *    bytes      | first byte ... last byte |      `count` of them, at most nine
 *    field      | shift | width | rest |          in the big-endian number: shifted right by `rest`, then masked
 */
BITS_INLINE uint64_t
bits_load(const uint8_t *bytes, uint32_t offset, uint32_t width)
{
	const uint32_t shift = offset % 8, count = (shift + width + 7) / 8;
	const uint8_t *first = bytes + offset / 8;

	if (width == 0)
		return 0;
	if (count <= 8)
		return bits_load_bytes(first, count) >> (8 * count - shift - width) & bits_mask(width);
	/* A field over nine bytes: eight, and the upper bits of the ninth. */
	return (bits_load64(first) << (shift + width - 64) | first[8] >> (72 - shift - width)) & bits_mask(width);
}

/* As `bits_load`, where `size` bytes from `bytes` on are readable: one load of eight bytes, if eight of them
 * contain the field. Eight bytes that begin with the field's first byte or end with the packet's readable bytes.
 * One, two and four bytes are one load as they are. Nothing beyond `size` is read: it may be another page. */
BITS_INLINE uint64_t
bits_load_in(const uint8_t *bytes, uint32_t size, uint32_t offset, uint32_t width)
{
	const uint32_t first = offset / 8, shift = offset % 8, count = (shift + width + 7) / 8;

	if (width == 0 || count > 8 || count <= 2 || count == 4)
		return bits_load(bytes, offset, width);
	if (first + 8 <= size)
		return bits_load64(bytes + first) >> (64 - shift - width) & bits_mask(width);
	if (size >= 8 && first >= size - 8)
		return bits_load64(bytes + size - 8) >> (8 * size - offset - width) & bits_mask(width);
	return bits_load(bytes, offset, width);
}

/* Stores `value` into the field and preserves the other bits of its first and last byte. Bits of `value` above
 * `width` are ignored. Read, change, write: other bits of the first and last byte may be of fields that were
 * stored just before. */
BITS_INLINE void
bits_store(uint8_t *bytes, uint32_t offset, uint32_t width, uint64_t value)
{
	const uint32_t shift = offset % 8, count = (shift + width + 7) / 8;
	uint8_t *first = bytes + offset / 8;

	if (width == 0)
		return;
	if (count <= 8) {
		const uint32_t behind = 8 * count - shift - width;
		const uint64_t mask = bits_mask(width) << behind;

		if (shift == 0 && behind == 0)
			bits_store_bytes(first, count, value);
		else
			bits_store_bytes(first, count, (bits_load_bytes(first, count) & ~mask) | (value << behind & mask));
	} else {
		const uint32_t last = shift + width - 64;	/* bits in the ninth byte */
		const uint64_t mask = bits_mask(width - last);

		bits_store64(first, (bits_load64(first) & ~mask) | (value >> last & mask));
		first[8] = (uint8_t)((first[8] & bits_mask(8 - last)) | (value << (8 - last) & 0xff));
	}
}

/* Two and four words from a byte on, most significant first: one store. */
BITS_INLINE void
bits_store_words2(uint8_t *bytes, uint64_t first, uint64_t second)
{
	typedef uint64_t words __attribute__((vector_size(16)));
	const words whole = { __builtin_bswap64(first), __builtin_bswap64(second) };

	memcpy(bytes, &whole, sizeof(whole));
}

BITS_INLINE void
bits_store_words4(uint8_t *bytes, uint64_t first, uint64_t second, uint64_t third, uint64_t fourth)
{
	typedef uint64_t words __attribute__((vector_size(32)));
	const words whole = { __builtin_bswap64(first), __builtin_bswap64(second), __builtin_bswap64(third),
		__builtin_bswap64(fourth) };

	memcpy(bytes, &whole, sizeof(whole));
}

/* As `bits_store`, for a field within a word of 16 bits that begins at an even number of bytes: reads and stores
 * the whole word. As wide as other stores to this word: a load of two bytes right after stores of one each would
 * wait for both. */
BITS_INLINE void
bits_store_in_word(uint8_t *bytes, uint32_t offset, uint32_t width, uint64_t value)
{
	uint8_t *word = bytes + offset / 16 * 2;
	const uint32_t behind = 16 - offset % 16 - width;
	const uint64_t mask = bits_mask(width) << behind;

	bits_store16(word, (bits_load16(word) & ~mask) | (value << behind & mask));
}

/* Of some fields a program reads or writes nothing in the end. */
#define FIELD_INLINE BITS_INLINE __attribute__((unused))

/* Functions that read and write the field of `width` bits from bit `offset` of a header on, of which `size` bytes may be read. */
#define FIELD_READ(name, type, size, offset, width)                                                                                                 \
	FIELD_INLINE type name(const uint8_t *header) { return (type)bits_load_in(header, size, offset, width); }
#define FIELD_WRITE(name, type, offset, width)                                                                                                      \
	FIELD_INLINE void name(uint8_t *header, type value) { bits_store(header, offset, width, value); }
#define FIELD_WRITE_IN_WORD(name, type, offset, width)                                                                                              \
	FIELD_INLINE void name(uint8_t *header, type value) { bits_store_in_word(header, offset, width, value); }

/* Sign extension from bit `width - 1`. */
BITS_INLINE uint64_t
bits_sign(uint64_t value, uint32_t width)
{
	return width == 0 ? 0 : (uint64_t)((int64_t)(value << (64 - width)) >> (64 - width));
}

/* Shifts by any amount. The caller masks left shifts, like all arithmetic. */
BITS_INLINE uint64_t
bits_shift_left(uint64_t value, uint64_t amount)
{
	return amount < 64 ? value << amount : 0;
}

BITS_INLINE uint64_t
bits_shift_right(uint64_t value, uint64_t amount)
{
	return amount < 64 ? value >> amount : 0;
}

/* An amount of 63 gives the sign in all bits, as any larger one would; C leaves larger ones undefined. */
BITS_INLINE uint64_t
bits_shift_right_signed(uint64_t value, uint64_t amount, uint32_t width)
{
	const int64_t number = (int64_t)bits_sign(value, width);

	return (uint64_t)(number >> (amount < 63 ? amount : 63)) & bits_mask(width);
}

/* Division by zero gives 0, as in the interpreter; P4 leaves it undefined, C would trap. */
BITS_INLINE uint64_t
bits_divide(uint64_t a, uint64_t b)
{
	return b != 0 ? a / b : 0;
}

BITS_INLINE uint64_t
bits_remainder(uint64_t a, uint64_t b)
{
	return b != 0 ? a % b : 0;
}

BITS_INLINE int
bits_less_signed(uint64_t a, uint64_t b, uint32_t width)
{
	return (int64_t)bits_sign(a, width) < (int64_t)bits_sign(b, width);
}

/* Saturating sum and difference of `width` bits. */
BITS_INLINE uint64_t
bits_add_saturating(uint64_t a, uint64_t b, uint32_t width)
{
	const uint64_t most = bits_mask(width);

	return most - a < b ? most : a + b;
}

BITS_INLINE uint64_t
bits_subtract_saturating(uint64_t a, uint64_t b)
{
	return a < b ? 0 : a - b;
}

/* Saturates the signed sum `sum`, whose first operand is negative if `negative`; `overflow` means that it does
 * not fit 64 bits. */
BITS_INLINE uint64_t
bits_saturate_signed(int64_t sum, int overflow, int negative, uint32_t width)
{
	const int64_t most = (int64_t)(bits_mask(width) >> 1), least = -most - 1;

	if (overflow)
		return (uint64_t)(negative ? least : most) & bits_mask(width);
	return (uint64_t)(sum > most ? most : sum < least ? least : sum) & bits_mask(width);
}

BITS_INLINE uint64_t
bits_add_saturating_signed(uint64_t a, uint64_t b, uint32_t width)
{
	const int64_t left = (int64_t)bits_sign(a, width), right = (int64_t)bits_sign(b, width);
	int64_t sum;
	/* Two numbers of fewer than 64 bits do not overflow; of 64 bits, the sign of the first one decides. */
	const int overflow = __builtin_add_overflow(left, right, &sum);

	return width == 0 ? 0 : bits_saturate_signed(sum, overflow, left < 0, width);
}

BITS_INLINE uint64_t
bits_subtract_saturating_signed(uint64_t a, uint64_t b, uint32_t width)
{
	const int64_t left = (int64_t)bits_sign(a, width), right = (int64_t)bits_sign(b, width);
	int64_t difference;
	const int overflow = __builtin_sub_overflow(left, right, &difference);

	return width == 0 ? 0 : bits_saturate_signed(difference, overflow, left < 0, width);
}

#endif
