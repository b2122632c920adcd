//! The text and the rules of schedules, and their first stages as vector code; docs/schedule.md is right.

mod accesses;
mod ends;
mod page;
mod router;
mod rules;
mod side_exits;
mod text;
mod vector;
mod vector_state;
