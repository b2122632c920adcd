/* The DPDK port layer: enabling and disabling ports. */
#define _GNU_SOURCE
#include "port/dpdk.h"
#include "port/interface.h"

#include <errno.h>

#include <rte_errno.h>

/* Lets packets pass, or has them dropped. Workers see it with their next burst. */
static void
enable_traffic(struct dpdk_port *port, uint32_t enabled)
{
	atomic_store(&port->disabled, !enabled);
	for (uint32_t worker = 0; worker < DPDK_WORKERS && dpdk_worker_ports[worker] != NULL; worker++) {
		struct worker_ports *served = dpdk_worker_ports[worker];

		for (uint32_t i = 0; i < served->source_count; i++)
			if (dpdk_source_is_of(&served->sources[i], port))
				atomic_store(&served->sources[i].disabled, !enabled);
	}
}

/* Without the right to change an interface its packets alone are dropped; one that the system has down stays so. */
static int
enable_interface(struct dpdk_port *port, uint32_t enabled, char *error)
{
	const int failure = interface_enable(port->interface, enabled);

	if (failure != 0 && (enabled || (failure != EPERM && failure != EACCES)))
		return port_fail(error, "the interface `%s`: %s", port->interface->name, strerror(failure));
	enable_traffic(port, enabled);
	(void)interface_watch(port->interface);
	return 0;
}

/* Few devices can take their link down. */
static int
enable_device(struct dpdk_port *port, uint32_t enabled, char *error)
{
	const int failure = enabled ? rte_eth_dev_set_link_up(port->device) : rte_eth_dev_set_link_down(port->device);

	if (failure != 0 && failure != -ENOTSUP)
		return port_fail(error, "the link of port %u: %s", port->number, rte_strerror(-failure));
	enable_traffic(port, enabled);
	return 0;
}

int
dpdk_enable(uint16_t number, uint32_t enabled, char *error)
{
	struct dpdk_port *port = dpdk_port_of(number);

	if (!port->open)
		return port_fail(error, "port %u is not open", number);
	return port->interface != NULL ? enable_interface(port, enabled, error) : enable_device(port, enabled, error);
}
