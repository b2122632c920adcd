/* AF_XDP: sockets and their rings. */
#define _GNU_SOURCE
#include "port/xdp_sockets.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/if_xdp.h>
#include <xdp/xsk.h>

#define XDP_SLOTS 2048u		/* of each ring */
#define XDP_FILL 64u		/* buffers that are given to the kernel at once, at least */
#define XDP_CHUNK 4096u		/* bytes of a buffer that the kernel knows as one: a page, at most */
#define XDP_KICKS 64u		/* system calls for a burst that the kernel sends by parts */
#define FRAME_MORE 22u		/* bytes of a frame beyond the MTU */

/* Newer than the headers of some distributions. */
#define BIND_FRAGMENTS (1u << 4)	/* XDP_USE_SG */
#define CONTINUED (1u << 0)		/* XDP_PKT_CONTD */

struct xdp_queue {
	struct xdp_interface *xdp;
	struct own_pool *own;
	uint32_t number;
	int index;		/* of the interface that the socket is at; 0: there is no socket */
	uint32_t chunk;		/* bytes */
	uint32_t in_kernel;	/* buffers to receive into */
	uint32_t to_complete;	/* descriptors to send */
	struct xsk_umem *memory;
	struct xsk_socket *socket;
	struct xsk_ring_prod fill, send;
	struct xsk_ring_cons received, completed;
	uint8_t *front;		/* of the packet whose further parts are to come; NULL: none */
	uint32_t front_bytes;
	uint32_t front_lost;	/* 1: it is longer than packets may be */
	uint8_t *held;		/* by buffer: how often the kernel has it. Given back when the socket is closed */
	_Atomic uint64_t dropped;	/* by sockets of before */
};

const char *
xdp_unavailable(void)
{
	static int known;
	const int socket_made = known ? -1 : socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (known == 0) {
		known = socket_made >= 0 ? 1 : errno == EAFNOSUPPORT ? 2 : 3;
		if (socket_made >= 0)
			(void)close(socket_made);
	}
	return known == 1 ? NULL : known == 2 ? "this kernel has no AF_XDP (CONFIG_XDP_SOCKETS)" : "AF_XDP needs root, or CAP_NET_RAW, CAP_BPF and CAP_NET_ADMIN";
}

struct xdp_interface *
xdp_open(struct interface *interface, uint32_t workers, char *why)
{
	struct xdp_interface *xdp;
	char driver[32];

	if (xdp_unavailable() != NULL) {
		(void)port_fail(why, "%s", xdp_unavailable());
		return NULL;
	}
	if (interface_queues(interface) < workers) {
		(void)port_fail(why, "`%s` has fewer queues than there are workers: %u for %u (`ethtool -L %s` sets their number)",
			interface->name, interface_queues(interface), workers, interface->name);
		return NULL;
	}
	xdp = calloc(1, sizeof(*xdp));
	if (xdp == NULL)
		return NULL;
	xdp->interface = interface;
	xdp->queues = interface_queues(interface) < XDP_QUEUES ? interface_queues(interface) : XDP_QUEUES;
	xdp->link = -1;
	interface_driver(interface, driver);
	xdp->completes = strcmp(driver, "veth") == 0 || strcmp(driver, "tun") == 0;
	xdp->map = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "bacus", sizeof(uint32_t), sizeof(uint32_t), XDP_QUEUES, NULL);
	if (xdp->map < 0)
		(void)port_fail(why, "AF_XDP needs root, or CAP_BPF and CAP_NET_ADMIN (%s)", strerror(errno));
	else if (xdp_program_attach(xdp, interface->index, why) == 0)
		return xdp;
	xdp_close(xdp);
	return NULL;
}

void
xdp_close(struct xdp_interface *xdp)
{
	if (xdp->link >= 0)
		(void)close(xdp->link);
	if (xdp->map >= 0)
		(void)close(xdp->map);
	free(xdp);
}

uint32_t
xdp_queues(const struct xdp_interface *xdp)
{
	return xdp->queues;
}

/* By the control thread. Sockets can be had at an interface that is up. */
void
xdp_watch(struct xdp_interface *xdp)
{
	const int index = xdp->interface->index;
	char why[PORT_ERROR_BYTES];

	if (index == atomic_load(&xdp->index))
		return;
	atomic_store(&xdp->index, 0);
	if (index != 0 && atomic_load(&xdp->interface->link) == LINK_UP)
		(void)xdp_program_attach(xdp, index, why);
}

void
xdp_describe(const struct xdp_interface *xdp, char *text, uint32_t bytes)
{
	snprintf(text, bytes, "AF_XDP in %s, %u queue%s", xdp->generic ? "generic mode: the driver has no place for XDP" : "the driver", xdp->queues,
		xdp->queues == 1 ? "" : "s");
}

static inline void
queue_take(struct xdp_queue *queue, const void *packet)
{
	queue->held[own_number(queue->own, packet)]++;
}

static inline void
queue_release(struct xdp_queue *queue, const void *packet)
{
	queue->held[own_number(queue->own, packet)]--;
}

static uint64_t
socket_dropped(struct xdp_queue *queue)
{
	struct xdp_statistics counts = { 0 };
	socklen_t bytes = sizeof(counts);

	if (queue->socket == NULL || getsockopt(xsk_socket__fd(queue->socket), SOL_XDP, XDP_STATISTICS, &counts, &bytes) != 0)
		return 0;
	return counts.rx_dropped + counts.rx_ring_full;
}

uint64_t
xdp_dropped(struct xdp_queue *queue)
{
	return atomic_load(&queue->dropped) + socket_dropped(queue);
}

/* Gives back what the kernel has had. */
static void
queue_detach(struct xdp_queue *queue)
{
	if (queue->socket != NULL) {
		atomic_fetch_add(&queue->dropped, socket_dropped(queue));
		xsk_socket__delete(queue->socket);
	}
	if (queue->memory != NULL)
		(void)xsk_umem__delete(queue->memory);
	queue->socket = NULL;
	queue->memory = NULL;
	for (uint32_t i = 0; i < queue->own->count; i++) {
		void *packet = queue->own->memory + ((size_t)i << queue->own->shift);

		for (; queue->held[i] != 0; queue->held[i]--)
			own_free(queue->own, &packet, 1);
	}
	if (queue->front != NULL)
		own_free(queue->own, (void **)&queue->front, 1);
	queue->front = NULL;
	queue->in_kernel = queue->to_complete = 0;
	queue->index = 0;
}

/* Memory and socket, and the place of the socket in the program's map. 0, or the kernel's reason. */
static int
queue_bind(struct xdp_queue *queue, uint32_t flags)
{
	const struct xsk_umem_config memory = {
		.fill_size = XDP_SLOTS, .comp_size = XDP_SLOTS, .frame_size = queue->chunk, .frame_headroom = 0, .flags = 0,
	};
	const struct xsk_socket_config socket = {
		.rx_size = XDP_SLOTS, .tx_size = XDP_SLOTS, .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD, .bind_flags = (uint16_t)flags,
	};
	const uint32_t number = queue->number;
	int failure, fd;

	/* libxdp leaves what it knows of the kernel's side as it finds it. */
	queue->fill = queue->send = (struct xsk_ring_prod){ 0 };
	queue->received = queue->completed = (struct xsk_ring_cons){ 0 };
	failure = -xsk_umem__create(&queue->memory, queue->own->memory, (uint64_t)queue->own->count << queue->own->shift, &queue->fill,
		&queue->completed, &memory);
	if (failure != 0) {
		queue->memory = NULL;
		return failure;
	}
	failure = -xsk_socket__create(&queue->socket, queue->xdp->interface->name, number, queue->memory, &queue->received, &queue->send, &socket);
	if (failure != 0) {
		queue->socket = NULL;
		return failure;
	}
	fd = xsk_socket__fd(queue->socket);
	return bpf_map_update_elem(queue->xdp->map, &number, &fd, BPF_ANY) == 0 ? 0 : errno;
}

/* 0, or -1 with the kernel's reason in `errno`. Kernels before 6.6 have no frames of several buffers. */
static int
queue_attach(struct xdp_queue *queue, int index)
{
	struct xdp_options options = { 0 };
	socklen_t bytes = sizeof(options);
	int failure = queue_bind(queue, XDP_USE_NEED_WAKEUP | BIND_FRAGMENTS);

	if (failure == EINVAL || failure == EOPNOTSUPP) {
		queue_detach(queue);
		failure = queue_bind(queue, XDP_USE_NEED_WAKEUP);
	}
	if (failure != 0) {
		queue_detach(queue);
		errno = failure;
		return -1;
	}
	if (getsockopt(xsk_socket__fd(queue->socket), SOL_XDP, XDP_OPTIONS, &options, &bytes) == 0)
		queue->xdp->zero_copy = (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
	queue->index = index;
	return 0;
}

struct xdp_queue *
xdp_queue_open(struct xdp_interface *xdp, uint32_t number, struct own_pool *own, char *why)
{
	struct xdp_queue *queue = calloc(1, sizeof(*queue));

	if (queue != NULL)
		queue->held = calloc(own->count, 1);
	if (queue == NULL || queue->held == NULL) {
		free(queue);
		(void)port_fail(why, "no memory for a queue of `%s`", xdp->interface->name);
		return NULL;
	}
	queue->xdp = xdp;
	queue->own = own;
	queue->number = number;
	queue->chunk = own->pool.buffer_bytes < XDP_CHUNK ? own->pool.buffer_bytes : XDP_CHUNK;
	if (queue_attach(queue, atomic_load(&xdp->index)) == 0)
		return queue;
	if (errno == ENETDOWN) {
		atomic_store(&xdp->index, 0);
		return queue;
	}
	(void)port_fail(why, "an AF_XDP socket at queue %u of `%s`: %s%s", number, xdp->interface->name, strerror(errno),
		errno == ENOBUFS || errno == EPERM ? " (`ulimit -l unlimited`, or CAP_IPC_LOCK, lets it lock its memory)" :
		errno == EBUSY ? " (another socket has the queue)" : "");
	free(queue->held);
	free(queue);
	return NULL;
}

void
xdp_queue_close(struct xdp_queue *queue)
{
	xdp_reclaim(queue);
	queue_detach(queue);
	free(queue->held);
	free(queue);
}

int
xdp_queue_fd(const struct xdp_queue *queue)
{
	return queue->socket == NULL ? -1 : xsk_socket__fd(queue->socket);
}

/* The interface has gone, or is back: another socket. By the worker, since the buffers are its own. */
static int
queue_is_there(struct xdp_queue *queue)
{
	const int index = atomic_load_explicit(&queue->xdp->index, memory_order_relaxed);

	if (__builtin_expect(index == queue->index, 1))
		return index != 0;
	queue_detach(queue);
	if (index != 0 && queue_attach(queue, index) != 0)
		queue->index = index;	/* the next change may mend it */
	return queue->socket != NULL;
}

/* Gives the kernel buffers to receive into, as many as it may have. */
static void
queue_fill(struct xdp_queue *queue, uint32_t most)
{
	struct own_pool *own = queue->own;
	const uint32_t room = most < XDP_SLOTS ? most : XDP_SLOTS;
	uint32_t wanted = queue->in_kernel < room ? room - queue->in_kernel : 0, at;

	wanted = wanted < own->free_count ? wanted : own->free_count;
	if ((wanted < XDP_FILL && queue->in_kernel > room / 2) || xsk_ring_prod__reserve(&queue->fill, wanted, &at) != wanted)
		return;
	for (uint32_t i = 0; i < wanted; i++) {
		const uint8_t *buffer = own->free[--own->free_count];

		queue_take(queue, buffer);
		*xsk_ring_prod__fill_addr(&queue->fill, at + i) = (uint64_t)(buffer - own->memory) & ~(uint64_t)(own->pool.buffer_bytes - 1);
	}
	xsk_ring_prod__submit(&queue->fill, wanted);
	queue->in_kernel += wanted;
	if (xsk_ring_prod__needs_wakeup(&queue->fill))
		(void)recvfrom(xsk_socket__fd(queue->socket), NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

/* A further part of a packet, which is put behind the others. 1: it was the last. */
static int
queue_join(struct xdp_queue *queue, uint8_t *data, const struct xdp_desc *part)
{
	const int is_last = (part->options & CONTINUED) == 0;
	void *packet = data;

	if (queue->front == NULL) {
		queue->front = data;
		queue->front_bytes = part->len;
		queue->front_lost = 0;
		return 0;
	}
	if (((uintptr_t)queue->front & (queue->own->pool.buffer_bytes - 1)) + queue->front_bytes + part->len > queue->own->pool.buffer_bytes - 8)
		queue->front_lost = 1;
	else
		memcpy(queue->front + queue->front_bytes, data, part->len);
	queue->front_bytes += queue->front_lost ? 0 : part->len;
	own_free(queue->own, &packet, 1);
	return is_last;
}

static void
queue_lose(struct xdp_queue *queue)
{
	port_count(&queue->xdp->interface->errors, 1);
	own_free(queue->own, (void **)&queue->front, 1);
	queue->front = NULL;
}

uint16_t
xdp_receive(struct xdp_queue *queue, void **packets, uint16_t *lengths, uint16_t count, uint32_t most_filled)
{
	uint32_t at, received;
	uint16_t taken = 0;
	uint64_t bytes = 0;

	if (!queue_is_there(queue))
		return 0;
	received = xsk_ring_cons__peek(&queue->received, count, &at);
	for (uint32_t i = 0; i < received; i++) {
		const struct xdp_desc *desc = xsk_ring_cons__rx_desc(&queue->received, at + i);
		uint8_t *data = queue->own->memory + desc->addr;
		uint32_t length = desc->len;

		queue_release(queue, data);
		if (__builtin_expect(queue->front != NULL || (desc->options & CONTINUED) != 0, 0)) {
			if (!queue_join(queue, data, desc))
				continue;
			if (queue->front_lost) {
				queue_lose(queue);
				continue;
			}
			data = queue->front;
			length = queue->front_bytes;
			queue->front = NULL;
		}
		if (queue->xdp->completes)
			frame_complete_bare(data, length);
		packets[taken] = data;
		lengths[taken++] = (uint16_t)length;
		bytes += length;
	}
	xsk_ring_cons__release(&queue->received, received);
	queue->in_kernel -= received;
	queue_fill(queue, most_filled);
	if (taken != 0) {
		port_count(&queue->xdp->interface->received, taken);
		port_count(&queue->xdp->interface->received_bytes, bytes);
	}
	return taken;
}

void
xdp_reclaim(struct xdp_queue *queue)
{
	uint32_t at, count;

	if (queue->socket == NULL || queue->to_complete == 0)
		return;
	count = xsk_ring_cons__peek(&queue->completed, XDP_SLOTS, &at);
	for (uint32_t i = 0; i < count; i++) {
		void *packet = queue->own->memory + *xsk_ring_cons__comp_addr(&queue->completed, at + i);

		queue_release(queue, packet);
		own_free(queue->own, &packet, 1);
	}
	xsk_ring_cons__release(&queue->completed, count);
	queue->to_complete -= count;
}

/* Lets the kernel send what is in the ring; where it copies, a system call sends a part of it. */
static void
queue_kick(struct xdp_queue *queue)
{
	const int fd = xsk_socket__fd(queue->socket);

	for (uint32_t kicks = 0; kicks < XDP_KICKS && xsk_ring_prod__needs_wakeup(&queue->send); kicks++) {
		if (__atomic_load_n(queue->send.consumer, __ATOMIC_ACQUIRE) == *queue->send.producer)
			break;
		if (sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 && errno != EAGAIN && errno != EBUSY && errno != ENOBUFS && errno != EINTR)
			break;
		xdp_reclaim(queue);
	}
}

/* Describes a packet, chunk by chunk; each has a holder. Descriptors, or 0 if there is no room. */
static uint32_t
queue_describe(struct xdp_queue *queue, uint8_t *packet, uint32_t length)
{
	uint64_t from = (uint64_t)(packet - queue->own->memory);
	const uint32_t chunks = (uint32_t)(((from & (queue->chunk - 1)) + length + queue->chunk - 1) / queue->chunk);
	uint32_t at;

	if (xsk_ring_prod__reserve(&queue->send, chunks, &at) != chunks)
		return 0;
	for (uint32_t i = 0; i < chunks; i++) {
		const uint32_t room = queue->chunk - (uint32_t)(from & (queue->chunk - 1)), part = length < room ? length : room;

		*xsk_ring_prod__tx_desc(&queue->send, at + i) = (struct xdp_desc){
			.addr = from, .len = part, .options = i + 1 < chunks ? CONTINUED : 0,
		};
		queue_take(queue, packet);
		if (i != 0)
			(void)own_share(queue->own, packet);
		from += part;
		length -= part;
	}
	return chunks;
}

uint16_t
xdp_send(struct xdp_queue *queue, void *const *packets, const uint16_t *lengths, uint16_t count, uint64_t *refused)
{
	struct interface *interface = queue->xdp->interface;
	const uint32_t most = atomic_load_explicit(&interface->mtu, memory_order_relaxed) + FRAME_MORE;
	uint16_t done = 0;
	uint64_t bytes = 0, sent = 0;
	uint32_t described = 0;

	if (!queue_is_there(queue) || atomic_load_explicit(&interface->link, memory_order_relaxed) != LINK_UP)
		return 0;
	xdp_reclaim(queue);
	for (; done < count; done++) {
		uint32_t chunks;

		if (lengths[done] > most || lengths[done] < 14) {
			own_free(queue->own, &packets[done], 1);
			++*refused;
			continue;
		}
		chunks = queue_describe(queue, packets[done], lengths[done]);
		if (chunks == 0)
			break;
		described += chunks;
		bytes += lengths[done];
		sent++;
	}
	if (described != 0) {
		xsk_ring_prod__submit(&queue->send, described);
		queue->to_complete += described;
		port_count(&interface->sent, sent);
		port_count(&interface->sent_bytes, bytes);
	}
	queue_kick(queue);
	return done;
}
