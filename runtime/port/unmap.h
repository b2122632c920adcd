/* Unmapping of memory that workers may read. Part of the host. */
#ifndef BACUS_UNMAP_H
#define BACUS_UNMAP_H

/* Has drivers of devices call `wait` before they unmap memory; it returns when each worker has ended its burst. */
void unmap_behind(void (*wait)(void));

#endif
