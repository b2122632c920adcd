//! Reads STF, a command a line, and reports every line that is none.

use super::command::{
    Argument, Call, Command, Condition, Control, Elements, EntryAction, GroupMember, Key, Kind, MeterRate, Multicast,
    Pattern, Relation, Unit, Value, Word,
};
use super::lex::{self, Token};
use super::names::nearest;
use super::{Mistake, Place};
use control::Rate;
use control::plane::PORTS;

/// All commands of a text, or all its mistakes.
pub fn parse(text: &str) -> Result<Vec<Command>, Vec<Mistake>> {
    let mut commands = Vec::new();
    let mut mistakes = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        match parse_line(line, number) {
            Ok(command) => commands.extend(command),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if mistakes.is_empty() { Ok(commands) } else { Err(mistakes) }
}

/// The first words of lines.
pub const COMMANDS: [&str; 36] = [
    "add",
    "modify",
    "setdefault",
    "remove",
    "packet",
    "expect",
    "no_packet",
    "wait",
    "check_counter",
    "mirroring_add",
    "mirroring_add_mc",
    "mirroring_delete",
    "mirroring_get",
    "mc_mgrp_create",
    "mc_node_create",
    "mc_node_update",
    "mc_node_associate",
    "counter_read",
    "counter_write",
    "register_read",
    "register_write",
    "register_reset",
    "meter_get_rates",
    "meter_set_rates",
    "meter_array_set_rates",
    "clock",
    "seed",
    "expect_digest",
    "value_set",
    "set_crc16_parameters",
    "set_crc32_parameters",
    "member",
    "group",
    "idle_timeout",
    "expiry",
    "expect_idle",
];

/// The command of one line, which has this number; nothing if the line is empty.
pub fn parse_line(line: &str, number: u32) -> Result<Option<Command>, Mistake> {
    let indent = line.chars().take_while(|c| c.is_whitespace()).count();
    let content: String = line.chars().skip(indent).take_while(|c| *c != '#').collect();
    let place = Place { line: number, column: indent as u32 + 1 };
    let first: String = content.chars().take_while(|c| !c.is_whitespace()).collect();
    if first.is_empty() {
        return Ok(None);
    }
    let command = first.to_ascii_lowercase();
    let kind = match command.as_str() {
        // The digits of packets are no numbers: they are taken as they are.
        "packet" | "expect" => Data::new(&content, place, first.chars().count()).parse(command == "packet")?,
        _ => {
            let mut tokens = lex::tokens(line, number)?;
            tokens.remove(0);
            let end = Place { line: number, column: line.trim_end().chars().count() as u32 + 1 };
            let mut rest = Line { tokens, next: 0, end };
            let kind = rest.command(&command, place)?;
            rest.finish()?;
            kind
        }
    };
    Ok(Some(Command { place, kind }))
}

/// The port and digits behind `packet` or `expect`.
struct Data<'a> {
    characters: Vec<(Place, char)>,
    command: &'a str,
    /// Behind the command.
    end: Place,
}

impl Data<'_> {
    fn new(content: &str, place: Place, command: usize) -> Data<'_> {
        let characters = content.chars().enumerate().skip(command);
        let at = |index: usize| Place { line: place.line, column: place.column + index as u32 };
        let characters = characters.map(|(index, c)| (at(index), c)).collect();
        Data { characters, command: &content[..command], end: at(command) }
    }

    fn parse(&self, is_packet: bool) -> Result<Kind, Mistake> {
        let mut characters = self.characters.iter().skip_while(|(_, c)| c.is_whitespace()).peekable();
        let place = characters.peek().map_or(self.end, |(place, _)| *place);
        let digits: String = characters.by_ref().map(|(_, c)| *c).take_while(|c| !c.is_whitespace()).collect();
        let port: Option<u32> = digits.parse().ok().filter(|port| *port < PORTS);
        let expected = || format!("expected a port behind `{}`, from 0 to {}", self.command, PORTS - 1);
        let port = port.ok_or_else(|| Mistake::new(place, expected()))?;
        let rest: Vec<&(Place, char)> = characters.filter(|(_, c)| !c.is_whitespace()).collect();
        if is_packet { packet(port, &rest) } else { expectation(port, &rest) }
    }
}

fn packet(port: u32, digits: &[&(Place, char)]) -> Result<Kind, Mistake> {
    let mut nibbles = Vec::new();
    for (place, c) in digits {
        let digit = c.to_digit(16).ok_or_else(|| Mistake::new(*place, format!("`{c}` is no hexadecimal digit")))?;
        nibbles.push(digit as u8);
    }
    if let (1, Some((place, _))) = (nibbles.len() % 2, digits.last()) {
        return Err(Mistake::new(*place, "the last byte has one digit only"));
    }
    let bytes = nibbles.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    Ok(Kind::Packet { port, bytes })
}

fn expectation(port: u32, digits: &[&(Place, char)]) -> Result<Kind, Mistake> {
    let (digits, exact_length) = match digits.split_last() {
        Some(((_, '$'), digits)) => (digits, true),
        _ => (digits, false),
    };
    let mut nibbles = Vec::new();
    for (place, c) in digits {
        nibbles.push(match (c, c.to_digit(16)) {
            (_, Some(digit)) => Some(digit as u8),
            ('*', None) => None,
            _ => return Err(Mistake::new(*place, format!("`{c}` is neither a hexadecimal digit nor `*`"))),
        });
    }
    let empty = nibbles.is_empty() && !exact_length;
    let pattern = if empty { None } else { Some(Pattern { nibbles, exact_length }) };
    Ok(Kind::Expect { port, pattern })
}

/// The rest of a line, read from left to right.
pub struct Line {
    tokens: Vec<Token>,
    next: usize,
    /// Behind the last character.
    end: Place,
}

impl Line {
    /// The rest of a line after so many characters: the command itself has been read.
    pub fn behind(line: &str, number: u32, characters: usize) -> Result<Line, Mistake> {
        let mut tokens = lex::tokens(line, number)?;
        tokens.retain(|token| token.place.column as usize > characters);
        let end = Place { line: number, column: line.trim_end().chars().count() as u32 + 1 };
        Ok(Line { tokens, next: 0, end })
    }

    /// Whether the line goes on.
    pub fn goes_on(&self) -> bool {
        self.peek().is_some()
    }

    /// The next word, if it is a name.
    pub fn next_name(&self) -> Option<&str> {
        self.peek().filter(|token| token.kind == lex::Kind::Name).map(|token| token.text.as_str())
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    pub fn place(&self) -> Place {
        self.peek().map_or(self.end, |token| token.place)
    }

    pub fn expected(&self, what: &str) -> Mistake {
        let found = self.peek().map_or("the line ends".to_string(), |token| format!("found `{}`", token.text));
        Mistake::new(self.place(), format!("expected {what}, {found}"))
    }

    fn take(&mut self, kind: lex::Kind, what: &str) -> Result<Word, Mistake> {
        let token = self.peek().filter(|token| token.kind == kind).cloned();
        let Token { text, place, .. } = token.ok_or_else(|| self.expected(what))?;
        self.next += 1;
        Ok(Word { text, place })
    }

    pub fn name(&mut self, what: &str) -> Result<Word, Mistake> {
        self.take(lex::Kind::Name, what)
    }

    pub fn number(&mut self) -> Result<Word, Mistake> {
        self.take(lex::Kind::Number, "a number")
    }

    pub fn is_number(&self) -> bool {
        self.peek().is_some_and(|token| token.kind == lex::Kind::Number)
    }

    fn numbers(&mut self) -> Result<Vec<Word>, Mistake> {
        std::iter::from_fn(|| self.is_number().then(|| self.number())).collect()
    }

    fn small(&mut self) -> Result<u64, Mistake> {
        let word = self.number()?;
        word.text.parse().map_err(|_| Mistake::new(word.place, "expected a decimal number of up to 64 bits"))
    }

    pub fn is_mark(&self, mark: &str) -> bool {
        self.peek().is_some_and(|token| token.kind == lex::Kind::Mark && token.text == mark)
    }

    pub fn accept(&mut self, mark: &str) -> bool {
        let is_there = self.is_mark(mark);
        self.next += usize::from(is_there);
        is_there
    }

    fn crc(&mut self, width: u32) -> Result<Control, Mistake> {
        let crc = self.name("a calculation")?;
        let numbers = [self.number()?, self.number()?, self.number()?];
        Ok(Control::Crc { crc, width, numbers, reflects: [self.flag()?, self.flag()?] })
    }

    fn flag(&mut self) -> Result<Word, Mistake> {
        if self.is_number() { self.number() } else { self.name("`true` or `false`") }
    }

    pub fn mark(&mut self, mark: &str) -> Result<(), Mistake> {
        if self.accept(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    pub fn finish(&self) -> Result<(), Mistake> {
        if self.peek().is_none() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    fn command(&mut self, command: &str, place: Place) -> Result<Kind, Mistake> {
        Ok(match command {
            "no_packet" => Kind::NoPacket,
            "expect_digest" => Kind::ExpectDigest { digest: self.name("a digest")?, fields: self.fields()? },
            "expect_idle" => self.expect_idle()?,
            _ => Kind::Control(self.control(command, place)?),
        })
    }

    fn control(&mut self, command: &str, place: Place) -> Result<Control, Mistake> {
        Ok(match command {
            "add" => self.add()?,
            "modify" => self.modify()?,
            "setdefault" => Control::SetDefault { table: self.name("a table")?, action: self.call()? },
            "remove" => self.remove()?,
            "wait" => Control::Wait,
            "check_counter" => self.check_counter()?,
            "clock" => Control::Clock { nanoseconds: self.duration()? },
            "idle_timeout" => Control::Aging(self.idle_timeout()?),
            "expiry" => Control::Aging(self.expiry()?),
            "seed" => Control::Seed { seed: self.number()? },
            "value_set" => Control::ValueSet { set: self.name("a value set")?, members: self.members()? },
            "set_crc16_parameters" => self.crc(16)?,
            "set_crc32_parameters" => self.crc(32)?,
            "member" => {
                Control::Member { profile: self.name("an action profile")?, id: self.number()?, action: self.call()? }
            }
            "group" => Control::Group {
                profile: self.name("an action profile")?,
                id: self.number()?,
                members: self.numbers()?.into_iter().map(GroupMember::from).collect(),
                max_size: None,
            },
            "mirroring_add" => Control::MirrorToPort {
                session: self.number()?,
                port: self.number()?,
                bytes: if self.is_number() { Some(self.number()?) } else { None },
            },
            "mirroring_add_mc" => Control::MirrorToGroup { session: self.number()?, group: self.number()? },
            "mirroring_delete" => Control::MirrorDelete { session: self.number()? },
            "mirroring_get" => Control::MirrorGet { session: self.number()? },
            "mc_mgrp_create" | "mc_node_create" | "mc_node_update" | "mc_node_associate" => {
                Control::Multicast(self.multicast(command)?)
            }
            _ => Control::Elements(self.elements(command, place)?),
        })
    }

    fn multicast(&mut self, command: &str) -> Result<Multicast, Mistake> {
        Ok(match command {
            "mc_mgrp_create" => Multicast::GroupCreate { group: self.number()? },
            "mc_node_create" => Multicast::NodeCreate { instance: self.number()?, ports: self.numbers()? },
            "mc_node_update" => Multicast::NodeUpdate { handle: self.number()?, ports: self.numbers()? },
            _ => Multicast::NodeAssociate { group: self.number()?, handle: self.number()? },
        })
    }

    fn elements(&mut self, command: &str, place: Place) -> Result<Elements, Mistake> {
        Ok(match command {
            "counter_read" => Elements::CounterRead { counter: self.name("a counter")?, index: self.number()? },
            "counter_write" => Elements::CounterWrite {
                counter: self.name("a counter")?,
                index: self.number()?,
                packets: self.number()?,
                bytes: self.number()?,
            },
            "register_read" => Elements::RegisterRead { register: self.name("a register")?, index: self.number()? },
            "register_write" => Elements::RegisterWrite {
                register: self.name("a register")?,
                index: self.number()?,
                value: self.number()?,
            },
            "register_reset" => Elements::RegisterReset { register: self.name("a register")? },
            "meter_get_rates" => Elements::MeterRates { meter: self.name("a meter")?, index: self.number()? },
            "meter_set_rates" => {
                let (meter, index) = (self.name("a meter")?, self.number()?);
                Elements::SetMeterRates { meter, index: Some(index), committed: self.rate()?, peak: self.rate()? }
            }
            "meter_array_set_rates" => {
                let meter = self.name("a meter")?;
                Elements::SetMeterRates { meter, index: None, committed: self.rate()?, peak: self.rate()? }
            }
            _ => {
                let hint = nearest(command, COMMANDS.iter().copied());
                let hint = hint.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
                return Err(Mistake::new(place, format!("`{command}` is no command{hint}")));
            }
        })
    }

    fn modify(&mut self) -> Result<Control, Mistake> {
        let Control::Add { table, priority, keys, action, label: None } = self.add()? else {
            return Err(Mistake::new(self.end, "an entry keeps the name that `add` gave it"));
        };
        Ok(Control::Modify { table, priority, keys, action })
    }

    fn add(&mut self) -> Result<Control, Mistake> {
        let table = self.name("a table")?;
        let priority = if self.is_number() { Some(self.number()?) } else { None };
        let mut keys = Vec::new();
        loop {
            let name = self.name("a key or an action")?;
            if self.accept(":") {
                keys.push(Key { name: Some(name), value: self.value()? });
                continue;
            }
            let action = self.entry_action(name)?;
            let label = if self.accept("=") { Some(self.name("a name for the entry")?) } else { None };
            return Ok(Control::Add { table, priority, keys, action, label });
        }
    }

    fn entry_action(&mut self, name: Word) -> Result<EntryAction, Mistake> {
        if self.is_mark("=") && (name.text == "member" || name.text == "group") {
            self.mark("=")?;
            let id = self.number()?;
            return Ok(if name.text == "member" { EntryAction::Member(id) } else { EntryAction::Group(id) });
        }
        if !self.is_mark("(") {
            return Err(self.expected("`:` and a value if this is a key, or `(` and the action's arguments"));
        }
        Ok(EntryAction::Call(Call { name, arguments: self.arguments()? }))
    }

    fn remove(&mut self) -> Result<Control, Mistake> {
        let table = self.name("`all` or a table")?;
        if table.text == "all" && self.peek().is_none() {
            return Ok(Control::RemoveAll);
        }
        let priority = if self.is_number() { Some(self.number()?) } else { None };
        Ok(Control::Remove { table, priority, keys: self.keys("")? })
    }

    fn value(&mut self) -> Result<Value, Mistake> {
        let first = self.number()?;
        if self.accept("/") {
            return Ok(Value::Prefix(first, self.number()?));
        }
        if self.accept("&&&") || self.accept("&") {
            return Ok(Value::Masked(first, self.number()?));
        }
        if self.accept("..") {
            return Ok(Value::Range(first, self.number()?));
        }
        Ok(Value::One(first))
    }

    fn call(&mut self) -> Result<Call, Mistake> {
        let name = self.name("an action")?;
        Ok(Call { name, arguments: self.arguments()? })
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, Mistake> {
        self.mark("(")?;
        let mut arguments = Vec::new();
        while !self.accept(")") {
            if !arguments.is_empty() {
                self.mark(",")?;
            }
            arguments.push(self.argument()?);
        }
        Ok(arguments)
    }

    fn argument(&mut self) -> Result<Argument, Mistake> {
        if self.is_number() {
            return Ok(Argument { name: None, value: self.number()? });
        }
        let name = Some(self.name("a value, or the name of a parameter")?);
        if !self.accept("=") {
            self.mark(":")?;
        }
        Ok(Argument { name, value: self.number()? })
    }

    fn fields(&mut self) -> Result<Vec<(Word, Word)>, Mistake> {
        let mut fields = Vec::new();
        while self.peek().is_some() {
            let name = self.name("a field")?;
            self.mark(":")?;
            fields.push((name, self.number()?));
        }
        Ok(fields)
    }

    fn members(&mut self) -> Result<Vec<Vec<Value>>, Mistake> {
        let mut members = Vec::new();
        while self.peek().is_some() {
            let mut values = vec![self.value()?];
            while self.accept(",") {
                values.push(self.value()?);
            }
            members.push(values);
        }
        Ok(members)
    }

    fn check_counter(&mut self) -> Result<Control, Mistake> {
        let counter = self.name("a counter, or the name of an entry")?;
        let mut element = None;
        if self.accept("(") {
            let is_number = self.is_number();
            element = Some(if is_number { self.number()? } else { self.name("an index, or the name of an entry")? });
            self.mark(")")?;
        }
        let mut condition = Condition { unit: Unit::Packets, relation: Relation::Equal, number: 0 };
        if self.peek().is_some() {
            let unit = self.name("`packets` or `bytes`")?;
            condition.unit = match unit.text.as_str() {
                "packets" => Unit::Packets,
                "bytes" => Unit::Bytes,
                _ => return Err(Mistake::new(unit.place, "expected `packets` or `bytes`")),
            };
            condition.relation = self.relation()?;
            condition.number = self.small()?;
        }
        Ok(Control::CheckCounter { counter, element, condition })
    }

    fn relation(&mut self) -> Result<Relation, Mistake> {
        use Relation::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let relations = [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual];
        let found = relations.into_iter().find(|relation| self.is_mark(relation.text()));
        let relation = found.ok_or_else(|| self.expected("`==`, `!=`, `<`, `<=`, `>` or `>=`"))?;
        self.next += 1;
        Ok(relation)
    }

    /// Keys, up to the end of the line or a mark.
    pub fn keys(&mut self, end: &str) -> Result<Vec<Key>, Mistake> {
        let mut keys = Vec::new();
        while self.peek().is_some() && !self.is_mark(end) {
            let name = self.name("a key")?;
            self.mark(":")?;
            keys.push(Key { name: Some(name), value: self.value()? });
        }
        Ok(keys)
    }

    /// `RATE:BURST`, the rate in packets or bytes a microsecond.
    fn rate(&mut self) -> Result<MeterRate, Mistake> {
        let word = self.number()?;
        let wrong = || Mistake::new(word.place, "expected a rate a microsecond, such as `0.5`");
        let rate = Rate::parse_micros(&word.text).ok_or_else(wrong)?;
        self.mark(":")?;
        Ok(MeterRate { place: word.place, rate, burst: self.small()? })
    }
}
