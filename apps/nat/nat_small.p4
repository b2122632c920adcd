/* nat with room for two mappings: what happens when the tables are full. */
#define MAPPINGS 2
#include "nat.p4"
