/* What p4c's extern_modules/extern-funcs-bmv2.cpp is to BMv2: the extern of extern-funcs-bmv2.p4. */
#include <stdint.h>

void
extern_func(uint64_t *d, uint64_t s)
{
	*d = s;
}
