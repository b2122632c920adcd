//! Reads plans. Names are taken as they are; whether the program has them is checked by the verifier.

use super::Reader;
use super::cursor::Read;
use crate::Plan;
use crate::plan::{
    Access, Alternative, Choice, Expectation, HotPath, JoinChoice, JoinKind, JointTables, Loop, Prefetch, Queue,
    Reason, StageLookup, StagedPath, TablePlan,
};
use crate::text::choice::choice;
use crate::text::lex::TokenKind;
use crate::text::words::{ACCESS_MODES, DESCRIPTORS, HINTS, INTERLEAVED, PLACEMENTS, STRUCTURES};
use crate::verify::Site;
use std::collections::BTreeMap;

/// Parts of which a plan has one.
const SINGLE: [(&str, Site); 4] = [
    ("descriptor", Site::Descriptor),
    ("burst", Site::Burst),
    ("hot_path", Site::HotPath),
    ("accesses", Site::Accesses),
];

/// The words that parts of a plan begin with.
const MEMBERS: [&str; 13] = [
    "descriptor",
    "burst",
    "hot_path",
    "accesses",
    "loop",
    "next_path",
    "table",
    "joint",
    "join",
    "never",
    "queue",
    "expect",
    "instrument",
];

impl Reader {
    pub(super) fn plan(&mut self) -> Read<()> {
        self.no_notes()?;
        let start = self.at;
        self.advance();
        self.places.set(Site::Plan, self.since(start));
        if self.plan.is_some() {
            return Err(self.fail("no second plan"));
        }
        self.expect("{")?;
        let mut plan = Plan::default();
        self.members(|reader| reader.plan_member(&mut plan))?;
        self.plan = Some(plan);
        Ok(())
    }

    fn plan_member(&mut self, plan: &mut Plan) -> Read<()> {
        let start = self.at;
        let word = self.word().unwrap_or("").to_string();
        if !MEMBERS.contains(&word.as_str()) {
            let words: Vec<String> = MEMBERS.iter().map(|word| format!("`{word}`")).collect();
            let (last, others) = words.split_last().expect("a plan has parts");
            return Err(self.fail(&format!("{} or {last}", others.join(", "))));
        }
        if let Some((_, site)) = SINGLE.iter().find(|(single, _)| *single == word) {
            return self.plan_single(plan, &word, *site);
        }
        self.advance();
        match word.as_str() {
            "loop" => {
                let value = self.plan_loop(plan.loops.len() as u32)?;
                self.places.set(Site::Loop(plan.loops.len() as u32), self.head_since(start));
                plan.loops.push(value);
            }
            "next_path" => {
                let next = self.next_path()?;
                self.places.set(Site::NextPath(plan.next_paths.len() as u32), self.head_since(start));
                plan.next_paths.push(next);
            }
            "table" => {
                let table = self.name("a table")?;
                self.expect(":")?;
                let structure = self.one_of(STRUCTURES)?;
                let reason = self.reason()?;
                self.places.set(Site::TablePlan(plan.tables.len() as u32), self.head_since(start));
                plan.tables.push(TablePlan { table, structure, reason });
            }
            "joint" => {
                let share = self.share()?;
                self.places.set(Site::Joint(plan.joints.len() as u32), self.head_since(start));
                plan.joints.push(share);
            }
            "join" | "never" => {
                let join = self.join_choice(&word)?;
                self.places.set(Site::JoinChoice(plan.joins.len() as u32), self.head_since(start));
                plan.joins.push(join);
            }
            "queue" => {
                let queue = self.queue()?;
                self.places.set(Site::Queue(plan.queues.len() as u32), self.head_since(start));
                plan.queues.push(queue);
            }
            "expect" => {
                let expectation = self.expectation()?;
                self.places.set(Site::Expectation(plan.expectations.len() as u32), self.head_since(start));
                plan.expectations.push(expectation);
            }
            _ => {
                self.instrument(plan)?;
                self.places.set(Site::Instrument, self.head_since(start));
            }
        }
        Ok(())
    }

    /// What a plan has once: of two, one would be lost without a message.
    fn plan_single(&mut self, plan: &mut Plan, word: &str, site: Site) -> Read<()> {
        if self.places.has(site) {
            return Err(self.fail(&format!("no second `{word}`")));
        }
        let start = self.at;
        self.advance();
        match word {
            "descriptor" => plan.descriptor = self.one_of(DESCRIPTORS)?,
            "burst" => plan.burst = self.number("a number of packets")?,
            "accesses" => plan.accesses = Some(self.one_of(ACCESS_MODES)?),
            _ => plan.hot_path = Some(self.path()?),
        }
        self.places.set(site, self.head_since(start));
        Ok(())
    }

    fn path(&mut self) -> Read<HotPath> {
        let mut actions = BTreeMap::new();
        let mut place = 0;
        self.expect("{")?;
        let nodes = self.list("}", |reader| {
            let node = reader.name("a node")?;
            if reader.eat_word("runs") {
                actions.insert(place, reader.name("an action")?);
            }
            place += 1;
            Ok(node)
        })?;
        Ok(HotPath { nodes: nodes.into(), actions: actions.into(), reason: self.reason()? })
    }

    /// What follows `next_path`. The parts of such a path have places of their own.
    fn next_path(&mut self) -> Read<StagedPath> {
        let plan = std::mem::take(&mut self.places);
        let next = self.staged_path();
        let own = std::mem::replace(&mut self.places, plan);
        self.places.add_next_path(own);
        next
    }

    fn staged_path(&mut self) -> Read<StagedPath> {
        let start = self.at;
        let path = self.path()?;
        self.places.set(Site::HotPath, self.head_since(start));
        let mut loops = Vec::new();
        if self.eat("{") {
            self.members(|reader| {
                let start = reader.at;
                reader.expect_word("loop")?;
                let value = reader.plan_loop(loops.len() as u32)?;
                reader.places.set(Site::Loop(loops.len() as u32), reader.head_since(start));
                loops.push(value);
                Ok(())
            })?;
        }
        Ok(StagedPath { path, loops })
    }

    fn plan_loop(&mut self, number: u32) -> Read<Loop> {
        let node = self.name("a node")?;
        self.expect(":")?;
        self.expect_word("batch")?;
        let batch = self.number("a number of packets")?;
        self.expect_word("group")?;
        let group = self.number("a number of packets")?;
        let vector = if self.eat_word("vector") { self.number("a number of packets")? } else { 1 };
        let reason = self.reason()?;
        let (mut lookups, mut prefetches) = (Vec::new(), Vec::new());
        if self.eat("{") {
            self.members(|reader| {
                let start = reader.at;
                if reader.eat_word("lookup") {
                    let table = reader.name("a table")?;
                    let lookup = StageLookup { table, reason: reader.reason()? };
                    reader.places.set(Site::Lookup(number, lookups.len() as u32), reader.since(start));
                    lookups.push(lookup);
                    return Ok(());
                }
                let request = reader.request()?;
                reader.places.set(Site::Prefetch(number, prefetches.len() as u32), reader.since(start));
                prefetches.push(request);
                Ok(())
            })?;
        }
        Ok(Loop { node, batch, group, vector, lookups, prefetches, reason })
    }

    fn request(&mut self) -> Read<Prefetch> {
        if !self.eat_word("prefetch") {
            return Err(self.fail("`lookup` or `prefetch`"));
        }
        let access = if self.eat_word("packet") {
            Access::Packet
        } else if self.eat_word("table") {
            Access::Table(self.name("a table")?)
        } else {
            return Err(self.fail("`packet` or `table NAME`"));
        };
        self.expect_word("ahead")?;
        let distance = self.number("a distance")?;
        let placement = if self.eat_word("interleaved") {
            self.one_of(INTERLEAVED)?
        } else if self.eat_word("in") {
            self.one_of(PLACEMENTS)?
        } else {
            return Err(self.fail("`in` or `interleaved`"));
        };
        self.expect_word("to")?;
        let hint = self.one_of(HINTS)?;
        Ok(Prefetch { access, placement, distance, hint, reason: self.reason()? })
    }

    fn share(&mut self) -> Read<JointTables> {
        let table = self.name("a table")?;
        self.expect_word("with")?;
        let primary = self.name("a table")?;
        self.expect_word("bits")?;
        let bits = self.number("a number of bits")?;
        Ok(JointTables { secondary: table, primary, bits, reason: self.reason()? })
    }

    /// What follows `join`, or `never`.
    fn join_choice(&mut self, word: &str) -> Read<JoinChoice> {
        let made = word == "join";
        if !made {
            self.expect_word("join")?;
        }
        let first = self.name("a table")?;
        self.expect_word("with")?;
        let second = self.name("a table")?;
        let kind = self.join_kind()?;
        Ok(JoinChoice { first, second, kind, made, reason: self.reason()? })
    }

    fn join_kind(&mut self) -> Read<JoinKind> {
        if !self.eat_word("by") {
            return Ok(JoinKind::Table);
        }
        self.expect_word("value")?;
        Ok(JoinKind::Value)
    }

    fn queue(&mut self) -> Read<Queue> {
        let node = self.name("a node")?;
        self.expect(":")?;
        self.expect_word("capacity")?;
        let capacity = self.number("a number of packets")?;
        self.expect_word("timeout")?;
        let timeout = self.number("a number of bursts")?;
        Ok(Queue { node, capacity, timeout, reason: self.reason()? })
    }

    /// What follows `expect`.
    fn expectation(&mut self) -> Read<Expectation> {
        if self.eat_word("pages") {
            return Ok(Expectation::Pages { bytes: self.number("a number of bytes")? });
        }
        if self.eat_word("hot_path") {
            self.expect_word("share")?;
            return Ok(Expectation::OnPath { tenths: self.tenths()? });
        }
        if !self.eat_word("table") {
            return Err(self.fail("`table`, `hot_path` or `pages`"));
        }
        let table = self.name("a table")?;
        if self.eat_word("hits") {
            return Ok(Expectation::Hits { table, tenths: self.tenths()? });
        }
        if !self.eat_word("entries") {
            return Err(self.fail("`entries` or `hits`"));
        }
        let least = self.number("a number of entries")?;
        self.expect_word("to")?;
        Ok(Expectation::Entries { table, least, most: self.number("a number of entries")? })
    }

    fn instrument(&mut self, plan: &mut Plan) -> Read<()> {
        self.expect_word("edges")?;
        plan.instrument.edges = true;
        Ok(())
    }

    /// `because 12.3 against trie 20.0, list 45.0`
    fn reason(&mut self) -> Read<Option<Reason>> {
        if !self.eat_word("because") {
            return Ok(None);
        }
        let cost = self.tenths()?;
        let mut alternatives = Vec::new();
        if self.eat_word("against") {
            loop {
                alternatives.push(Alternative { choice: self.alternative()?, cost: self.tenths()? });
                if !self.eat(",") {
                    break;
                }
            }
        }
        Ok(Some(Reason { cost, alternatives }))
    }

    fn alternative(&mut self) -> Read<Choice> {
        let what = "an alternative";
        let known = self.peek().kind.name().and_then(choice);
        let Some(choice) = known else {
            let hint = "it is a word of the plan, as `list`, `own_loop`, `group_32`, `with_NODE` or `packet_by_packet`";
            return Err(self.fail_with_hint(what, hint));
        };
        self.advance();
        Ok(choice)
    }

    fn tenths(&mut self) -> Read<u64> {
        let TokenKind::Tenths(tenths) = self.peek().kind else {
            return Err(self.fail_with_hint("a cost", "costs are written with one digit behind the point: 12.0"));
        };
        self.advance();
        Ok(tenths)
    }
}
