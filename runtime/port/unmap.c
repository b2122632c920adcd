/* Memory of a memif peer is unmapped only when no worker reads it. DPDK's driver unmaps it in a thread of its own as soon as the peer ends, while a worker may
 * be within a burst of that port (a race of the driver in DPDK 22.11). It has marked the port as disconnected before, so it is enough to wait until each
 * worker has ended its burst.
 *
 * The driver calls this function instead of the C library's: the executable exports it.
 *
 *    driver's thread                              worker
 *    port marked as disconnected                  within a burst: may have the peer's memory in its hands
 *    munmap ─▶ wait for ends of bursts             next burst: the driver's functions see the mark, touch nothing
 *    memory is gone
 *
 * Workers never wait for the driver's thread, so the wait ends. */
#define _GNU_SOURCE
#include "port/unmap.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void (*_Atomic unmap_wait)(void);

void
unmap_behind(void (*wait)(void))
{
	unmap_wait = wait;
}

/* Whether this is DPDK's thread for the events of devices: by the names of DPDK 20.11 to 23.07, and of later ones. */
static int
unmap_by_driver(void)
{
	char name[16] = "";

	return prctl(PR_GET_NAME, name) == 0 && (strncmp(name, "eal-intr", 8) == 0 || strncmp(name, "dpdk-intr", 9) == 0);
}

int
munmap(void *memory, size_t bytes)
{
	void (*const wait)(void) = unmap_wait;

	if (wait != NULL && unmap_by_driver())
		wait();
	return (int)syscall(SYS_munmap, memory, bytes);
}
