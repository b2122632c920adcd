/* Links of dir24_8.h: a hash table by the first bits of keys, for entries without room for a group's number.
 *
 * A link stays when its group is retired, since a reader may have seen the entry before. It disappears when
 * all links are copied to another array, after every reader that can have seen such an entry. */
#include "table/dir24_8_writer.h"

#define DIR24_8_LINKS_LEAST 6u	/* bits of a slot's number */

static uint64_t
dir24_8_links_bytes(uint32_t bits)
{
	return sizeof(struct dir24_8_links) + ((uint64_t)sizeof(uint64_t) << bits);
}

static uint32_t
dir24_8_links_bits(const struct dir24_8_links *links)
{
	return 32 - links->shift;
}

/* The slot of the link for an entry, or the free one for it. There is always a free one: at most half of the
 * slots are used. */
static uint64_t *
dir24_8_link_at(struct dir24_8_links *links, uint64_t at)
{
	uint32_t place = dir24_8_link_place(links, at);

	while (links->slots[place] != 0 && links->slots[place] >> 32 != at + 1)
		place = (place + 1) & links->mask;
	return &links->slots[place];
}

enum table_status
dir24_8_links_ready(struct dir24_8_writer *writer)
{
	struct memory *memory = writer->layout.memory;
	struct dir24_8 *dir = writer->dir;
	struct dir24_8_links *old = dir->links, *links;
	uint32_t bits = DIR24_8_LINKS_LEAST, count = 0;

	if (old != NULL && 2 * (uint64_t)writer->link_count < old->mask)
		return TABLE_OK;
	/* A quarter full after copying, so that as many can be added. */
	while (4 * ((uint64_t)writer->group_count + 1) > (uint64_t)1 << bits)
		bits++;
	links = memory_allocate(memory, dir24_8_links_bytes(bits));
	if (links == NULL)
		return TABLE_NO_MEMORY;
	links->shift = 32 - bits;
	links->mask = (uint32_t)(((uint64_t)1 << bits) - 1);
	/* No reader may still have an entry of one byte from before its group was united: it would search the
	 * new table for a link that is not copied, and never end. */
	if (old != NULL)
		memory_grace(memory);
	for (uint64_t place = 0; old != NULL && place <= old->mask; place++) {
		const uint64_t slot = old->slots[place], at = (slot >> 32) - 1;

		if (slot == 0 || ((const uint8_t *)dir->first)[at] != DIR24_8_U8_GROUP)
			continue;
		*dir24_8_link_at(links, at) = slot;
		count++;
	}
	writer->link_count = count;
	__atomic_store_n(&dir->links, links, __ATOMIC_RELEASE);
	if (old != NULL)
		memory_retire(memory, old, dir24_8_links_bytes(dir24_8_links_bits(old)));
	return TABLE_OK;
}

/* A link of this entry may be there from an earlier group: it gets the new one's number by one store. */
void
dir24_8_link(struct dir24_8_writer *writer, uint64_t at, uint32_t group)
{
	uint64_t *slot = dir24_8_link_at(writer->dir->links, at);

	writer->link_count += *slot == 0;
	__atomic_store_n(slot, (at + 1) << 32 | group, __ATOMIC_RELEASE);
}

void
dir24_8_links_destroy(struct dir24_8_writer *writer)
{
	struct dir24_8_links *links = writer->dir->links;

	if (links != NULL)
		memory_release(writer->layout.memory, links, dir24_8_links_bytes(dir24_8_links_bits(links)));
}
