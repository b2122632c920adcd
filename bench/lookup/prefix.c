#include "lookup.h"
void bench_prefix(void) {}
