/* The port layer without DPDK, built where libxdp and libbpf are not installed: its interfaces have packet sockets. */
#define _GNU_SOURCE
#include "port/xdp.h"

const char *
xdp_unavailable(void)
{
	return "libxdp is not installed (apt-get install libxdp-dev libbpf-dev)";
}

struct xdp_interface *
xdp_open(struct interface *interface, uint32_t workers, char *why)
{
	(void)interface;
	(void)workers;
	(void)port_fail(why, "%s", xdp_unavailable());
	return NULL;
}

void
xdp_close(struct xdp_interface *xdp)
{
	(void)xdp;
}

uint32_t
xdp_queues(const struct xdp_interface *xdp)
{
	(void)xdp;
	return 0;
}

void
xdp_watch(struct xdp_interface *xdp)
{
	(void)xdp;
}

void
xdp_describe(const struct xdp_interface *xdp, char *text, uint32_t bytes)
{
	(void)xdp;
	(void)bytes;
	*text = 0;
}

struct xdp_queue *
xdp_queue_open(struct xdp_interface *xdp, uint32_t queue, struct own_pool *own, char *why)
{
	(void)xdp;
	(void)queue;
	(void)own;
	(void)port_fail(why, "%s", xdp_unavailable());
	return NULL;
}

void
xdp_queue_close(struct xdp_queue *queue)
{
	(void)queue;
}

int
xdp_queue_fd(const struct xdp_queue *queue)
{
	(void)queue;
	return -1;
}

uint16_t
xdp_receive(struct xdp_queue *queue, void **packets, uint16_t *lengths, uint16_t count, uint32_t most_filled)
{
	(void)queue;
	(void)packets;
	(void)lengths;
	(void)count;
	(void)most_filled;
	return 0;
}

uint16_t
xdp_send(struct xdp_queue *queue, void *const *packets, const uint16_t *lengths, uint16_t count, uint64_t *refused)
{
	(void)queue;
	(void)packets;
	(void)lengths;
	(void)count;
	(void)refused;
	return 0;
}

void
xdp_reclaim(struct xdp_queue *queue)
{
	(void)queue;
}

uint64_t
xdp_dropped(struct xdp_queue *queue)
{
	(void)queue;
	return 0;
}
