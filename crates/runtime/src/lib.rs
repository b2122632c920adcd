//! Loads pipelines; owns ports, table memory and state.
