/* Runs one test alone: that which -DALONE names. */
#include "test.h"

unsigned test_failures;

int
main(void)
{
	ALONE();
	puts(test_failures == 0 ? "ok" : "FAILED");
	return test_failures != 0;
}
