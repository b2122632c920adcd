/* The externs of parts.p4. */
#include <stdint.h>
#include <stdlib.h>

struct Adder {
	uint64_t start;
	uint64_t kind;
	uint64_t flag;
};

struct Adder *
Adder_new(uint64_t start, uint64_t kind, uint64_t flag)
{
	struct Adder *adder = malloc(sizeof(*adder));

	*adder = (struct Adder){ start, kind, flag };
	return adder;
}

void
Adder_delete(struct Adder *adder)
{
	free(adder);
}

void
Adder_add_1(struct Adder *adder, uint64_t by_x, uint64_t by_y, uint64_t *x, uint64_t *y)
{
	adder->start++;
	*x = by_x + adder->start;
	*y = by_y + adder->kind;
}

void
Adder_swap(struct Adder *adder, uint64_t *x, uint64_t *y, uint64_t more)
{
	const uint64_t before = *x;

	*x = *y + more + adder->start;
	*y = before;
}

/* What is beyond the width of b and c is cut off. */
void
Adder_add_2(struct Adder *adder, uint64_t by_a, uint64_t by_b, uint64_t by_c, uint64_t *a, uint64_t *b, uint64_t *c)
{
	*a = by_a + adder->flag;
	*b = by_b + 0xffffffff000000;
	*c = ~by_c;
}

uint64_t
twice_1(uint64_t x)
{
	return 2 * x;
}

uint64_t
twice_2(uint64_t x, uint64_t y)
{
	return 2 * x + y;
}
