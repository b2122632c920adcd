//! Random programs of lookups in series.

use driver::random::Random;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, MatchKind, Program, Table};
use num_bigint::BigUint;
use std::sync::Arc;

/// Bytes of the header: four fields for keys, and three that show what the program computed.
pub const BYTES: usize = 7;
const PLACES: [&str; 7] = ["hdr.h.f0", "hdr.h.f1", "hdr.h.f2", "hdr.h.f3", "meta.v0", "meta.v1", "meta.v2"];

/// What tables with other keys than exact ones hand on: often the key of the next table.
const HANDED_ON: &str = "meta.v2";

fn one_of<'t>(random: &mut Random, texts: &[&'t str]) -> &'t str {
    texts[random.below(texts.len() as u64) as usize]
}

/// Lookups, with statements and branches between them.
pub fn program_text(random: &mut Random) -> String {
    let count = 2 + random.below(3) as usize;
    let mut text = String::from(
        "program random for none\n\
         header hdr.h: h_t { f0: 8, f1: 8, f2: 8, f3: 8, o0: 8, o1: 8, o2: 8 }\n\
         variable meta.v0: 8\nvariable meta.v1: 8\nvariable meta.v2: 8\nvariable meta.flag: bool\nvariable error: 32\n\
         counter seen: packets [8]\nregister last: 8 [4]\n",
    );
    let mut is_behind_loose = false;
    let mut tables = |number: usize| {
        let kinds = Kinds { is_loose: random.below(3) == 0, is_behind_loose };
        is_behind_loose = kinds.is_loose;
        table(random, number, &kinds, &mut text)
    };
    let exits: Vec<bool> = (0..count).map(&mut tables).collect();
    text.push_str("parser parser { start start, accept begin, reject begin, error error }\nentry start\n");
    text.push_str("node start: state of parser { extract hdr.h } -> begin\n");
    let stages: Vec<Stage> = (0..count).map(|_| Stage::draw(random)).collect();
    let entry = |number: usize| stages.get(number).map_or("end".to_string(), |stage| stage.entry(number));
    text.push_str(&format!("node begin: block {{ meta.v0 = hdr.h.f1 }} -> {}\n", entry(0)));
    for (number, stage) in stages.iter().enumerate() {
        stage.nodes(random, number, (exits[number], &entry), &mut text);
    }
    text.push_str(
        "node end: block {\n  hdr.h.o0 = meta.v0\n  hdr.h.o1 = meta.v1\n  hdr.h.o2 = meta.v2\n} -> deparser\n\
         node deparser: deparse { emit hdr.h } -> out\nnode out: buffer { send 32w1 }\nnode drop: buffer { drop \"exit\" }\n",
    );
    text
}

/// The match kinds of a table and of the one before.
struct Kinds {
    /// Not all of its keys are exact.
    is_loose: bool,
    is_behind_loose: bool,
}

/// A table with two or three actions. Returns whether one of them exits.
fn table(random: &mut Random, number: usize, kinds: &Kinds, text: &mut String) -> bool {
    let own = elements(random, number, text);
    text.push_str(&format!("table t{number} {{\n"));
    let mut keys: Vec<&str> = Vec::new();
    let mut has_prefix = false;
    for _ in 0..=random.below(2) {
        let key = match random.below(9) {
            _ if kinds.is_behind_loose && random.below(4) > 0 => HANDED_ON,
            0 => "in.port[7:0]",
            1 => one_of(random, &["hdr.h.f0 & 1", "hdr.h.f2 & 2", "meta.v1 & 1"]),
            _ => one_of(random, &PLACES),
        };
        // Two keys may have the same value.
        if keys.contains(&key) && random.below(3) > 0 {
            continue;
        }
        keys.push(key);
        let kind = match kinds.is_loose {
            true => one_of(random, &["lpm", "ternary", "range", "optional", "exact"]),
            false => "exact",
        };
        // A table has one prefix at most.
        let kind = if kind == "lpm" && has_prefix { "exact" } else { kind };
        has_prefix |= kind == "lpm";
        text.push_str(&format!("  key {key}: {kind} as k{}\n", keys.len()));
    }
    let mut exits = false;
    for action in 0..3 {
        let exit = action == 2 && random.below(3) == 0;
        exits |= exit;
        let mut body: Vec<String> = (0..random.below(3)).map(|_| statement(random, true)).collect();
        for call in &own {
            // One that no action uses is not in the compiled program.
            if action == 0 || random.below(3) > 0 {
                body.insert(random.below(body.len() as u64 + 1) as usize, call.clone());
            }
        }
        if kinds.is_loose && random.below(4) > 0 {
            body.push(format!("    {HANDED_ON} = {}\n", one_of(random, &["p", "q", "1"])));
        }
        let exit = if exit { "    exit\n" } else { "" };
        text.push_str(&format!("  action a{action}(p: 8, q: 8) {{\n{}{exit}  }}\n", body.concat()));
    }
    text.push_str(if random.below(3) == 0 { "  idle_timeout\n" } else { "" });
    text.push_str(&format!("  default a{}(1, 2)\n}}\n", random.below(3)));
    exits
}

/// Direct counters and meters of a table. Gives what its actions do with those that run at no hit by themselves.
fn elements(random: &mut Random, number: usize, text: &mut String) -> Vec<String> {
    let mut own = Vec::new();
    if random.below(2) == 0 {
        let automatic = random.below(2) == 0;
        let word = if automatic { " automatic" } else { "" };
        text.push_str(&format!("counter t{number}.hits: packets_and_bytes of t{number}{word}\n"));
        if !automatic {
            own.push(format!("    count t{number}.hits\n"));
        }
    }
    if random.below(4) == 0 {
        let place = one_of(random, &PLACES);
        let automatic = random.below(2) == 0;
        let into = if automatic { format!(" into {place}") } else { String::new() };
        text.push_str(&format!("meter t{number}.rate: packets of t{number}{into}\n"));
        if !automatic {
            own.push(format!("    meter t{number}.rate into {place}\n"));
        }
    }
    own
}

fn statement(random: &mut Random, in_action: bool) -> String {
    let target = one_of(random, &PLACES);
    let value = match random.below(6) {
        0 | 1 if in_action => one_of(random, &["p", "q"]).to_string(),
        2 if in_action => format!("{} + p", one_of(random, &["q", "1", target])),
        3 => format!("{} & 1", one_of(random, &PLACES)),
        4 => random.below(3).to_string(),
        _ => one_of(random, &PLACES).to_string(),
    };
    match random.below(8) {
        0 => format!("    meta.flag = {} == {}\n", one_of(random, &PLACES), random.below(2)),
        1 => format!("    if meta.flag {{ {target} = {value} }} else {{ {target} = 2 }}\n"),
        2 if in_action => format!("    if p == 1 {{ {target} = {value} }}\n"),
        3 => format!("    count seen at u32({target} & 7)\n"),
        4 => format!("    write last at u32({target} & 3) = {target}\n"),
        5 => format!("    read last at u32(hdr.h.f0 & 3) into {target}\n"),
        _ => format!("    {target} = {value}\n"),
    }
}

/// What precedes a table: statements, and a branch past it.
struct Stage {
    block: Option<String>,
    branch: Option<String>,
}

impl Stage {
    fn draw(random: &mut Random) -> Stage {
        let block = (random.below(2) == 0).then(|| statement(random, false));
        let branch = (random.below(3) == 0).then(|| {
            let place = one_of(random, &["meta.v0", "meta.v1", "hdr.h.f2"]);
            if random.below(2) == 0 { "meta.flag".to_string() } else { format!("{place} == {}", random.below(3)) }
        });
        Stage { block, branch }
    }

    fn entry(&self, number: usize) -> String {
        match (&self.block, &self.branch) {
            (Some(_), _) => format!("b{number}"),
            (None, Some(_)) => format!("c{number}"),
            (None, None) => format!("t{number}"),
        }
    }

    fn nodes(
        &self,
        random: &mut Random,
        number: usize,
        (exits, entry): (bool, &impl Fn(usize) -> String),
        text: &mut String,
    ) {
        let next = entry(number + 1);
        if let Some(body) = &self.block {
            let behind = if self.branch.is_some() { "c" } else { "t" };
            text.push_str(&format!("node b{number}: block {{\n{body}}} -> {behind}{number}\n"));
        }
        if let Some(condition) = &self.branch {
            text.push_str(&format!("node c{number}: branch {condition} -> t{number} else {next}\n"));
        }
        let other = if random.below(2) == 0 { entry(number + 2) } else { "end".to_string() };
        let edges = match random.below(6) {
            0 => format!("hit {next}, miss {other}"),
            1 => format!("hit {other}, miss {next}"),
            2 => format!("{{ a1 -> {other}, otherwise -> {next} }}"),
            _ => next,
        };
        let exit = if exits { " exit drop" } else { "" };
        text.push_str(&format!("node t{number}: apply t{number} -> {edges}{exit}\n"));
    }
}

/// Gives some tables entries of the program, which are there before the first packet.
pub fn add_own_entries(random: &mut Random, program: &mut Program) {
    for (_, table) in program.tables.iter_mut() {
        let count = if random.below(2) == 0 { random.below(4) } else { 0 };
        for _ in 0..count {
            let priority = if table.has_priorities() { 1 + random.below(3) as u32 } else { 0 };
            let (matches, call) = (matches(random, table), action_call(random, table));
            let entry = Entry { matches, priority, action: EntryAction::Call(call), constant: false };
            let is_there = |own: &Entry| (own.priority, &own.matches) == (entry.priority, &entry.matches);
            if !table.entries.iter().any(is_there) {
                Arc::make_mut(&mut table.entries).push(entry);
            }
        }
    }
}

/// What an entry of a table matches.
pub fn matches(random: &mut Random, table: &Table) -> Vec<Match> {
    let matched = |key: &hlir::Key| {
        let mut number = || BigUint::from(random.below(3));
        match key.kind {
            MatchKind::Exact => Match::Exact(number()),
            MatchKind::Optional if number() == BigUint::ZERO => Match::Any,
            MatchKind::Optional => Match::Exact(number()),
            MatchKind::Lpm => {
                let (value, below) = (number(), random.below(4) as u32);
                let below = if below == 3 { 8 } else { below };
                Match::Lpm { value: value >> below << below, prefix: 8 - below }
            }
            MatchKind::Ternary => {
                let mask = BigUint::from(random.below(4));
                Match::Ternary { value: BigUint::from(random.below(3)) & &mask, mask }
            }
            MatchKind::Range => {
                let low = random.below(3);
                Match::Range { low: low.into(), high: (low + random.below(3)).into() }
            }
        }
    };
    table.keys.iter().map(matched).collect()
}

/// An action of a table with its data.
pub fn action_call(random: &mut Random, table: &Table) -> ActionCall {
    let action = random.below(table.actions.len() as u64) as u32;
    ActionCall { action, arguments: (0..2).map(|_| random.below(3).into()).collect() }
}
