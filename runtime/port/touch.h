/* Pages of code that a worker has not run yet. Part of the host. */
#ifndef BACUS_TOUCH_H
#define BACUS_TOUCH_H

#include <stddef.h>

/* Maps every page of the loaded object that `address` lies in, as the first worker that ran it would, a page fault each. */
void touch_object(const void *address);

/* The code of that object: its first byte, and how many there are. */
const void *touch_code(const void *address, size_t *bytes);

#endif
