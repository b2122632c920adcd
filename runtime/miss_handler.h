/* What a miss handler includes: code of the user that answers packets within the switch (`bacus run --miss-handler FILE.so`).
 *
 *	#include "miss_handler.h"
 *
 *	void
 *	miss_handler(const struct miss *miss)
 *	{
 *		miss->write(miss->context, "add hosts hdr.ethernet.dst:0x02000000000a forward(port:2)");
 *	}
 *
 * The control thread calls it for each packet that finds nothing in a table with @punt_on_miss. When it returns, the packet is looked up again: it goes on if
 * there is an entry for it now, and waits if not. */
#ifndef BACUS_MISS_HANDLER_H
#define BACUS_MISS_HANDLER_H

#include <stdint.h>

struct miss {
	const char *table;	/* its whole name in the program */
	const uint8_t *packet;	/* as it was received, whatever the program has changed of it */
	uint32_t length;
	void *context;	/* for `write` */
	/* Executes a line of STF (docs/stf.md). 0: done; else the switch has refused it, as an entry that is there already. */
	int (*write)(void *context, const char *command);
};

void miss_handler(const struct miss *miss);

#endif
