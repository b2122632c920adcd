/* Which actions a table's entries run. A reader asks after its look-ups. So before an entry with another action appears, the table says that there are several;
 * that there is one again it says a grace period after the last entry of the others has gone, when nobody can still use what he found of them. */
#include "table/actions.h"

#include "table/records.h"

int
actions_create(struct actions *actions, struct memory *memory, struct table *table, uint32_t count)
{
	*actions = (struct actions){ .memory = memory, .table = table, .count = count };
	actions->entries = memory_allocate(memory, (count + 1) * sizeof(*actions->entries));
	return actions->entries != NULL;
}

void
actions_destroy(struct actions *actions)
{
	memory_release(actions->memory, actions->entries, (actions->count + 1) * sizeof(*actions->entries));
}

static uint64_t *
actions_entries(struct actions *actions, const void *record)
{
	const uint32_t action = record_action(record);

	return &actions->entries[action < actions->count ? action : actions->count];
}

/* Tells readers what holds now. */
static void
actions_publish(struct actions *actions)
{
	uint32_t only = 0;

	if (actions->kinds == 1 && actions->gone_grace <= actions->memory->graces)
		for (uint32_t action = 0; action < actions->count; action++)
			only = actions->entries[action] != 0 ? action + 1 : only;
	if (only != actions->table->only)
		__atomic_store_n(&actions->table->only, only, __ATOMIC_RELEASE);
}

void
actions_add(struct actions *actions, const void *record)
{
	actions->kinds += (*actions_entries(actions, record))++ == 0;
	actions_publish(actions);
}

void
actions_remove(struct actions *actions, const void *record)
{
	if (--*actions_entries(actions, record) == 0) {
		actions->kinds--;
		actions->gone_grace = actions->memory->graces + 1;
	}
	actions_publish(actions);
}
