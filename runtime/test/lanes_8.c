/* Eight packets side by side. */
#define LANES 8u

#include "lanes_cases.h"

void
test_lanes_8(void)
{
	lanes_check();
}
