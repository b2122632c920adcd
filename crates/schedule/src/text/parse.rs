//! Reads schedules. A line that cannot be read is reported, and reading goes on at the next one.

use super::cursor::{Cursor, Failed, Read};
use super::names::{find, find_field};
use super::order::Part;
use super::places::{Places, Site};
use crate::value::Value;
use crate::values::Values;
use crate::verify::Rule;
use crate::{BulkDrop, Commit, CounterIndex, Does, Effect, LateLookup, Lookup, Obstacle, Schedule, SideExit, Stage};
use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use hlir::text::{TokenKind, lex};
use hlir::{CounterId, HeaderId, Program};
use std::collections::{BTreeMap, HashMap};

/// A schedule that was read, and the places of its parts.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub schedule: Schedule,
    pub places: Places,
}

/// Reads a schedule of a program. Whether it keeps the rules of schedules is for [`crate::verify::verify`] to find.
pub fn parse(program: &Program, text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let tokens = lex(text, &mut errors);
    let (places, values, named) = (Places::default(), Values::default(), HashMap::new());
    let mut cursor = Cursor { program, tokens, at: 0, errors, places, values, named };
    let no = cursor.values.bool(false);
    let (headers, stages, lookups, commits) = (BTreeMap::new(), Vec::new(), Vec::new(), Vec::new());
    let mut reader = Reader { cursor, headers, stages, lookups, commits, unscheduled: None, no };
    // What is wrong has been noted.
    let _ = reader.schedule();
    let Reader { cursor, headers, stages, mut lookups, commits, unscheduled, .. } = reader;
    let Cursor { errors, places, values, .. } = cursor;
    let mut commits = commits.into_iter();
    let commit = unscheduled.map(Err).or_else(|| commits.next().map(Ok));
    let (Some(commit), expected, true) = (commit, commits.next(), errors.is_empty()) else {
        return Err(errors);
    };
    lookups.sort_by_key(|lookup| lookup.place);
    Ok(Parsed { schedule: Schedule { values, headers, stages, lookups, commit, expected }, places })
}

struct Reader<'p> {
    cursor: Cursor<'p>,
    headers: BTreeMap<HeaderId, u32>,
    stages: Vec<Stage>,
    lookups: Vec<Lookup>,
    /// The commit phase, and that of packets that run the expected actions.
    commits: Vec<Commit>,
    /// Why there is none.
    unscheduled: Option<Obstacle>,
    no: Value,
}

impl Reader<'_> {
    fn schedule(&mut self) -> Read<()> {
        let it = &mut self.cursor;
        it.expect_word("schedule")?;
        let span = it.span();
        let name = it.take().kind.name().map(str::to_string);
        if name.as_ref() != Some(&it.program.name) {
            let expected = format!("expected a schedule of the program `{}`", it.program.name);
            return it.error(Diagnostic::error(expected).label(span, "here"));
        }
        it.expect_symbol("{")?;
        while self.cursor.is_word("header") {
            self.header()?;
        }
        while self.cursor.is_word("stage") {
            self.stage()?;
        }
        let start = self.cursor.span();
        self.cursor.expect_word("commit")?;
        if self.cursor.word("plain") {
            self.plain_commit(start)?;
        } else {
            self.commit(Part::Commit, start)?;
        }
        let start = self.cursor.span();
        if self.unscheduled.is_none() && self.cursor.word("commit") {
            self.cursor.expect_word("expected")?;
            self.commit(Part::Expected, start)?;
        }
        self.cursor.expect_symbol("}")?;
        if self.cursor.is_end() { Ok(()) } else { self.cursor.fail("the end of the text") }
    }

    fn header(&mut self) -> Read<()> {
        let it = &mut self.cursor;
        it.expect_word("header")?;
        let header = it.object("a header", |program, token| find(&program.headers, token, |header| &header.name))?;
        it.expect_word("at")?;
        let start = it.number("its first byte")?;
        self.headers.insert(header, start);
        Ok(())
    }

    fn stage(&mut self) -> Read<()> {
        let it = &mut self.cursor;
        let start = it.span();
        it.expect_word("stage")?;
        let at = it.span();
        let number: usize = it.number("the number of the stage")?;
        if number != self.stages.len() {
            let error = Diagnostic::error(format!("expected stage {}", self.stages.len())).label(at, "here");
            return it.error(error.hint("stages are numbered from 0, in order"));
        }
        it.expect_symbol(",")?;
        let bytes = it.number("the bytes that a packet must have")?;
        it.expect_word("bytes")?;
        let end = it.tokens[it.at - 1].span;
        it.note(Site::Part(Part::Stage(number)), start.to(end));
        self.stages.push(Stage { bytes, exits: Vec::new(), reads: Vec::new() });
        self.lines(Reader::stage_line)
    }

    /// `plain at NODE "reason"`
    fn plain_commit(&mut self, start: Span) -> Read<()> {
        self.cursor.expect_word("at")?;
        let node = self.cursor.node()?;
        let does = self.reason()?.into();
        let span = self.cursor.end_line(start)?;
        self.cursor.note(Site::Part(Part::Commit), span);
        self.unscheduled = Some(Obstacle { node, does });
        Ok(())
    }

    fn commit(&mut self, part: Part, start: Span) -> Read<()> {
        self.cursor.note(Site::Part(part), start);
        self.commits.push(Commit { exits: self.no, lookups: Vec::new(), effects: Vec::new(), missed: None });
        self.lines(|it| it.commit_line(part))
    }

    /// The lines between braces.
    fn lines(&mut self, line: impl Fn(&mut Self) -> Read<()>) -> Read<()> {
        self.cursor.expect_symbol("{")?;
        while !self.cursor.symbol("}") {
            if self.cursor.is_end() {
                return self.cursor.fail("`}`");
            }
            let start = self.cursor.at;
            let read = if self.cursor.is_symbol("%") { self.value_line() } else { line(self) };
            if let Err(Failed) = read {
                self.cursor.skip_line(start);
            }
        }
        Ok(())
    }

    /// `%name = operation`
    fn value_line(&mut self) -> Read<()> {
        let it = &mut self.cursor;
        let start = it.span();
        let (name, is_named) = it.name_of_value()?;
        let named = start.to(it.tokens[it.at - 1].span);
        it.expect_symbol("=")?;
        let operation = it.operation();
        if it.named.contains_key(&name) {
            let error = Diagnostic::error(format!("`%{name}` has a line before")).label(named, "this one");
            return it.error(error.hint("each value has one line"));
        }
        // Lines that use a value that could not be read need not be reported, too.
        let value = match operation {
            Ok((operation, kind)) => it.values.add(operation, kind),
            Err(failed) => {
                let unknown = it.values.bool(false);
                it.named.insert(name, unknown);
                return Err(failed);
            }
        };
        let span = it.end_line(start)?;
        it.note(Site::Value(value), span);
        if is_named {
            it.values.call(value, || name.clone());
        }
        it.named.insert(name, value);
        Ok(())
    }

    fn stage_line(&mut self) -> Read<()> {
        let start = self.cursor.span();
        let stage = self.stages.len() - 1;
        if self.cursor.word("exit") {
            let it = &mut self.cursor;
            it.expect_word("when")?;
            let when = it.value()?;
            it.expect_word("at")?;
            let node = it.node()?;
            let end = if it.symbol("->") { Some(self.bulk_drop()?) } else { None };
            let span = self.cursor.end_line(start)?;
            let exits = &mut self.stages[stage].exits;
            self.cursor.note(Site::Exit(stage, exits.len()), span);
            exits.push(SideExit { when, node, end });
            return Ok(());
        }
        if self.cursor.word("keep") {
            let kept = self.cursor.list(Cursor::value)?;
            let span = self.cursor.end_line(start)?;
            self.cursor.note(Site::Keep(stage), span);
            self.stages[stage].reads.extend(kept);
            return Ok(());
        }
        if self.cursor.is_word("lookup") {
            return self.lookup(Some(stage));
        }
        self.cursor.fail("a value, `exit`, `keep` or `lookup`")
    }

    fn lookup(&mut self, stage: Option<usize>) -> Read<()> {
        let it = &mut self.cursor;
        let start = it.span();
        it.expect_word("lookup")?;
        let node = it.node()?;
        it.expect_word("in")?;
        let table = it.object("a table", |program, token| find(&program.tables, token, |table| &table.name))?;
        it.expect_symbol(",")?;
        it.expect_word("place")?;
        let place = it.number("its place on the path")?;
        it.expect_symbol(",")?;
        it.expect_word("key")?;
        let key = it.list(Cursor::value)?;
        let at_once = it.word("at");
        if at_once {
            it.expect_word("once")?;
        }
        let span = it.end_line(start)?;
        it.note(Site::Lookup(node), span);
        let stage = if at_once { None } else { stage };
        self.lookups.push(Lookup { place, node, table, key, stage });
        Ok(())
    }

    /// A lookup that commit makes, or one that a stage makes at once and commit alone needs.
    fn commit_lookup(&mut self, part: Part) -> Read<()> {
        let (start, before) = (self.cursor.span(), self.cursor.at);
        let it = &mut self.cursor;
        it.expect_word("lookup")?;
        let node = it.node()?;
        it.expect_word("in")?;
        let table = it.object("a table", |program, token| find(&program.tables, token, |table| &table.name))?;
        it.expect_symbol(",")?;
        if it.is_word("place") {
            it.at = before;
            return self.lookup(None);
        }
        it.expect_word("key")?;
        let key = it.list(Cursor::value)?;
        let when = if it.word("when") { it.value()? } else { it.values.bool(true) };
        let span = it.end_line(start)?;
        it.note(Site::Late(part, node), span);
        let commit = self.commits.last_mut().expect("a commit phase is read");
        commit.lookups.push(LateLookup { node, table, key, when });
        Ok(())
    }

    fn commit_line(&mut self, part: Part) -> Read<()> {
        let start = self.cursor.span();
        let now = self.commits.len() - 1;
        let is_first = self.cursor.is_word("exit") && self.cursor.next_token().word() == Some("when");
        let is_exit = is_first || self.cursor.is_word("missed");
        if is_exit && !self.commits[now].effects.is_empty() {
            let error = Diagnostic::error("a side exit behind an effect").kind(Rule::Order.name());
            let error = error.label(start, "packets that exit run the plain program, so nothing may have happened");
            return self.cursor.error(error.hint("write it before the first effect"));
        }
        if is_first {
            self.cursor.expect_word("exit")?;
            self.cursor.expect_word("when")?;
            self.commits[now].exits = self.cursor.value()?;
            let span = self.cursor.end_line(start)?;
            self.cursor.note(Site::Leave(part), span);
            return Ok(());
        }
        if self.cursor.word("missed") {
            self.cursor.expect_symbol("->")?;
            self.commits[now].missed = Some(self.bulk_drop()?);
            let span = self.cursor.end_line(start)?;
            self.cursor.note(Site::Missed(part), span);
            return Ok(());
        }
        if self.cursor.is_word("lookup") {
            return self.commit_lookup(part);
        }
        let does = self.does()?;
        let it = &mut self.cursor;
        it.expect_word("at")?;
        let node = it.node()?;
        let when = if it.word("when") { it.value()? } else { it.values.bool(true) };
        let span = it.end_line(start)?;
        let effects = &mut self.commits[now].effects;
        it.note(Site::Effect(part, effects.len()), span);
        effects.push(Effect { when, node, does });
        Ok(())
    }

    fn does(&mut self) -> Read<Does> {
        let it = &mut self.cursor;
        if it.word("store") {
            let field = it.object("a field", find_field)?;
            it.expect_word("at")?;
            let unit = if it.word("packet.bits") { 1 } else { it.expect_word("packet").map(|()| 8)? };
            let (first, end) = it.range("a byte or bit of the packet")?;
            it.expect_symbol("=")?;
            let at = it.span();
            let value = it.value_of(unit * (end - first))?;
            if it.values.width(value) != unit * (end - first) {
                let error = Diagnostic::error("the value is not as wide as the bits that it is stored to");
                return it.error(error.kind(Rule::Types.name()).label(at, "here"));
            }
            return Ok(Does::Store { bit: unit * first, value, field });
        }
        if it.word("begin") {
            return it.moved();
        }
        if it.word("count") {
            // A counter may have the name `direct`.
            if it.is_word("direct") && *it.next_token() != TokenKind::Symbol("(") {
                it.at += 1;
                let counter = self.counter()?;
                self.cursor.expect_word("of")?;
                return Ok(Does::CountDirect { counter, lookup: self.cursor.node()? });
            }
            let counter = self.counter()?;
            return Ok(Does::Count { counter, index: self.cursor.in_parentheses()? });
        }
        if let Some(does) = it.about_lookup()? {
            return Ok(does);
        }
        if it.word("exit") {
            return Ok(Does::Leave);
        }
        if it.word("drop") {
            return Ok(Does::Drop { reason: self.reason()? });
        }
        if it.word("send") {
            return Ok(Does::Send { port: it.value()? });
        }
        self.state_effect()
    }

    /// A digest, or a write to a register.
    fn state_effect(&mut self) -> Read<Does> {
        let it = &mut self.cursor;
        if it.word("digest") {
            let digest =
                it.object("a digest", |program, token| find(&program.digests, token, |digest| &digest.name))?;
            it.expect_symbol("(")?;
            let values = if it.is_symbol(")") { Vec::new() } else { it.list(Cursor::value)? };
            it.expect_symbol(")")?;
            return Ok(Does::Digest { digest, values });
        }
        if it.word("write") {
            let register =
                it.object("a register", |program, token| find(&program.registers, token, |register| &register.name))?;
            let index = it.in_parentheses()?;
            it.expect_symbol("=")?;
            return Ok(Does::Write { register, index, value: it.value()? });
        }
        it.fail("a value, `exit`, `missed` or an effect")
    }

    fn bulk_drop(&mut self) -> Read<BulkDrop> {
        self.cursor.expect_word("drop")?;
        let reason = self.reason()?;
        let mut counted: Vec<CounterIndex> = Vec::new();
        if self.cursor.word("counting") {
            loop {
                let counter = self.counter()?;
                self.cursor.expect_symbol("(")?;
                let index = self.cursor.number("an index")?;
                self.cursor.expect_symbol(")")?;
                counted.push(CounterIndex { counter, index });
                if !self.cursor.symbol(",") {
                    break;
                }
            }
        }
        Ok(BulkDrop { counted, reason })
    }

    fn reason(&mut self) -> Read<String> {
        let TokenKind::Text(reason) = self.cursor.token().clone() else {
            return self.cursor.fail("a reason in quotes");
        };
        self.cursor.at += 1;
        Ok(reason)
    }

    fn counter(&mut self) -> Read<CounterId> {
        self.cursor.object("a counter", |program, token| find(&program.counters, token, |counter| &counter.name))
    }
}

impl Cursor<'_> {
    /// `4 bytes earlier`, or `later`.
    fn moved(&mut self) -> Read<Does> {
        let bytes = i32::from(self.number::<u16>("a number of bytes")?);
        self.expect_word("bytes")?;
        if self.word("later") {
            return Ok(Does::Move { bytes: -bytes });
        }
        self.expect_word("earlier")?;
        Ok(Does::Move { bytes })
    }

    /// What happens to a lookup or the entry that it found, if the line is about that.
    fn about_lookup(&mut self) -> Read<Option<Does>> {
        if self.word("not") {
            self.expect_word("made")?;
            return Ok(Some(Does::NotMade { lookup: self.node()? }));
        }
        if self.word("miss") {
            return Ok(Some(Does::Miss { lookup: self.node()? }));
        }
        if self.word("touch") {
            return Ok(Some(Does::Touch { lookup: self.node()? }));
        }
        if self.word("restart") {
            let lookup = self.node()?;
            let expiry = if self.word("expire") { Some(self.value()?) } else { None };
            return Ok(Some(Does::Restart { lookup, expiry }));
        }
        if self.word("made") {
            return Ok(Some(Does::Made { lookup: self.node()? }));
        }
        Ok(None)
    }
}
