/* ndn with names of 16 bytes: what a key of half the size gains. */
#define NAME_BYTES 16
#include "ndn.p4"
