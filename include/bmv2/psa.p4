// The name under which programs written for BMv2's psa_switch include the architecture.
#include "../psa.p4"
