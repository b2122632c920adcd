//! HLIR to HLIR and a plan: the optimizer.
