/* The actions that a table's entries run: while all run the same one, readers can know it (`table_runs_only`)
 * and need not read each record. */
#ifndef BACUS_TABLE_ACTIONS_H
#define BACUS_TABLE_ACTIONS_H

#include "table/memory.h"

struct actions {
	struct memory *memory;
	struct table *table;
	uint32_t count;		/* of the program's actions */
	uint32_t kinds;		/* actions that entries run */
	struct actions_entries *of;	/* each action; the last are those that the program does not have */
};

/* 0: no memory. */
int actions_create(struct actions *actions, struct memory *memory, struct table *table, uint32_t count);
void actions_destroy(struct actions *actions);

/* Readers will see an entry with this record. */
void actions_add(struct actions *actions, const void *record);
/* They can no longer find an entry with this record, though they may have found it. */
void actions_remove(struct actions *actions, const void *record);
/* Announces a single action to readers as soon as possible: waits for a grace period, if it has to. */
void actions_settle(struct actions *actions);

#endif
