/* Has tables, packets and lanes take their forms for AVX-512 on any machine with AVX2: SIMDe does in its place what each of their instructions would. One that
 * is not among these headers is named by the compiler. */
#ifndef BACUS_TEST_EMULATED512_H
#define BACUS_TEST_EMULATED512_H

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512/add.h>
#include <simde/x86/avx512/and.h>
#include <simde/x86/avx512/broadcast.h>
#include <simde/x86/avx512/cast.h>
#include <simde/x86/avx512/cmpeq.h>
#include <simde/x86/avx512/cmpge.h>
#include <simde/x86/avx512/cmpgt.h>
#include <simde/x86/avx512/cmple.h>
#include <simde/x86/avx512/cmplt.h>
#include <simde/x86/avx512/compress.h>
#include <simde/x86/avx512/extract.h>
#include <simde/x86/avx512/insert.h>
#include <simde/x86/avx512/load.h>
#include <simde/x86/avx512/loadu.h>
#include <simde/x86/avx512/min.h>
#include <simde/x86/avx512/mov.h>
#include <simde/x86/avx512/mov_mask.h>
#include <simde/x86/avx512/or.h>
#include <simde/x86/avx512/permutex2var.h>
#include <simde/x86/avx512/rol.h>
#include <simde/x86/avx512/set1.h>
#include <simde/x86/avx512/setzero.h>
#include <simde/x86/avx512/shuffle.h>
#include <simde/x86/avx512/sll.h>
#include <simde/x86/avx512/slli.h>
#include <simde/x86/avx512/srl.h>
#include <simde/x86/avx512/srli.h>
#include <simde/x86/avx512/store.h>
#include <simde/x86/avx512/storeu.h>
#include <simde/x86/avx512/sub.h>
#include <simde/x86/avx512/subs.h>
#include <simde/x86/avx512/ternarylogic.h>
#include <simde/x86/avx512/test.h>
#include <simde/x86/avx512/testn.h>
#include <simde/x86/avx512/unpackhi.h>
#include <simde/x86/avx512/unpacklo.h>
#include <simde/x86/avx512/xor.h>

/* Of those that SIMDe lacks. */
#define _mm256_mullo_epi64(a, b) \
	_mm256_setr_epi64x(_mm256_extract_epi64(a, 0) * _mm256_extract_epi64(b, 0), _mm256_extract_epi64(a, 1) * _mm256_extract_epi64(b, 1), \
			   _mm256_extract_epi64(a, 2) * _mm256_extract_epi64(b, 2), _mm256_extract_epi64(a, 3) * _mm256_extract_epi64(b, 3))

#define _mm256_test_epi64_mask(a, b) \
	((__mmask8)(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(a, b), _mm256_setzero_si256()))) ^ 0xf))

static inline __m256i
emulated_maskz_cvtepi64_epi32(uint32_t mask, __m512i words)
{
	uint64_t wide[8];
	uint32_t narrow[8];

	_mm512_storeu_si512((void *)wide, words);
	for (uint32_t i = 0; i < 8; i++)
		narrow[i] = mask >> i & 1 ? (uint32_t)wide[i] : 0;
	return _mm256_loadu_si256((const void *)narrow);
}

#define _mm512_maskz_cvtepi64_epi32(mask, words) emulated_maskz_cvtepi64_epi32(mask, words)

/* Of the first words of two vectors, so many. */
static inline uint32_t
emulated_above(uint32_t count, __m512i wanted, __m512i others)
{
	uint32_t some[16], other[16], above = 0;

	_mm512_storeu_si512((void *)some, wanted);
	_mm512_storeu_si512((void *)other, others);
	for (uint32_t i = 0; i < count; i++)
		above |= (uint32_t)(some[i] > other[i]) << i;
	return above;
}

#define _mm512_mask_cmpgt_epu32_mask(mask, wanted, others) ((__mmask16)((mask) & emulated_above(16, wanted, others)))
#define _mm256_mask_cmpgt_epu32_mask(mask, wanted, others) \
	((__mmask8)((mask) & emulated_above(8, _mm512_castsi256_si512(wanted), _mm512_castsi256_si512(others))))

static inline __m512i
emulated_lzcnt(__m512i of)
{
	uint64_t words[8];

	_mm512_storeu_si512(words, of);
	for (int i = 0; i < 8; i++)
		words[i] = words[i] != 0 ? (uint64_t)__builtin_clzll(words[i]) : 64;
	return _mm512_loadu_si512(words);
}

static inline __m256i
emulated_gather(__m256i others, __mmask8 mask, __m512i places, const void *from)
{
	uint64_t at[8];
	uint32_t items[8];

	_mm512_storeu_si512(at, places);
	_mm256_storeu_si256((void *)items, others);
	for (int i = 0; i < 8; i++)
		if (mask >> i & 1)
			items[i] = ((const uint32_t *)from)[at[i]];
	return _mm256_loadu_si256((const void *)items);
}

static inline __m128i
emulated_load_bytes(uint32_t mask, const void *from)
{
	uint8_t bytes[16] = { 0 };

	for (int i = 0; i < 16; i++)
		if (mask >> i & 1)
			bytes[i] = ((const uint8_t *)from)[i];
	return _mm_loadu_si128((const void *)bytes);
}

static inline void
emulated_store_bytes(void *to, uint32_t mask, __m128i vector)
{
	uint8_t bytes[16];

	_mm_storeu_si128((void *)bytes, vector);
	for (int i = 0; i < 16; i++)
		if (mask >> i & 1)
			((uint8_t *)to)[i] = bytes[i];
}

#define _mm_maskz_loadu_epi8(mask, from) emulated_load_bytes(mask, from)
#define _mm_mask_storeu_epi8(to, mask, vector) emulated_store_bytes(to, mask, vector)
#define _mm512_lzcnt_epi64(of) emulated_lzcnt(of)
#define _mm512_mask_i64gather_epi32(others, mask, places, from, scale) emulated_gather(others, mask, places, from)

#define TABLE_AVX512 1
#define TABLE_AVX512_BYTES 1

#endif
