/* Which vectors the code of tables and packets may use: given by the compiler's flags for the machine. `-DTABLE_PORTABLE` leaves plain C,
 * `-DTABLE_NO_AVX512` at most AVX2: all three forms of each stage give the same answers, which the tests compare. Not under the thread sanitizer,
 * which does not know that an aligned vector is read word by word. */
#ifndef BACUS_TABLE_VECTORS_H
#define BACUS_TABLE_VECTORS_H

#if !defined(TABLE_PORTABLE) && !defined(__SANITIZE_THREAD__) && defined(__AVX2__)
#define TABLE_AVX2 1
#include <immintrin.h>
#if !defined(TABLE_NO_AVX512) && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TABLE_AVX512 1
#if defined(__AVX512VBMI__) && defined(__AVX512CD__)
#define TABLE_AVX512_BYTES 1	/* bytes are looked up in registers, and first bits found, too */
#endif
#endif
#endif

#endif
