/* AF_XDP: packets of an interface that the kernel puts into the worker's own buffers, and takes out of them. Part of the port layer without DPDK.
 *
 *    fill ──▶ kernel ──▶ received             a ring each, of buffers
 *    to send ──▶ kernel ──▶ completed
 *
 * Where the interface's driver can, it uses the buffers itself (zero-copy); else the kernel copies. A program of BPF at the interface directs all frames to the
 * sockets, one for each queue. Each socket has the whole memory of its worker's pool, so that a packet may leave by another port without a copy.
 *
 * xdp*.c use libxdp and libbpf; without_xdp.c takes their place where these are not installed. */
#ifndef BACUS_XDP_H
#define BACUS_XDP_H

#include "packet/own_pool.h"
#include "port/interface.h"
#include "port/layer.h"

struct xdp_interface;	/* with its program */
struct xdp_queue;	/* with its socket */

/* Whether AF_XDP can be had on this machine at all. NULL: yes; else why not, and the way out. */
const char *xdp_unavailable(void);

/* Directs the interface's frames to sockets. NULL: it cannot be, for the reason in `why`. */
struct xdp_interface *xdp_open(struct interface *interface, uint32_t workers, char *why);
void xdp_close(struct xdp_interface *xdp);
uint32_t xdp_queues(const struct xdp_interface *xdp);

/* After `interface_watch`: directs the frames of an interface that is back. Its workers make their sockets anew. */
void xdp_watch(struct xdp_interface *xdp);

/* How the frames go, for a user: "AF_XDP, zero-copy". */
void xdp_describe(const struct xdp_interface *xdp, char *text, uint32_t bytes);

/* The socket of a queue, for the worker that has the pool. NULL: for the reason in `why`. `share`: sockets that share the pool. */
struct xdp_queue *xdp_queue_open(struct xdp_interface *xdp, uint32_t queue, struct own_pool *own, char *why);

/* Gives all its buffers back to the pool. No worker is within a burst. */
void xdp_queue_close(struct xdp_queue *queue);
int xdp_queue_fd(const struct xdp_queue *queue);

/* By the worker. `most_filled`: buffers that the kernel may hold to receive into. */
uint16_t xdp_receive(struct xdp_queue *queue, void **packets, uint16_t *lengths, uint16_t count, uint32_t most_filled);

/* Sends as many as there is room for: the first so many, which are the kernel's then, or counted in `*refused` and freed. */
uint16_t xdp_send(struct xdp_queue *queue, void *const *packets, const uint16_t *lengths, uint16_t count, uint64_t *refused);

/* Takes back what was sent. */
void xdp_reclaim(struct xdp_queue *queue);

/* Frames that the kernel has dropped since the socket was made. */
uint64_t xdp_dropped(struct xdp_queue *queue);

#endif
