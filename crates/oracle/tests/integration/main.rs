//! The oracle as `make oracle` and `make mutations` use it.

mod mutations;
mod schedules;
mod seeds;
