/* What the host leaves to a network interface, and a port must do instead. Part of the host. */
#ifndef BACUS_OFFLOAD_H
#define BACUS_OFFLOAD_H

/* Whether the host leaves checksums of frames that it sends to the interface: 1 or 0; -1 where the system does not report it. */
int offload_checksums(const char *interface);

#endif
