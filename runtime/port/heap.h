/* What the process has of the C library's heap. Part of the host. */
#ifndef BACUS_HEAP_H
#define BACUS_HEAP_H

#include <stdint.h>

/* Bytes that are allocated and not freed, of all threads. */
uint64_t heap_bytes(void);

#endif
