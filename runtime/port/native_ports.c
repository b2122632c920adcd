/* The port layer without DPDK: opening, serving and counting its ports. */
#define _GNU_SOURCE
#include "port/native.h"
#include "port/spread.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NATIVE_SLOTS 1024u	/* default slots of a ring */
#define JUMBO_BYTES 9238u	/* of the longest frame that is common; an MTU may grow while the switch runs */
#define FRAME_MORE 22u		/* bytes of a frame beyond the MTU: Ethernet and two tags */
#define NATIVE_INJECTED 32u	/* packets that are sent at once */

/* Where the bytes of an own descriptor lie: side by side. */
static uint32_t
native_parts(const void *packet, uint32_t length, struct iovec *parts, uint32_t most)
{
	if (most == 0)
		return 0;
	*parts = (struct iovec){ (void *)(uintptr_t)packet, length };
	return 1;
}

static struct interface_packets native_packets = { .make = native_make, .parts = native_parts };

/* The port of a number, which keeps its place; NULL if all places are taken. */
static struct native_port *
native_port_new(uint16_t number, char *error)
{
	static uint16_t taken;

	if (native_places[number] == 0) {
		if (taken == NATIVE_PORTS - 1) {
			(void)port_fail(error, "at most %u ports", NATIVE_PORTS - 1);
			return NULL;
		}
		native_places[number] = ++taken;
	}
	return native_port_of(number);
}

/* Room for packets to a place, for each worker. Place 0 is that of numbers without a port. */
static int
native_outputs(uint32_t place)
{
	for (uint32_t worker = 0; worker < native_workers; worker++) {
		struct worker_ports *served = native_worker_ports[worker];

		if (served->outputs[place] == NULL)
			served->outputs[place] = calloc(1, sizeof(*served->outputs[place]));
		if (served->outputs[place] == NULL)
			return -1;
	}
	return 0;
}

static void native_port_begin(struct native_port *port, uint16_t number);

/* Of devices, memif alone is had without DPDK. */
int
native_open(uint16_t number, const char *device, uint32_t descriptors, char *error)
{
	if (strncmp(device, "memif:", 6) == 0) {
		struct native_port *port = native_port_new(number, error);

		if (port == NULL)
			return -1;
		if (native_outputs(0) != 0 || native_outputs(native_places[number]) != 0)
			return port_fail(error, "no memory for `%s`", device);
		native_port_begin(port, number);
		port->memif = memif_open(number, device + 6, descriptors, error);
		return port->memif == NULL ? -1 : 0;
	}
	return port_fail(error, "`%s` (port %u) is a device of DPDK, and this switch runs without: its ports are interfaces of the kernel "
		"(`--metadata overlaying` runs it with DPDK)", device, number);
}

/* Whether the system itself uses the interface: it has an address that was given to it. A program of AF_XDP would take its packets. */
static int
has_address(const char *name)
{
	struct ifaddrs *all, *one;
	int found = 0;

	if (getifaddrs(&all) != 0)
		return 0;
	for (one = all; one != NULL && !found; one = one->ifa_next) {
		const int family = one->ifa_addr == NULL ? AF_UNSPEC : one->ifa_addr->sa_family;

		if (strcmp(one->ifa_name, name) != 0)
			continue;
		found = family == AF_INET ||
			(family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)(void *)one->ifa_addr)->sin6_addr));
	}
	freeifaddrs(all);
	return found;
}

/* Why packet sockets are better, where the user leaves the choice. NULL: they are not. */
static const char *
against_xdp(const struct interface *interface)
{
	static const char *const with_offloads[] = { "veth", "tun", "bridge", "dummy", "macvlan", "ipvlan", "bonding", "openvswitch", "802.1Q VLAN Support" };
	const char *why = xdp_unavailable();
	char driver[32];

	if (why != NULL)
		return why;
	if (interface_is_recorded())
		return "packets are recorded";
	if (has_address(interface->name))
		return "the system has an address there, whose packets AF_XDP would take";
	interface_driver(interface, driver);
	for (uint32_t i = 0; i < sizeof(with_offloads) / sizeof(with_offloads[0]); i++)
		if (strcmp(driver, with_offloads[i]) == 0)
			return "hosts leave segmentation to such an interface, and AF_XDP ends that";
	return NULL;
}

static void
native_port_begin(struct native_port *port, uint16_t number)
{
	port->number = number;
	atomic_store(&port->unsent, 0);
	atomic_store(&port->lost, 0);
	atomic_store(&port->lost_bytes, 0);
	atomic_store(&port->disabled, 0);
	memset(port->senders, 0, sizeof(port->senders));
}

/* With AF_XDP, of which the interface has a program then. 0: it cannot be, for the reason in `why`. */
static int
native_open_xdp(struct native_port *port, const char *name, char *note, char *why)
{
	char how[96];

	port->interface = interface_open(name, 0, &native_packets, why);
	if (port->interface == NULL)
		return 0;
	port->xdp = xdp_open(port->interface, native_workers, why);
	if (port->xdp == NULL) {
		interface_close(port->interface);
		port->interface = NULL;
		return 0;
	}
	xdp_describe(port->xdp, how, sizeof(how));
	snprintf(note, PORT_ERROR_BYTES, "%s", how);
	return 1;
}

int
native_open_interface(uint16_t number, const char *name, uint32_t slots, uint32_t kind, char *note, char *error)
{
	struct native_port *port = native_port_new(number, error);
	char why[PORT_ERROR_BYTES] = "";

	if (port == NULL)
		return -1;
	if (native_outputs(0) != 0 || native_outputs(native_places[number]) != 0)
		return port_fail(error, "no memory for `%s`", name);
	native_port_begin(port, number);
	*note = 0;
	port->interface = interface_open(name, kind == INTERFACE_XDP ? 0 : slots != 0 ? slots : NATIVE_SLOTS, &native_packets, error);
	if (port->interface == NULL)
		return -1;
	if (kind == INTERFACE_PACKET)
		return 0;
	if (kind == INTERFACE_ANY && against_xdp(port->interface) != NULL) {
		snprintf(note, PORT_ERROR_BYTES, "packet sockets: %s", against_xdp(port->interface));
		return 0;
	}
	interface_close(port->interface);
	if (native_open_xdp(port, name, note, why))
		return 0;
	if (kind == INTERFACE_XDP)
		return port_fail(error, "%s", why);
	snprintf(note, PORT_ERROR_BYTES, "packet sockets instead of AF_XDP: %s", why);
	port->interface = interface_open(name, slots != 0 ? slots : NATIVE_SLOTS, &native_packets, error);
	return port->interface == NULL ? -1 : 0;
}

static int
native_worker_ports_add(struct worker_ports *served, struct native_port *port, struct xdp_queue *queue)
{
	struct native_source **sources = realloc(served->sources, (served->source_count + 1) * sizeof(struct native_source *));
	struct native_source *source = calloc(1, sizeof(*source));

	if (sources != NULL)
		served->sources = sources;
	if (sources == NULL || source == NULL) {
		free(source);
		return -1;
	}
	source->port = port;
	source->queue = queue;
	for (uint32_t i = 0; i < NATIVE_BURST; i++)
		source->numbers[i] = port->number;
	sources[served->source_count++] = source;
	return 0;
}

static int
native_serve_xdp(struct native_port *port, char *error)
{
	for (uint32_t queue = 0; queue < xdp_queues(port->xdp); queue++) {
		struct worker_ports *served = native_worker_ports[queue % native_workers];
		struct xdp_queue *opened = xdp_queue_open(port->xdp, queue, served->own, error);

		if (opened == NULL)
			return -1;
		if (native_worker_ports_add(served, port, opened) != 0) {
			xdp_queue_close(opened);
			return port_fail(error, "no memory for the queues of port %u", port->number);
		}
		if (port->senders[served->worker] == NULL)
			port->senders[served->worker] = opened;
	}
	return 0;
}

/* A port of packet sockets has one queue: the workers take turns. */
static int
native_serve(struct native_port *port, char *error)
{
	static uint32_t next;

	if (port->memif != NULL)
		port->memif->longest = native_longest();
	if (port->xdp != NULL ? native_serve_xdp(port, error) != 0 : native_worker_ports_add(native_worker_ports[next++ % native_workers], port, NULL) != 0)
		return port->xdp != NULL ? -1 : port_fail(error, "no memory for port %u", port->number);
	port->served = 1;
	return 0;
}

int
native_begin(uint32_t workers, char *error)
{
	uint32_t longest = 0, locks_memory = 0;

	if (native_outputs(0) != 0)
		return port_fail(error, "no memory for %u workers", workers);
	for (uint32_t place = 1; place < NATIVE_PORTS; place++) {
		const struct interface *interface = native_ports[place].interface;
		const uint32_t frame = interface == NULL ? 0 : atomic_load(&interface->mtu) + FRAME_MORE;

		longest = frame > longest ? frame : longest;
		locks_memory |= native_ports[place].xdp != NULL;
	}
	/* Memory that no frame has come to yet is none, unless AF_XDP locks it: then buffers are for the present MTU. */
	if (!locks_memory && longest < JUMBO_BYTES)
		longest = JUMBO_BYTES;
	if (native_pools(longest, error) != 0)
		return -1;
	native_packets.longest = native_longest();
	for (uint32_t place = 1; place < NATIVE_PORTS; place++)
		if (native_is_open(&native_ports[place]) && native_serve(&native_ports[place], error) != 0)
			return -1;
	return 0;
}

int
native_add(uint16_t number, char *error)
{
	struct native_port *port = native_port_of(number);

	if (!native_is_open(port))
		return port_fail(error, "port %u is not open", number);
	if (native_serve(port, error) == 0)
		return 0;
	native_remove(number);
	return -1;
}

/* What the workers poll without this port, in the same order. */
static void
native_forget(const struct native_port *port)
{
	for (uint32_t worker = 0; worker < native_workers; worker++) {
		struct worker_ports *served = native_worker_ports[worker];
		uint32_t kept = 0;

		for (uint32_t i = 0; i < served->source_count; i++) {
			struct native_source *source = served->sources[i];

			if (source->port != port) {
				served->sources[kept++] = source;
				continue;
			}
			if (source->queue != NULL)
				xdp_queue_close(source->queue);
			free(source);
		}
		served->source_count = kept;
	}
}

static void
native_close(struct native_port *port)
{
	native_forget(port);
	if (port->xdp != NULL)
		xdp_close(port->xdp);
	port->xdp = NULL;
	if (port->memif != NULL)
		memif_close(port->memif);
	port->memif = NULL;
	port->served = 0;
	atomic_store(&port->disabled, 0);
}

void
native_remove(uint16_t number)
{
	struct native_port *port = native_port_of(number);

	if (!native_is_open(port))
		return;
	native_close(port);
	if (port->interface != NULL)
		interface_close(port->interface);
	port->interface = NULL;
}

static void *
native_close_interface(void *interface)
{
	interface_close(interface);
	return NULL;
}

/* The kernel holds a thread that closes a packet socket until no core can be using it: all wait together. */
void
native_stop(void)
{
	pthread_t threads[NATIVE_PORTS];
	uint32_t count = 0;

	for (uint32_t place = 1; place < NATIVE_PORTS; place++) {
		struct native_port *port = &native_ports[place];

		if (!native_is_open(port))
			continue;
		native_close(port);
		if (port->interface == NULL)
			continue;
		if (pthread_create(&threads[count], NULL, native_close_interface, port->interface) == 0)
			count++;
		else
			interface_close(port->interface);
		port->interface = NULL;
	}
	while (count > 0)
		(void)pthread_join(threads[--count], NULL);
}

/* Ends when the interface takes no more. */
uint32_t
native_inject(uint16_t number, const uint8_t *frame, uint32_t length, uint32_t count)
{
	struct native_port *port = native_port_of(number);
	void *packets[NATIVE_INJECTED];
	uint16_t lengths[NATIVE_INJECTED];
	uint32_t sent = 0, taken = NATIVE_INJECTED;
	uint64_t refused = 0;

	for (uint32_t i = 0; i < NATIVE_INJECTED; i++) {
		packets[i] = (void *)(uintptr_t)frame;
		lengths[i] = (uint16_t)length;
	}
	while (native_is_open(port) && port->xdp == NULL && sent < count && taken != 0) {
		const uint16_t left = (uint16_t)(count - sent < NATIVE_INJECTED ? count - sent : NATIVE_INJECTED);

		taken = port->memif != NULL ? memif_send(port->memif, packets, lengths, left, &refused)
			: interface_send(port->interface, packets, lengths, left, &refused);
		sent += taken;
	}
	return sent;
}

static uint32_t
native_enabled(const struct native_port *port)
{
	return atomic_load_explicit(&port->disabled, memory_order_relaxed) == 0 &&
		(port->interface == NULL || atomic_load_explicit(&port->interface->enabled, memory_order_relaxed) != 0);
}

/* A port that is disabled has no link, whatever its interface reports. */
static enum link_state
native_link(const struct native_port *port, enum link_state link)
{
	return link == LINK_UP && atomic_load_explicit(&port->disabled, memory_order_relaxed) != 0 ? LINK_DOWN : link;
}

/* Packets that wait for their workers, or were lost there. */
struct native_spread {
	uint64_t waiting, waiting_bytes;
	uint64_t lost, lost_bytes;
};

static struct native_spread
native_spread_of(const struct native_port *port)
{
	struct native_spread of = {
		.lost = atomic_load_explicit(&port->lost, memory_order_relaxed),
		.lost_bytes = atomic_load_explicit(&port->lost_bytes, memory_order_relaxed),
	};

	of.waiting = spread_waiting_of(port->number, &of.waiting_bytes);
	return of;
}

static void
native_source_counts(const struct native_source *source, struct port_counts *counts)
{
	const uint64_t discarded = atomic_load_explicit(&source->discarded, memory_order_relaxed);

	port_not_received(counts, discarded, atomic_load_explicit(&source->discarded_bytes, memory_order_relaxed));
	counts->missed += discarded;
	if (source->queue != NULL)
		counts->missed += xdp_dropped(source->queue);
}

int
native_counts(uint16_t number, struct port_counts *counts)
{
	struct native_port *port = native_port_of(number);
	struct native_spread spread_of;

	if (!native_is_open(port))
		return -1;
	/* Before what was received: of that these are a part. */
	spread_of = native_spread_of(port);
	if (port->memif != NULL)
		memif_counts(port->memif, counts);
	else
		interface_counts(port->interface, counts);
	for (uint32_t worker = 0; worker < native_workers; worker++) {
		const struct worker_ports *served = native_worker_ports[worker];

		for (uint32_t i = 0; i < served->source_count; i++)
			if (served->sources[i]->port == port)
				native_source_counts(served->sources[i], counts);
	}
	port_not_received(counts, spread_of.lost + spread_of.waiting, spread_of.lost_bytes + spread_of.waiting_bytes);
	counts->missed += spread_of.lost;
	counts->waiting += spread_of.waiting;
	counts->unsent += atomic_load_explicit(&port->unsent, memory_order_relaxed);
	counts->link = native_link(port, counts->link);
	counts->enabled = native_enabled(port);
	return 0;
}

/* Without the right to change an interface its packets alone are dropped; one that the system has down stays so. */
int
native_enable(uint16_t number, uint32_t enabled, char *error)
{
	struct native_port *port = native_port_of(number);
	int failure;

	if (!native_is_open(port))
		return port_fail(error, "port %u is not open", number);
	if (port->memif != NULL) {
		atomic_store(&port->disabled, !enabled);
		return 0;
	}
	failure = interface_enable(port->interface, enabled);
	if (failure != 0 && (enabled || (failure != EPERM && failure != EACCES)))
		return port_fail(error, "the interface `%s`: %s", port->interface->name, strerror(failure));
	atomic_store(&port->disabled, !enabled);
	(void)interface_watch(port->interface);
	return 0;
}

int
native_watch(uint16_t number, uint32_t *enabled)
{
	struct native_port *port = native_port_of(number);
	enum link_state link;

	if (!native_is_open(port))
		return -1;
	link = port->memif != NULL ? memif_link_state(port->memif) : interface_watch(port->interface);
	if (port->xdp != NULL)
		xdp_watch(port->xdp);
	*enabled = native_enabled(port);
	return (int)native_link(port, link);
}
