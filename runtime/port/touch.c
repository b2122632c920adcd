/* The loader maps an object, and the kernel brings its pages when they are first used: in the middle of a burst, unless another thread was there
 * before. All threads of a process have the same page tables. */
#define _GNU_SOURCE
#include "port/touch.h"

#include <link.h>
#include <stdint.h>

#define TOUCH_PAGE 4096u

static int
touch_has(const struct dl_phdr_info *object, uintptr_t address)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz)
			return 1;
	}
	return 0;
}

struct touched {
	uintptr_t address;
	const void *code;
	size_t bytes;
};

static int
touch_parts(struct dl_phdr_info *object, size_t bytes, void *given)
{
	struct touched *touched = given;

	(void)bytes;
	if (!touch_has(object, touched->address))
		return 0;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		const uintptr_t from = object->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || (part->p_flags & PF_R) == 0 || part->p_memsz == 0)
			continue;
		for (uintptr_t at = from & ~(uintptr_t)(TOUCH_PAGE - 1); at < from + part->p_memsz; at += TOUCH_PAGE)
			(void)*(const volatile uint8_t *)at;
		if ((part->p_flags & PF_X) != 0) {
			touched->code = (const void *)from;
			touched->bytes = part->p_memsz;
		}
	}
	return 1;
}

void
touch_object(const void *address)
{
	struct touched touched = { .address = (uintptr_t)address };

	(void)dl_iterate_phdr(touch_parts, &touched);
}

const void *
touch_code(const void *address, size_t *bytes)
{
	struct touched touched = { .address = (uintptr_t)address };

	(void)dl_iterate_phdr(touch_parts, &touched);
	*bytes = touched.bytes;
	return touched.code;
}
