//! The text and the rules of schedules; docs/schedule.md is right.

mod page;
mod rules;
mod text;
