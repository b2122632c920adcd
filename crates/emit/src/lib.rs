//! HLIR and a plan to C.
