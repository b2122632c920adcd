/* The DPDK port layer: the EAL and packet memory. */
#define _GNU_SOURCE
#include "port/dpdk.h"
#include "port/dpdk_copying.h"
#include "port/interface.h"
#include "port/spread.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#define JUMBO_BYTES 9238u	/* of the longest frame that is common */

struct rte_mempool *dpdk_mempool;
uint32_t dpdk_polls;
struct dpdk_copying *dpdk_copying;

void *
dpdk_allocate(struct pool *pool)
{
	return rte_pktmbuf_alloc(pool->handle);
}

/* The EAL binds the calling thread to a core, and threads inherit that: workers may run where the process may. */
static int
dpdk_start_eal(int count, char **arguments)
{
	cpu_set_t allowed;
	const int known = pthread_getaffinity_np(pthread_self(), sizeof(allowed), &allowed);
	const int used = rte_eal_init(count, arguments);

	if (known == 0)
		(void)pthread_setaffinity_np(pthread_self(), sizeof(allowed), &allowed);
	return used;
}

#define DPDK_ARGUMENTS 80u

struct arguments {
	char *words[DPDK_ARGUMENTS];
	int count;
};

static void
dpdk_argument(struct arguments *arguments, const char *word)
{
	if ((uint32_t)arguments->count < DPDK_ARGUMENTS)
		arguments->words[arguments->count++] = (char *)(uintptr_t)word;
}

/* Memory at a large page's border, which the kernel may back with large pages where the system has set none aside. */
static void *
dpdk_map(size_t bytes)
{
	const size_t page = (size_t)2 << 20;
	uint8_t *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	memory += -(uintptr_t)memory & (page - 1);
	(void)madvise(memory, bytes, MADV_HUGEPAGE);
	return memory;
}

/* A pool of mbufs in memory of that kind: of small pages, a burst of them takes twice the cycles to receive and send.
 *
 * Without large pages of its own DPDK lets no mbuf cross the border of a small page: the next one may lie anywhere. NICs need that, and so does AF_XDP, whose
 * packets go to one in place where its driver can: the kernel refuses those that cross. Mbufs of the default size then begin at such a border each,
 * and the lines of all of them meet in few sets of the first cache, which again is twice the cycles. Where the core copies every packet from and to
 * its device, mbufs lie as they come. */
static struct rte_mempool *
dpdk_pool_mapped(const struct port_settings *settings, uint16_t room)
{
	const uint32_t element = (uint32_t)sizeof(struct rte_mbuf) + room;
	const unsigned int flags = settings->reads_buffers ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
	struct rte_mempool *pool = rte_mempool_create_empty("bacus", settings->buffers, element, DPDK_CACHE,
		sizeof(struct rte_pktmbuf_pool_private), SOCKET_ID_ANY, flags);
	struct rte_pktmbuf_pool_private private = { .mbuf_data_room_size = room, .mbuf_priv_size = 0 };
	size_t bytes;
	void *memory;

	if (pool == NULL)
		return NULL;
	bytes = ((size_t)pool->header_size + pool->elt_size + pool->trailer_size) * settings->buffers + ((size_t)4 << 20);
	memory = dpdk_map(bytes);
	rte_pktmbuf_pool_init(pool, &private);
	if (memory == NULL ||
	    rte_mempool_populate_virt(pool, memory, bytes, (size_t)2 << 20, NULL, NULL) < (int)settings->buffers) {
		rte_mempool_free(pool);
		return NULL;
	}
	(void)rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

static struct rte_mempool *
dpdk_pool_create(const struct port_settings *settings)
{
	const uint16_t room = (uint16_t)(settings->buffer_bytes + RTE_PKTMBUF_HEADROOM);
	struct rte_mempool *pool = settings->huge ? NULL : dpdk_pool_mapped(settings, room);

	return pool != NULL ? pool : rte_pktmbuf_pool_create("bacus", settings->buffers, DPDK_CACHE, 0, room, SOCKET_ID_ANY);
}

static uint32_t dpdk_copies, dpdk_buffers;

/* Buffers of the copying model hold whole frames. NULL: there is no memory. */
static struct rte_mempool *
dpdk_copying_pool(const struct port_settings *settings)
{
	const uint32_t least = settings->buffer_bytes < JUMBO_BYTES ? JUMBO_BYTES : settings->buffer_bytes;
	uint32_t bytes = 4096;

	while (bytes < least + OWN_COLOURS * OWN_COLOUR_BYTES + 2 * RTE_PKTMBUF_HEADROOM + 8)
		bytes *= 2;
	dpdk_copying = calloc(1, sizeof(*dpdk_copying));
	if (dpdk_copying == NULL || dpdk_copying_create(dpdk_copying, "bacus", settings->buffers, bytes) != 0)
		return NULL;
	return dpdk_copying->mempool;
}

static int
dpdk_start(const struct port_settings *settings, char *error)
{
	static const char *const always[] = { "--no-telemetry", "--no-shconf", "--log-level=critical" };
	struct arguments arguments = { .count = 0 };
	char megabytes[16], core[16], vectors[48];

	snprintf(megabytes, sizeof(megabytes), "%u", settings->megabytes);
	snprintf(core, sizeof(core), "%d", sched_getcpu());
	dpdk_argument(&arguments, "bacus");
	dpdk_argument(&arguments, settings->huge ? "--in-memory" : "--no-huge");
	for (uint32_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		dpdk_argument(&arguments, always[i]);
	dpdk_argument(&arguments, "-l");
	dpdk_argument(&arguments, core);
	dpdk_argument(&arguments, "-m");
	dpdk_argument(&arguments, megabytes);
	if (settings->vector_bits != 0) {
		snprintf(vectors, sizeof(vectors), "--force-max-simd-bitwidth=%u", settings->vector_bits);
		dpdk_argument(&arguments, vectors);
	}
	if (settings->nic_count == 0)
		dpdk_argument(&arguments, "--no-pci");
	for (uint32_t i = 0; i < settings->nic_count; i++) {
		dpdk_argument(&arguments, "-a");
		dpdk_argument(&arguments, settings->nics[i]);
	}
	if (dpdk_start_eal(arguments.count, arguments.words) < 0)
		return port_fail(error, "DPDK does not start: %s", rte_strerror(rte_errno));
	interface_expect(settings->interfaces, settings->hears_outgoing);
	interface_record(settings->record);
	dpdk_polls = settings->polls;
	dpdk_buffers = settings->buffers;
	dpdk_mempool = dpdk_copies ? dpdk_copying_pool(settings) : dpdk_pool_create(settings);
	if (dpdk_mempool == NULL)
		return port_fail(error, "no memory for %u packets of %u bytes within %u MB: %s", settings->buffers, settings->buffer_bytes,
			settings->megabytes, rte_strerror(rte_errno));
	return 0;
}

static struct pool *
dpdk_worker_pool(struct worker_ports *served)
{
	return served->copying != NULL ? &served->copying->own.pool : &served->pool;
}

static void
dpdk_worker_limit(struct worker_ports *served, uint32_t packets)
{
	served->limit = packets;
}

static uint64_t
dpdk_idle_polls(const struct worker_ports *served)
{
	return spread_waits(served->worker) ? 0 : atomic_load_explicit(&served->idle_polls, memory_order_relaxed);
}

static uint64_t
dpdk_packets(const struct worker_ports *served)
{
	return atomic_load_explicit(&served->packets, memory_order_relaxed);
}

static void
dpdk_totals(const struct worker_ports *served, struct port_totals *totals)
{
	*totals = (struct port_totals){
		.received = atomic_load_explicit(&served->packets, memory_order_relaxed),
		.handed = atomic_load_explicit(&served->handed, memory_order_relaxed),
		.nowhere = atomic_load_explicit(&served->nowhere, memory_order_relaxed),
		.to_cpu = atomic_load_explicit(&served->to_cpu, memory_order_relaxed),
		.bursts = atomic_load_explicit(&served->bursts, memory_order_relaxed),
		.busy_ns = atomic_load_explicit(&served->busy_ns, memory_order_relaxed),
		.tsc_hz = rte_get_tsc_hz(),
	};
}

void
dpdk_take_back(uint32_t worker)
{
	for (uint32_t other = 0; other < spread.workers; other++) {
		struct spread_ring *ring = spread.rings[worker][other];

		if (ring != NULL)
			(void)spread_take_back(ring, atomic_load_explicit(&ring->read, memory_order_acquire));
	}
}

int
dpdk_spread_by(const struct spread_step *steps, uint32_t count, char *error)
{
	uint32_t workers = 0;

	while (workers < DPDK_WORKERS && dpdk_worker_ports[workers] != NULL)
		workers++;
	return spread_set(workers, steps, count, dpdk_buffers, error);
}

static uint32_t
dpdk_held(void)
{
	return rte_mempool_in_use_count(dpdk_mempool) - spread_untaken();
}

static uint32_t
dpdk_length(const void *packet)
{
	return rte_pktmbuf_pkt_len((const struct rte_mbuf *)packet);
}

/* Workers count from where their clock is. */
static uint64_t
dpdk_clock(void)
{
	return 0;
}

/* Longer packets take several buffers. */
static uint32_t
dpdk_longest(void)
{
	return UINT16_MAX;
}

static uint32_t
dpdk_longest_copied(void)
{
	const uint32_t bytes = own_capacity(&dpdk_copying->own) - 8;

	return bytes < UINT16_MAX ? bytes : UINT16_MAX;
}

static void
dpdk_copy_copied(const void *packet, uint16_t length, uint8_t *to)
{
	memcpy(to, packet, length);
}

static int
dpdk_start_copying(const struct port_settings *settings, char *error)
{
	dpdk_copies = 1;
	return dpdk_start(settings, error);
}

#define DPDK_MEMBERS \
	.open = dpdk_open, \
	.open_interface = dpdk_open_interface, \
	.ring = dpdk_ring, \
	.begin = dpdk_begin, \
	.add = dpdk_add, \
	.remove = dpdk_remove, \
	.spread = dpdk_spread_by, \
	.ports_of = dpdk_ports_of, \
	.worker_pool = dpdk_worker_pool, \
	.worker_limit = dpdk_worker_limit, \
	.flush = dpdk_flush, \
	.clock = dpdk_clock, \
	.run = dpdk_run, \
	.idle_polls = dpdk_idle_polls, \
	.packets = dpdk_packets, \
	.totals = dpdk_totals, \
	.counts = dpdk_counts, \
	.enable = dpdk_enable, \
	.watch = dpdk_watch, \
	.inject = dpdk_inject, \
	.stop = dpdk_stop, \
	.untaken = spread_untaken, .held = dpdk_held

const struct port_layer bacus_layer = {
	.version = LAYER_VERSION, .descriptor = DESCRIPTOR_MBUF, .start = dpdk_start, .longest = dpdk_longest, .copy = dpdk_copy,
	.length = dpdk_length,
	DPDK_MEMBERS,
};

const struct port_layer bacus_copying_layer = {
	.version = LAYER_VERSION, .descriptor = DESCRIPTOR_OWN, .start = dpdk_start_copying, .longest = dpdk_longest_copied, .copy = dpdk_copy_copied,
	DPDK_MEMBERS,
};

const struct dpdk_memory_layer bacus_dpdk_memory = {
	.create = dpdk_memory_create,
	.destroy = dpdk_memory_destroy,
	.pool = dpdk_memory_pool,
	.load = dpdk_memory_load,
	.more = dpdk_memory_more,
	.counts = dpdk_memory_counts,
	.log = dpdk_memory_log,
	.log_restart = dpdk_memory_log_restart,
	.flush = dpdk_memory_flush,
	.run = dpdk_memory_run,
};
