/* What structures share that keep their entries as rules (rules.h) and make from them what readers see: the functions of a layout but `lookup` and
 * `destroy`. A structure defines how one more rule, one rule less, and another record are published, and how large it is.
 *
 *    rule's limbs   value | mask | high        the first `parts` of them, `limbs` each
 *    insert         rules_add, then publish;   on failure rules_remove
 *    remove         withdraw, then rules_remove;   on failure nothing has changed
 *    modify         the rule's record, then change
 */
#ifndef BACUS_TABLE_RULED_H
#define BACUS_TABLE_RULED_H

#include "table/layout.h"
#include "table/rules.h"

struct ruled;

struct ruled_structure {
	/* The rule is among the rules, but readers do not see it yet. If this fails, it goes again. */
	enum table_status (*publish)(struct ruled *ruled, uint32_t number);
	/* The rule is still among the rules, but readers shall not see it any more. */
	enum table_status (*withdraw)(struct ruled *ruled, uint32_t number);
	/* The rule has another record. */
	void (*change)(struct ruled *ruled, uint32_t number);
	uint64_t writer_bytes;	/* of the writer, which begins with a `struct ruled` */
	uint64_t table_bytes;	/* of the part that readers see, which begins with a `struct table` */
};

struct ruled {
	struct layout layout;
	const struct ruled_structure *structure;
	struct rules rules;	/* a rule's limbs: value, then, given by `parts`, mask and upper ends */
	uint32_t parts;
	uint32_t prefixes;	/* 1: a rule's priority is its prefix's length */
	uint64_t *scratch;	/* a rule's limbs */
};

/* The writer, with no rules, and the part for readers, of which nothing is filled in. 1 part: exact keys or prefixes; 2: masks, too; 3: ranges, too.
 * NULL: no memory. */
struct ruled *ruled_create(const struct layout_request *request, const struct layout_functions *layout, const struct ruled_structure *structure,
			   uint32_t parts);
/* Releases the writer and the part for readers as well; what a structure has beside them, it has released before. */
void ruled_destroy(struct ruled *ruled);

enum table_status ruled_insert(struct layout *layout, const struct layout_match *match, uint32_t record);
uint32_t ruled_find(const struct layout *layout, const struct layout_match *match);
void ruled_modify(struct layout *layout, const struct layout_match *match, uint32_t record);
enum table_status ruled_remove(struct layout *layout, const struct layout_match *match);
uint64_t ruled_next(const struct layout *layout, uint64_t cursor, struct layout_match *match, uint32_t *record);
int ruled_locate(const struct layout *layout, uint32_t note, struct layout_match *match, uint32_t *record);
enum table_status ruled_reserve(struct layout *layout, uint64_t entries);

#define RULED_LAYOUT(lookup_function, destroy_function, ...)                                                                                \
	{                                                                                                                                   \
		.insert = ruled_insert, .find = ruled_find, .modify = ruled_modify, .remove = ruled_remove, .next = ruled_next,             \
		.locate = ruled_locate, .lookup = lookup_function, .reserve = ruled_reserve, .destroy = destroy_function, __VA_ARGS__       \
	}

static inline struct ruled *
ruled_of(const struct layout *layout)
{
	return (struct ruled *)(uintptr_t)layout;
}

static inline const uint64_t *
ruled_value(const struct rule *rule)
{
	return rule->limbs;
}

static inline const uint64_t *
ruled_mask(const struct ruled *ruled, const struct rule *rule)
{
	return rule->limbs + ruled->layout.limbs;
}

static inline const uint64_t *
ruled_high(const struct ruled *ruled, const struct rule *rule)
{
	return rule->limbs + 2 * (size_t)ruled->layout.limbs;
}

/* Whether one rule goes before another: by priority, among equals by age. P4Runtime leaves the order of equal
 * priorities open; age makes it the same in every structure and engine. */
static inline int
ruled_before(const struct rule *one, const struct rule *other)
{
	return one->priority != other->priority ? one->priority > other->priority : one->sequence < other->sequence;
}

/* Numbers of rules in the order in which they match. */
struct ranking {
	uint32_t *numbers;
	uint32_t count;
	uint32_t capacity;
};

/* The rule's place, or where it belongs. */
uint32_t ranking_place(const struct ranking *ranking, const struct rules *rules, const struct rule *rule);
/* 0: no memory. */
int ranking_insert(struct ranking *ranking, const struct rules *rules, uint32_t number);
void ranking_remove(struct ranking *ranking, const struct rules *rules, uint32_t number);
void ranking_destroy(struct ranking *ranking, struct memory *memory);

#endif
