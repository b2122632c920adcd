/* Zeroed memory from the host: what tables, state and buffers are made of. Part of the host. */
#ifndef BACUS_REGION_H
#define BACUS_REGION_H

#include <stddef.h>

/* Aligned to 64 bytes, or NULL. From a megabyte on it comes from the kernel, page by page when touched, on large pages where there are some: so
 * room for millions of entries costs nothing until they come. */
void *region_allocate(size_t bytes);
void region_release(void *memory, size_t bytes);

#endif
