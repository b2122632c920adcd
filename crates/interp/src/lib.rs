//! What HLIR means: the oracle that every generated switch is compared with.
