/* What the process has of the C library's heap. Part of the host. */
#define _GNU_SOURCE
#include "port/heap.h"

#include <malloc.h>

uint64_t
heap_bytes(void)
{
	const struct mallinfo2 information = mallinfo2();

	return (uint64_t)information.uordblks + (uint64_t)information.hblkhd;
}
