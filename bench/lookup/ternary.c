#include "lookup.h"
void bench_ternary(void) {}
