/* The positions of the numbers of chunks' values, and cuts of keys into chunks, so that no chunk has bits of two wide fields: their values would have as many
 * classes as those of both together. */
#include "table/chunk.h"

#include "table/layout.h"

uint64_t
chunk_index_bytes(uint32_t whole, uint32_t other)
{
	return sizeof(struct chunk_index) + ((uint64_t)whole * CHUNK_PAGE + other) * sizeof(uint16_t);
}

/* Whole pages get the first numbers, in their order; then the others. */
void
chunk_index_divide(struct chunk_index *index, const uint8_t *is_whole, uint32_t page_count)
{
	uint32_t whole = 0, other = 0;

	for (uint32_t page = 0; page < page_count; page++)
		whole += is_whole[page];
	index->whole = whole;
	whole = 0;
	for (uint32_t page = 0; page < page_count; page++) {
		const uint32_t at = is_whole[page] ? whole++ : index->whole + other++;

		index->pages[page] = (uint8_t)at;
		index->firsts[page] = (uint16_t)(is_whole[page] ? at * CHUNK_PAGE : index->whole * CHUNK_PAGE + at - index->whole);
		index->masks[page] = is_whole[page] ? CHUNK_PAGE - 1 : 0;
	}
}

struct chunk
chunk_at(uint32_t position, uint32_t width, uint32_t limbs)
{
	/* From one limb, if the chunk lies in one: a load over two limbs that were just written would wait
	 * for the stores to complete. */
	const uint32_t whole = position % 64 + width <= 64 ? position / 64 + 1 : limbs;
	const uint32_t last = 8 * whole - (uint32_t)sizeof(uint32_t), offset = position / 8 < last ? position / 8 : last;

	return (struct chunk){ .offset = offset, .shift = (uint16_t)(position - 8 * offset), .mask = (uint16_t)(((uint32_t)1 << width) - 1) };
}

/* What no chunk has two of, unless they are narrow; or only ranges are kept apart, and there are as few chunks as can be. */
enum chunk_division { CHUNK_BY_FIELDS, CHUNK_BY_RANGES };

/* The field that has a bit; a key without fields is one. Gaps between fields, and other fields where only ranges
 * are kept apart, count as one field. */
static struct key_field
chunk_field(const struct table_descriptor *descriptor, enum chunk_division division, uint32_t bit)
{
	uint32_t end = descriptor->key_bits;

	for (uint32_t i = 0; i < descriptor->field_count; i++) {
		const struct key_field *field = &descriptor->fields[i];

		if (division == CHUNK_BY_RANGES && field->kind != MATCH_RANGE)
			continue;
		if (bit >= field->shift && bit < field->shift + field->width)
			return *field;
		if (field->shift > bit && field->shift < end)
			end = field->shift;
	}
	return (struct key_field){ .shift = bit, .width = end - bit, .kind = MATCH_TERNARY };
}

/* Goes up from bit 0. `rest` makes the lowest chunk of a wide field the narrow one, so that the others end where
 * prefixes of 16, 32 .. bits do. The count goes on beyond `most`, for the caller to see. */
static uint32_t
chunks_divide(const struct table_descriptor *descriptor, enum chunk_division division, struct chunk_cut *cuts, uint32_t most)
{
	struct chunk_cut open = { .width = 0 };		/* narrow fields that another may join */
	uint32_t count = 0;

	for (uint32_t bit = 0; bit < descriptor->key_bits;) {
		const struct key_field field = chunk_field(descriptor, division, bit);
		const uint32_t range = field.kind == MATCH_RANGE, end = field.shift + field.width, rest = (end - bit) % CHUNK_BITS;
		struct chunk_cut cut = { .position = bit, .width = rest != 0 ? rest : CHUNK_BITS, .range = range };

		if (range && field.width > CHUNK_BITS) {
			bit = end;
			continue;
		}
		bit += cut.width;
		if (!range && field.width < CHUNK_BITS && open.width != 0 && open.position + open.width == cut.position &&
		    open.width + cut.width <= CHUNK_BITS) {
			open.width += cut.width;
			if (count <= most)
				cuts[count - 1] = open;
			continue;
		}
		open = range || field.width >= CHUNK_BITS ? (struct chunk_cut){ .width = 0 } : cut;
		if (count++ < most)
			cuts[count - 1] = cut;
	}
	return count;
}

uint32_t
chunks_cut(const struct layout_request *request, struct chunk_cut *cuts, uint32_t most)
{
	const uint32_t count = chunks_divide(request->descriptor, CHUNK_BY_FIELDS, cuts, most);

	return count <= most ? count : chunks_divide(request->descriptor, CHUNK_BY_RANGES, cuts, most);
}
