/* Which actions a table's entries run. A reader checks this after its lookups. So the table reports several actions before an entry with another action
 * appears. It reports one action again after a grace period since the last entry of each other action was deleted, when no reader can still use such an
 * entry: at the first write after that, or when it is asked to settle.
 *
 *    writer                               reader
 *    only = 0 (release)                   find an entry (acquire)
 *    make the entry with action B found   load only (acquire): 0, if the entry runs B
 *
 *    make the last entry with B gone      a reader that found it before reads `only` within its burst:
 *    GRACE, then only = A + 1             `only` stays 0 until that burst has ended
 */
#include "table/actions.h"

#include "table/records.h"

struct actions_entries {
	uint64_t count;
	uint64_t gone_grace;	/* grace periods so far when the last one was removed, plus one; 0: none was */
};

int
actions_create(struct actions *actions, struct memory *memory, struct table *table, uint32_t count)
{
	*actions = (struct actions){ .memory = memory, .table = table, .count = count };
	actions->of = memory_allocate(memory, (count + 1) * sizeof(*actions->of));
	return actions->of != NULL;
}

void
actions_destroy(struct actions *actions)
{
	memory_release(actions->memory, actions->of, (actions->count + 1) * sizeof(*actions->of));
}

/* Records of actions that the program lacks (a selector's group) share one count; they are never the only
 * action. */
static struct actions_entries *
actions_of(struct actions *actions, const void *record)
{
	const uint32_t action = record_action(record);

	return &actions->of[action < actions->count ? action : actions->count];
}

/* One more than the action that all entries run, including retired ones that readers may have found; or 0. */
static uint32_t
actions_only(const struct actions *actions)
{
	uint32_t only = 0;

	for (uint32_t action = 0; action <= actions->count; action++)
		if (actions->of[action].count != 0)
			only = action < actions->count ? action + 1 : 0;
		/* Gone, but a reader may have found its last entry: then entries do not run one action yet. */
		else if (actions->of[action].gone_grace > actions->memory->graces)
			return 0;
	return only;
}

/* Publishes the current state to readers. */
static void
actions_publish(struct actions *actions)
{
	const uint32_t only = actions->kinds == 1 ? actions_only(actions) : 0;

	if (only != actions->table->only)
		__atomic_store_n(&actions->table->only, only, __ATOMIC_RELEASE);
}

void
actions_add(struct actions *actions, const void *record)
{
	actions->kinds += actions_of(actions, record)->count++ == 0;
	actions_publish(actions);
}

/* `gone_grace` is a time, counted in grace periods: it is over when `memory.graces` has reached it. */
void
actions_remove(struct actions *actions, const void *record)
{
	struct actions_entries *of = actions_of(actions, record);

	if (--of->count == 0) {
		actions->kinds--;
		of->gone_grace = actions->memory->graces + 1;
	}
	actions_publish(actions);
}

void
actions_settle(struct actions *actions)
{
	if (actions->kinds != 1 || actions->table->only != 0)
		return;
	memory_grace(actions->memory);
	actions_publish(actions);
}
