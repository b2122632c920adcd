/* Writes the classes and sets of bit_vector.h while workers read them.
 *
 * A new rule divides classes of which it allows a part. First the sets are made anew: with a bit for the rule, 0 but where the rule allows all of a
 * class, and with copies for the new classes, where it is 1. When every reader uses these, the values that the rule allows get their new classes, chunk by
 * chunk; a key finds the rule when all its chunks have. Classes that a deletion made equal are united when many have come together. A reader takes the sets
 * first and classes after, so the number of a class without values can be given to another with the next sets.
 *
 * No key finds a rule behind one that allows every key. Where that saves words, readers have a copy of the sets that ends there: the first thousand rules of
 * a table may be two hundred to them.
 *
 * Readers see a chunk's classes in one of two places, alternately: between two changes of the same chunk a grace period passes, for the sets' sake.
 *
 *    insertion          sets' = sets + bit of the rule, and sets of new classes
 *                       GRACE                     readers: sets', old classes: the rule is not found
 *                       chunk 0: new classes      its values lead to sets with the bit; others not yet
 *                       chunk n: new classes      the rule is found
 *    deletion           sets' without the bit     not found any more; classes that are equal now cost nothing yet
 *    uniting            GRACE, new classes        the numbers of united classes are free for the next sets
 */
#include "table/bit_vector.h"

#include <string.h>

#include "table/ruled.h"

#define BIT_VECTOR_UNITE_LEAST 64u	/* classes more than there need be, before any are united */

/* The writer's view of a chunk. Classes are numbers of sets, reused; `sizes` 0 means that no value has the
 * number. */
struct bit_vector_side {
	uint32_t class_count;	/* numbers below it may have values */
	uint32_t live;		/* classes that have */
	uint32_t settled;	/* of them, after they were last united */
	uint32_t value_count;
	uint32_t range;		/* 1: a range field, else bits */
	uint16_t *classes;	/* by value */
	struct chunk_index *indexes[2];	/* the one that readers see, and the next */
	uint32_t *sizes;	/* of classes, in values */
	uint32_t *allowed;	/* of a class's values, those that the current rule allows */
	uint32_t *divided;	/* for a class that the current rule divides, the number of the other part; 0: none */
};

struct bit_vector_writer {
	struct ruled ruled;
	struct bit_vector *vector;
	struct bit_vector_array *all;	/* the sets of all rules; those that readers have are the same, or a copy of their first words */
	struct ranking ranking;
	struct bit_vector_side sides[BIT_VECTOR_CHUNKS_MOST];
};

/* The largest index of a chunk: no page is one number. */
static uint64_t
bit_vector_index_bytes(const struct bit_vector_side *side)
{
	return chunk_index_bytes((side->value_count + CHUNK_PAGE - 1) / CHUNK_PAGE, 0);
}

/* What one chunk of a rule allows. */
struct bit_vector_part {
	uint32_t value;		/* or the range's lower end */
	uint32_t mask;		/* or its upper end */
	uint32_t range;
};

static struct bit_vector_writer *
bit_vector_of(const struct ruled *ruled)
{
	return (struct bit_vector_writer *)(uintptr_t)ruled;
}

/* A mask of ones is one value, of zeros all values. A range field is a chunk, and its ends are values. */
static struct bit_vector_part
bit_vector_part(const struct bit_vector_writer *writer, const struct rule *rule, uint32_t chunk)
{
	const struct chunk *bits = &writer->vector->chunks[chunk].bits;
	const uint32_t range = writer->sides[chunk].range;
	const uint64_t *other = range ? ruled_high(&writer->ruled, rule) : ruled_mask(&writer->ruled, rule);

	return (struct bit_vector_part){
		.value = chunk_value(bits, ruled_value(rule)), .mask = chunk_value(bits, other), .range = range,
	};
}

/* Goes through the values that a part allows: begin with `first`, end when it returns a value that is not larger. */
static uint32_t
bit_vector_first(const struct bit_vector_part *part)
{
	return part->range ? part->value : part->value & part->mask;
}

static uint32_t
bit_vector_following(const struct bit_vector_part *part, uint32_t value, uint32_t count)
{
	if (part->range)
		return value < part->mask ? value + 1 : 0;
	/* Adding to the bits that do not matter, carrying over those that do. */
	return (((value | part->mask) + 1) & ~part->mask & (count - 1)) | (part->value & part->mask);
}

/* The words of a set of so many rules. */
static uint64_t
bit_vector_words(uint32_t rules)
{
	const uint64_t lines = (rules + 64 * BIT_VECTOR_LINE - 1) / (64 * BIT_VECTOR_LINE);

	return rules <= 64 * BIT_VECTOR_QUAD ? BIT_VECTOR_QUAD : lines * BIT_VECTOR_LINE;
}

/* An array with room for so many classes of each chunk and so many rules, or NULL. */
static struct bit_vector_array *
bit_vector_array_create(const struct bit_vector_writer *writer, const uint32_t *class_counts, uint32_t rules)
{
	const uint32_t chunks = writer->vector->chunk_count;
	const uint64_t words = bit_vector_words(rules), front = (sizeof(struct bit_vector_array) + 63) / 64 * 64;
	uint64_t sets = 0, *at;
	struct bit_vector_array *array;

	for (uint32_t chunk = 0; chunk < chunks; chunk++)
		sets += class_counts[chunk];
	array = memory_allocate(writer->ruled.layout.memory, front + sets * words * sizeof(uint64_t) + words * 64 * sizeof(uint32_t));
	if (array == NULL)
		return NULL;
	array->words = words;
	array->bytes = front + sets * words * sizeof(uint64_t) + words * 64 * sizeof(uint32_t);
	at = (uint64_t *)(void *)((uint8_t *)array + front);
	for (uint32_t chunk = 0; chunk < chunks; chunk++) {
		array->sets[chunk] = at;
		at += class_counts[chunk] * words;
	}
	array->records = (uint32_t *)(void *)at;
	for (uint32_t place = 0; place < writer->ranking.count && place < 64 * words; place++)
		array->records[place] = rules_at(&writer->ruled.rules, writer->ranking.numbers[place])->record;
	return array;
}

/* Of a mask, no bit matters; of a range, all values are in it. */
static int
bit_vector_allows_all(const struct bit_vector_writer *writer, const struct rule *rule)
{
	for (uint32_t chunk = 0; chunk < writer->vector->chunk_count; chunk++) {
		const struct bit_vector_part part = bit_vector_part(writer, rule, chunk);
		const uint32_t least = part.range ? part.value : part.mask, most = part.range ? part.mask + 1 : writer->sides[chunk].value_count;

		if (least != 0 || most != writer->sides[chunk].value_count)
			return 0;
	}
	return 1;
}

/* The rules that some key may find: all up to the first one that allows every key. */
static uint32_t
bit_vector_reached(const struct bit_vector_writer *writer)
{
	for (uint32_t place = 0; place < writer->ranking.count; place++)
		if (bit_vector_allows_all(writer, rules_at(&writer->ruled.rules, writer->ranking.numbers[place])))
			return place + 1;
	return writer->ranking.count;
}

/* What readers shall have of all sets: these, also where there is no memory for fewer words. A copy, not a view:
 * sets are contiguous, and a shorter set has fewer words for each class. */
static struct bit_vector_array *
bit_vector_shown(const struct bit_vector_writer *writer, const uint32_t *class_counts, struct bit_vector_array *all)
{
	const uint32_t reached = bit_vector_reached(writer);
	struct bit_vector_array *shown = bit_vector_words(reached) < all->words ? bit_vector_array_create(writer, class_counts, reached) : NULL;

	if (shown == NULL)
		return all;
	for (uint32_t chunk = 0; chunk < writer->vector->chunk_count; chunk++)
		for (uint64_t class = 0; class < class_counts[chunk]; class++)
			memcpy(shown->sets[chunk] + class * shown->words, all->sets[chunk] + class * all->words, shown->words * sizeof(**shown->sets));
	return shown;
}

/* What the writer has beyond the readers' copy was never seen by them, and goes at once. */
static void
bit_vector_publish_array(struct bit_vector_writer *writer, const uint32_t *class_counts, struct bit_vector_array *all)
{
	struct memory *memory = writer->ruled.layout.memory;
	struct bit_vector_array *old = writer->vector->array;

	__atomic_store_n(&writer->vector->array, bit_vector_shown(writer, class_counts, all), __ATOMIC_RELEASE);
	memory_retire(memory, old, old->bytes);
	if (writer->all != old)
		memory_release(memory, writer->all, writer->all->bytes);
	writer->all = all;
}

/* Copies a set, with one more bit at a place. Rules behind the place rank one lower: their bits move up by one,
 * through all words. */
static void
bit_vector_widen(uint64_t *to, uint64_t to_words, const uint64_t *from, uint64_t from_words, uint32_t place, uint64_t bit)
{
	const uint64_t word = place / 64, below = ((uint64_t)1 << place % 64) - 1;

	memcpy(to, from, word * sizeof(*to));
	for (uint64_t i = word; i < to_words; i++) {
		const uint64_t here = i < from_words ? from[i] : 0, before = i == 0 || i - 1 >= from_words ? 0 : from[i - 1];

		if (i == word)
			to[i] = (here & below) | bit << place % 64 | (here & ~below) << 1;
		else
			to[i] = here << 1 | before >> 63;
	}
}

/* Copies a set, with the bit at a place gone. */
static void
bit_vector_narrow(uint64_t *to, uint64_t to_words, const uint64_t *from, uint64_t from_words, uint32_t place)
{
	const uint64_t word = place / 64, below = ((uint64_t)1 << place % 64) - 1;

	memcpy(to, from, (word < to_words ? word : to_words) * sizeof(*to));
	for (uint64_t i = word; i < to_words; i++) {
		const uint64_t next = i + 1 < from_words ? from[i + 1] << 63 : 0;

		to[i] = i == word ? (from[i] & below) | ((from[i] >> 1 | next) & ~below) : from[i] >> 1 | next;
	}
}

/* The first number without values from `class` on. A number without values is free only with the next sets:
 * readers of the present ones may still have it. */
static uint32_t
bit_vector_unused(const struct bit_vector_side *side, uint32_t class)
{
	while (class < side->class_count && side->sizes[class] != 0)
		class++;
	return class;
}

/* Which classes the rule divides: `allowed`, `divided`; and the number of classes then.
 *
 *    sizes     values of a class             allowed == 0         the rule is not in the class's set
 *    allowed   those that the rule allows    allowed == sizes     it is, and the class stays whole
 *                                            else                 divided: these values get a new class
 */
static uint32_t
bit_vector_divide(struct bit_vector_writer *writer, const struct rule *rule, uint32_t chunk)
{
	const struct bit_vector_part part = bit_vector_part(writer, rule, chunk);
	struct bit_vector_side *side = &writer->sides[chunk];
	const uint16_t *classes = side->classes;
	uint32_t count = side->class_count, value = bit_vector_first(&part), unused = 0, next;

	memset(side->allowed, 0, count * sizeof(*side->allowed));
	memset(side->divided, 0, count * sizeof(*side->divided));
	for (;; value = next) {
		side->allowed[classes[value]]++;
		next = bit_vector_following(&part, value, side->value_count);
		/* Wrapped around to the first value: all were visited. */
		if (next <= value)
			break;
	}
	for (uint32_t class = 0; class < side->class_count; class++)
		if (side->allowed[class] != 0 && side->allowed[class] != side->sizes[class]) {
			unused = bit_vector_unused(side, unused);
			side->divided[class] = unused++;	/* never 0: there is a class that is divided */
			count = unused > count ? unused : count;
		}
	return count;
}

static int
bit_vector_divides(const struct bit_vector_side *side)
{
	for (uint32_t class = 0; class < side->class_count; class++)
		if (side->divided[class] != 0)
			return 1;
	return 0;
}

/* Shows a chunk's classes in the place that no reader uses. Its readers were there before the last change of
 * this chunk, and a grace period has passed since. */
static void
bit_vector_show(struct bit_vector_writer *writer, uint32_t chunk)
{
	struct bit_vector_side *side = &writer->sides[chunk];
	struct chunk_index *index = side->indexes[1];
	const uint32_t page_values = side->value_count < CHUNK_PAGE ? side->value_count : CHUNK_PAGE, page_count = side->value_count / page_values;
	uint8_t is_whole[CHUNK_PAGES];

	for (uint32_t page = 0; page < page_count; page++) {
		const uint16_t *classes = side->classes + page * page_values;

		is_whole[page] = memcmp(classes, classes + 1, (page_values - 1) * sizeof(*classes)) != 0;	/* some differ from the next */
	}
	chunk_index_divide(index, is_whole, page_count);
	for (uint32_t page = 0; page < page_count; page++)
		memcpy(index->numbers + index->firsts[page], side->classes + page * page_values, (is_whole[page] ? page_values : 1) * sizeof(*index->numbers));
	__atomic_store_n(&writer->vector->chunks[chunk].index, index, __ATOMIC_RELEASE);
	side->indexes[1] = side->indexes[0];
	side->indexes[0] = index;
}

/* Gives the values that the rule allows their new classes. `divided` and `allowed` are of this rule, from
 * `bit_vector_divide`; the sets for the new classes are published. */
static void
bit_vector_reclass(struct bit_vector_writer *writer, const struct rule *rule, uint32_t chunk, uint32_t class_count)
{
	const struct bit_vector_part part = bit_vector_part(writer, rule, chunk);
	struct bit_vector_side *side = &writer->sides[chunk];
	uint32_t value = bit_vector_first(&part), next;

	if (!bit_vector_divides(side))
		return;
	for (;; value = next) {
		const uint32_t divided = side->divided[side->classes[value]];

		if (divided != 0)
			side->classes[value] = (uint16_t)divided;
		next = bit_vector_following(&part, value, side->value_count);
		if (next <= value)
			break;
	}
	for (uint32_t class = 0; class < side->class_count; class++)
		if (side->divided[class] != 0) {
			side->sizes[side->divided[class]] = side->allowed[class];
			side->sizes[class] -= side->allowed[class];
			side->live++;
		}
	side->class_count = class_count;
	bit_vector_show(writer, chunk);
}

/* Sets with one more rule at a place; NULL: no memory. A whole class has the bit if the rule allows all of it.
 * Of a divided class, the old number keeps the values without the rule. */
static struct bit_vector_array *
bit_vector_with(const struct bit_vector_writer *writer, const uint32_t *class_counts, uint32_t place)
{
	const struct bit_vector_array *old = writer->all;
	struct bit_vector_array *new = bit_vector_array_create(writer, class_counts, writer->ranking.count);

	for (uint32_t chunk = 0; new != NULL && chunk < writer->vector->chunk_count; chunk++) {
		const struct bit_vector_side *side = &writer->sides[chunk];

		for (uint32_t class = 0; class < side->class_count; class++) {
			const uint64_t *from = old->sets[chunk] + class * old->words;
			const int whole = side->allowed[class] == side->sizes[class];

			if (side->sizes[class] == 0)
				continue;
			bit_vector_widen(new->sets[chunk] + class * new->words, new->words, from, old->words, place, (uint64_t)whole);
			if (side->divided[class] != 0)
				bit_vector_widen(new->sets[chunk] + side->divided[class] * new->words, new->words, from, old->words, place, 1);
		}
	}
	return new;
}

/* Everything that can fail comes before the sets are published. A rule that divides no class is found as soon as
 * they are: no grace period then. */
static enum table_status
bit_vector_publish(struct ruled *ruled, uint32_t number)
{
	struct bit_vector_writer *writer = bit_vector_of(ruled);
	const struct rule *rule = rules_at(&ruled->rules, number);
	const uint32_t chunks = writer->vector->chunk_count;
	uint32_t class_counts[BIT_VECTOR_CHUNKS_MOST], divides = 0;
	struct bit_vector_array *new;

	if (ruled->rules.count > BIT_VECTOR_MOST)
		return TABLE_FULL;
	if (!ranking_insert(&writer->ranking, &ruled->rules, number))
		return TABLE_NO_MEMORY;
	for (uint32_t chunk = 0; chunk < chunks; chunk++) {
		class_counts[chunk] = bit_vector_divide(writer, rule, chunk);
		divides |= bit_vector_divides(&writer->sides[chunk]);
	}
	new = bit_vector_with(writer, class_counts, ranking_place(&writer->ranking, &ruled->rules, rule));
	if (new == NULL) {
		ranking_remove(&writer->ranking, &ruled->rules, number);
		return TABLE_NO_MEMORY;
	}
	bit_vector_publish_array(writer, class_counts, new);
	if (divides)
		memory_grace(ruled->layout.memory);
	for (uint32_t chunk = 0; chunk < chunks; chunk++)
		bit_vector_reclass(writer, rule, chunk, class_counts[chunk]);
	return TABLE_OK;
}

/* The class with the same set that comes first, among those that `allowed` holds by hash. Open addressing with a
 * slot per class: never full, since a class is entered once. */
static uint32_t
bit_vector_same(const struct bit_vector_writer *writer, uint32_t chunk, uint32_t class)
{
	const struct bit_vector_array *array = writer->all;
	const struct bit_vector_side *side = &writer->sides[chunk];
	const uint64_t *sets = array->sets[chunk], *set = sets + class * array->words;
	uint64_t hash = 0;
	uint32_t slot;

	for (uint64_t word = 0; word < array->words; word++) {
		hash = (hash ^ set[word]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	slot = (uint32_t)((hash >> 32) * side->class_count >> 32);
	while (side->allowed[slot] != UINT32_MAX && memcmp(sets + side->allowed[slot] * array->words, set, array->words * sizeof(*set)) != 0)
		slot = slot + 1 == side->class_count ? 0 : slot + 1;
	if (side->allowed[slot] == UINT32_MAX)
		side->allowed[slot] = class;
	return side->allowed[slot];
}

/* Gives values of classes with equal sets one class. No reader may use older sets. */
static void
bit_vector_unite(struct bit_vector_writer *writer, uint32_t chunk)
{
	struct bit_vector_side *side = &writer->sides[chunk];

	memset(side->allowed, 0xff, side->class_count * sizeof(*side->allowed));
	for (uint32_t class = 0; class < side->class_count; class++) {
		if (side->sizes[class] == 0)
			continue;
		side->divided[class] = bit_vector_same(writer, chunk, class);
		if (side->divided[class] == class)
			continue;
		side->sizes[side->divided[class]] += side->sizes[class];
		side->sizes[class] = 0;
		side->live--;
	}
	for (uint32_t value = 0; value < side->value_count; value++)
		side->classes[value] = (uint16_t)side->divided[side->classes[value]];
	bit_vector_show(writer, chunk);
	/* Numbers at the end are given back, so that sets become fewer; others are used again by
	 * `bit_vector_unused`. */
	while (side->sizes[side->class_count - 1] == 0)
		side->class_count--;
	side->settled = side->live;
}

/* Unites classes where many may have become equal. */
static void
bit_vector_unite_all(struct bit_vector_writer *writer)
{
	int waited = 0;

	for (uint32_t chunk = 0; chunk < writer->vector->chunk_count; chunk++) {
		struct bit_vector_side *side = &writer->sides[chunk];

		/* Uniting looks at all classes and values: only when there may be twice as many classes as
		 * needed. */
		if (side->live <= 2 * side->settled + BIT_VECTOR_UNITE_LEAST && writer->ranking.count != 0)
			continue;
		if (!waited)
			memory_grace(writer->ruled.layout.memory);
		waited = 1;
		bit_vector_unite(writer, chunk);
	}
}

/* Publishing the sets is enough: no class leads to the rule any more. Uniting classes only saves memory. */
static enum table_status
bit_vector_withdraw(struct ruled *ruled, uint32_t number)
{
	struct bit_vector_writer *writer = bit_vector_of(ruled);
	const uint32_t place = ranking_place(&writer->ranking, &ruled->rules, rules_at(&ruled->rules, number));
	const struct bit_vector_array *old = writer->all;
	uint32_t class_counts[BIT_VECTOR_CHUNKS_MOST];
	struct bit_vector_array *new;

	for (uint32_t chunk = 0; chunk < writer->vector->chunk_count; chunk++)
		class_counts[chunk] = writer->sides[chunk].class_count;
	ranking_remove(&writer->ranking, &ruled->rules, number);
	new = bit_vector_array_create(writer, class_counts, writer->ranking.count);
	if (new == NULL) {
		ranking_insert(&writer->ranking, &ruled->rules, number);	/* there was room for it before */
		return TABLE_NO_MEMORY;
	}
	for (uint32_t chunk = 0; chunk < writer->vector->chunk_count; chunk++)
		for (uint32_t class = 0; class < class_counts[chunk]; class++)
			bit_vector_narrow(new->sets[chunk] + class * new->words, new->words, old->sets[chunk] + class * old->words, old->words, place);
	bit_vector_publish_array(writer, class_counts, new);
	bit_vector_unite_all(writer);
	return TABLE_OK;
}

static void
bit_vector_change(struct ruled *ruled, uint32_t number)
{
	struct bit_vector_writer *writer = bit_vector_of(ruled);
	const struct rule *rule = rules_at(&ruled->rules, number);
	const uint32_t place = ranking_place(&writer->ranking, &ruled->rules, rule);
	struct bit_vector_array *shown = writer->vector->array;

	__atomic_store_n(&writer->all->records[place], rule->record, __ATOMIC_RELEASE);
	if (place < 64 * shown->words)
		__atomic_store_n(&shown->records[place], rule->record, __ATOMIC_RELEASE);
}

static uint32_t
bit_vector_lookup(const struct layout *layout, const uint64_t *key)
{
	const struct bit_vector *vector = bit_vector_of(ruled_of(layout))->vector;

	return bit_vector_find(vector, bit_vector_address(vector, 0), 0, key, layout->limbs);
}

static void
bit_vector_destroy(struct layout *layout)
{
	struct bit_vector_writer *writer = bit_vector_of(ruled_of(layout));
	struct memory *memory = layout->memory;

	for (uint32_t chunk = 0; chunk < writer->vector->chunk_count; chunk++) {
		const struct bit_vector_side *side = &writer->sides[chunk];

		memory_release(memory, side->classes, side->value_count * sizeof(*side->classes));
		for (uint32_t i = 0; i < 2; i++)
			memory_release(memory, side->indexes[i], bit_vector_index_bytes(side));
		memory_release(memory, side->sizes, side->value_count * sizeof(*side->sizes));
		memory_release(memory, side->allowed, side->value_count * sizeof(*side->allowed));
		memory_release(memory, side->divided, side->value_count * sizeof(*side->divided));
	}
	if (writer->all != NULL && writer->all != writer->vector->array)
		memory_release(memory, writer->all, writer->all->bytes);
	if (writer->vector->array != NULL)
		memory_release(memory, writer->vector->array, writer->vector->array->bytes);
	ranking_destroy(&writer->ranking, memory);
	ruled_destroy(&writer->ruled);
}

static const struct layout_functions bit_vector_layout = RULED_LAYOUT(bit_vector_lookup, bit_vector_destroy, .compact = NULL);
static const struct ruled_structure bit_vector_structure = {
	bit_vector_publish, bit_vector_withdraw, bit_vector_change, sizeof(struct bit_vector_writer), sizeof(struct bit_vector),
};

/* One more chunk, all of whose values are in class 0. 0: no memory. */
static int
bit_vector_add_chunk(struct bit_vector_writer *writer, const struct chunk_cut *cut)
{
	struct memory *memory = writer->ruled.layout.memory;
	const uint32_t chunk = writer->vector->chunk_count;
	struct bit_vector_side *side = &writer->sides[chunk];

	*side = (struct bit_vector_side){ .class_count = 1, .live = 1, .settled = 1, .value_count = 1u << cut->width, .range = cut->range };
	/* Class 0 for all values: without rules, all values are alike. */
	writer->vector->chunks[chunk].bits = chunk_at(cut->position, cut->width, writer->ruled.layout.limbs);
	side->classes = memory_allocate(memory, side->value_count * sizeof(*side->classes));
	for (uint32_t i = 0; i < 2; i++)
		side->indexes[i] = memory_allocate(memory, bit_vector_index_bytes(side));
	side->sizes = memory_allocate(memory, side->value_count * sizeof(*side->sizes));
	side->allowed = memory_allocate(memory, side->value_count * sizeof(*side->allowed));
	side->divided = memory_allocate(memory, side->value_count * sizeof(*side->divided));
	writer->vector->chunk_count++;
	if (side->classes == NULL || side->indexes[0] == NULL || side->indexes[1] == NULL || side->sizes == NULL || side->allowed == NULL || side->divided == NULL)
		return 0;
	side->sizes[0] = side->value_count;
	bit_vector_show(writer, chunk);
	return 1;
}

/* 0: a range too wide, a key too wide, or no memory. */
static int
bit_vector_cut(struct bit_vector_writer *writer, const struct layout_request *request)
{
	const struct table_descriptor *descriptor = request->descriptor;
	struct chunk_cut cuts[BIT_VECTOR_CHUNKS_MOST];
	const uint32_t count = chunks_cut(request, cuts, BIT_VECTOR_CHUNKS_MOST);
	int added = count <= BIT_VECTOR_CHUNKS_MOST;

	for (uint32_t i = 0; i < descriptor->field_count; i++)
		if (descriptor->fields[i].kind == MATCH_RANGE && descriptor->fields[i].width > CHUNK_BITS)
			return 0;
	for (uint32_t i = 0; i < count && added; i++)
		added = bit_vector_add_chunk(writer, &cuts[i]);
	return added && (count != 0 || bit_vector_add_chunk(writer, &(const struct chunk_cut){ .width = 0 }));
}

struct layout *
bit_vector_create(const struct layout_request *request)
{
	struct bit_vector_writer *writer = bit_vector_of(ruled_create(request, &bit_vector_layout, &bit_vector_structure, 3));
	uint32_t class_counts[BIT_VECTOR_CHUNKS_MOST];

	if (writer == NULL)
		return NULL;
	for (uint32_t chunk = 0; chunk < BIT_VECTOR_CHUNKS_MOST; chunk++)
		class_counts[chunk] = 1;
	writer->vector = (void *)writer->ruled.layout.table;
	if (bit_vector_cut(writer, request))
		writer->vector->array = writer->all = bit_vector_array_create(writer, class_counts, 0);
	if (writer->vector->array == NULL) {
		bit_vector_destroy(&writer->ruled.layout);
		return NULL;
	}
	return &writer->ruled.layout;
}
