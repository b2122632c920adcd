//! The lines of a schedule in the order of its text: each value once, before the first line that needs it.

use crate::value::{Operation, Value};
use crate::{Commit, Schedule};
use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Constants, too: the text has them within other lines.
    Value(Value),
    /// A side exit, by its number in the stage.
    Exit(usize),
    /// The values that commit takes from the stage.
    Keep,
    /// A lookup, by its number in the schedule.
    Lookup(usize),
    /// A lookup of a commit phase, by its number there.
    Late(usize),
    /// The side exits of a commit phase.
    Leave,
    Missed,
    /// An effect, by its number in the commit phase.
    Effect(usize),
}

/// A part of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Stage(usize),
    Commit,
    /// Commit of packets that run the expected actions.
    Expected,
}

/// The lines of a part.
pub struct Section {
    pub part: Part,
    pub lines: Vec<Line>,
}

impl Schedule {
    /// The commit phase of a part, if it is one.
    pub(crate) fn commit_of(&self, part: Part) -> Option<&Commit> {
        match part {
            Part::Stage(_) => None,
            Part::Commit => self.commit.as_ref().ok(),
            Part::Expected => self.expected.as_ref(),
        }
    }
}

pub fn sections(schedule: &Schedule) -> Vec<Section> {
    let (done, made) = (HashSet::new(), HashSet::new());
    let mut walk = Walk { schedule, done, made, lines: Vec::new() };
    let mut sections = Vec::new();
    for (number, stage) in schedule.stages.iter().enumerate() {
        for (exit, taken) in stage.exits.iter().enumerate() {
            walk.result(&[taken.when], Line::Exit(exit));
        }
        if !stage.reads.is_empty() {
            walk.result(&stage.reads, Line::Keep);
        }
        for (lookup, made) in schedule.lookups.iter().enumerate() {
            if made.stage == Some(number) {
                walk.result(&made.key, Line::Lookup(lookup));
            }
        }
        if number + 1 == schedule.stages.len() {
            walk.unused_lookups();
        }
        sections.push(Section { part: Part::Stage(number), lines: std::mem::take(&mut walk.lines) });
    }
    for part in [Part::Commit, Part::Expected] {
        let Some(commit) = schedule.commit_of(part) else { continue };
        walk.commit(commit);
        sections.push(Section { part, lines: std::mem::take(&mut walk.lines) });
    }
    sections
}

struct Walk<'s> {
    schedule: &'s Schedule,
    /// Values that have a line, or will have one before the current line.
    done: HashSet<Value>,
    /// Lookups that a stage makes at once and that have a line.
    made: HashSet<usize>,
    lines: Vec<Line>,
}

/// What is left to do for a value.
enum Step {
    Need(Value),
    Write(Value),
    WriteLookup(usize),
}

impl Walk<'_> {
    fn commit(&mut self, commit: &Commit) {
        for (number, lookup) in commit.lookups.iter().enumerate() {
            let needed: Vec<Value> = lookup.key.iter().copied().chain([lookup.when]).collect();
            self.result(&needed, Line::Late(number));
        }
        if self.schedule.values.holds(commit.exits) != Some(false) {
            self.result(&[commit.exits], Line::Leave);
        }
        if commit.missed.is_some() {
            self.lines.push(Line::Missed);
        }
        for (number, effect) in commit.effects.iter().enumerate() {
            self.result(&effect.operands(), Line::Effect(number));
        }
    }

    fn result(&mut self, needed: &[Value], line: Line) {
        needed.iter().for_each(|value| self.need(Step::Need(*value)));
        self.lines.push(line);
    }

    fn need(&mut self, first: Step) {
        let values = &self.schedule.values;
        let mut left = vec![first];
        while let Some(step) = left.pop() {
            match step {
                Step::Write(value) => self.lines.push(Line::Value(value)),
                Step::WriteLookup(lookup) => self.lines.push(Line::Lookup(lookup)),
                Step::Need(value) => {
                    if !self.done.insert(value) {
                        continue;
                    }
                    left.push(Step::Write(value));
                    let lookup = self.at_once(values.of(value));
                    left.extend(lookup.map(Step::WriteLookup));
                    let key = lookup.map_or(&[][..], |lookup| &self.schedule.lookups[lookup].key);
                    let operands = values.of(value).operands();
                    left.extend(operands.iter().chain(key).rev().map(|operand| Step::Need(*operand)));
                }
            }
        }
    }

    /// The lookup whose result a value is, if a stage makes it at once and it has no line yet.
    fn at_once(&mut self, operation: &Operation) -> Option<usize> {
        let Operation::Lookup { node, .. } = operation else { return None };
        let lookups = &self.schedule.lookups;
        let lookup = lookups.iter().position(|lookup| lookup.node == *node && lookup.stage.is_none())?;
        self.made.insert(lookup).then_some(lookup)
    }

    /// Lookups that a stage makes at once though nothing needs their results.
    fn unused_lookups(&mut self) {
        for (lookup, made) in self.schedule.lookups.iter().enumerate() {
            if made.stage.is_none() && self.made.insert(lookup) {
                self.result(&made.key, Line::Lookup(lookup));
            }
        }
    }
}
