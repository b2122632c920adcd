/* Sixteen packets side by side. */
#define LANES 16u

#include "lanes_cases.h"

void
test_lanes_16(void)
{
	lanes_check();
}
