//! Parser states: extraction at the cursor, checks, and the choice of the next state.
//!
//! The cursor is an offset from the packet's first byte. A statement that fails has done nothing yet when it sets the error and goes to `reject`,
//! so each begins with its check.

use crate::body::{Body, Presence, Presences, join};
use crate::c::{Expr, Stmt};
use crate::expression::low_limb;
use crate::unit::number;
use hlir::program::error_code;
use hlir::{Case, Expression, HeaderId, KeySet, NodeId, Select, Statement, VariableId};

fn cursor() -> Expr {
    Expr::name("state->cursor")
}

impl Body<'_, '_> {
    /// A whole parser state.
    pub fn state(&mut self, statements: &[Statement], select: &Select) {
        let parser = self.unit.node(self.node).parser().expect("a state belongs to a parser");
        if self.unit.facts.cyclic.contains(&number(parser)) {
            let visits = Expr::Name(format!("state->{}", self.unit.names.parsers[number(parser)]));
            let limit = Expr::word(self.program().budget.states);
            let over = self.nested(|body| body.drop_packet("parser budget"));
            self.push(Stmt::when(Expr::binary("==", visits.clone(), limit), over));
            self.push(Stmt::Assign(visits, "+=", Expr::word(1)));
        }
        if self.statements(statements) {
            self.select(select);
        }
    }

    /// Sets the parser's error and goes to `reject`.
    pub fn reject(&mut self, code: Expr) {
        let parser = self.unit.node(self.node).parser().expect("only states fail");
        let parser = &self.program().parsers[parser];
        let error = Expr::Name(format!("state->{}", self.unit.variable_name(parser.error)));
        self.push(Stmt::set(error, code));
        self.go(parser.reject);
    }

    fn reject_code(&mut self, code: u32) -> Vec<Stmt> {
        self.nested(|body| body.reject(Expr::word(code)))
    }

    /// Fails with PacketTooShort unless `bytes` follow the cursor; contiguous in memory if they are to be
    /// read.
    fn need(&mut self, bytes: Expr) {
        let end = Expr::binary("+", cursor(), bytes);
        let end = self.named(end, 32, "end");
        let packet = Expr::name("&state->packet");
        let short = Expr::binary("<", Expr::call("packet_contiguous", [packet.clone()]), end.clone());
        let failed = self.reject_code(error_code::PACKET_TOO_SHORT);
        if self.unit.own() {
            self.push(Stmt::when(short, failed));
            return;
        }
        let mut rare = vec![Stmt::call("packet_gather", [Expr::name("run->worker"), packet.clone(), end.clone()])];
        let there = Expr::binary(">=", Expr::call("packet_length", [packet]), end);
        let segmented = self.nested(|body| body.drop_packet("segmented packet"));
        rare.push(Stmt::when(short.clone(), vec![Stmt::when(there, segmented)].into_iter().chain(failed).collect()));
        self.push(Stmt::when(short, rare));
    }

    pub fn extract(&mut self, header: HeaderId, varbit: Option<&Expression>) -> bool {
        let fixed = self.program().headers[header].fixed_bits();
        if !fixed.is_multiple_of(8) {
            self.unsupported(&format!(
                "extracting `{}`, which does not fill whole bytes,",
                self.program().headers[header].name
            ));
            return true;
        }
        let mut bytes = Expr::word(fixed / 8);
        if let Some(length) = varbit {
            bytes = self.varbit_bytes(header, length, fixed);
        } else {
            self.need(bytes.clone());
        }
        let data = Expr::call("packet_data", [Expr::name("&state->packet")]);
        let (pointer, valid) = (self.header(header), self.header_valid(header));
        let mut place = Expr::binary("+", data, cursor());
        if self.unit.facts.unaliased.contains(&header) {
            place = Expr::call("memcpy", [self.header_scratch(header), place, bytes.clone()]);
        }
        self.push(Stmt::set(pointer, place));
        self.push(Stmt::set(valid, Expr::name("true")));
        self.push(Stmt::Assign(cursor(), "+=", bytes));
        self.present[number(header)] = Presence::Present;
        true
    }

    /// Checks a varbit length in the order that HLIR promises, and gives the whole header's bytes.
    fn varbit_bytes(&mut self, header: HeaderId, length: &Expression, fixed: u32) -> Expr {
        let width = self.width_of(length);
        let length = self.amount(length);
        let bits = self.temporary("bits");
        self.push(Stmt::declare("const uint64_t", &bits, length));
        let bits_name = Expr::name(&bits);
        if width > 3 || width == 0 {
            let odd = Expr::binary("!=", Expr::binary("&", bits_name.clone(), Expr::word(7)), Expr::word(0));
            let failed = self.reject_code(error_code::PARSER_INVALID_ARGUMENT);
            self.push(Stmt::when(odd, failed));
        }
        // A length of more bits than any packet has is too long for this one.
        if width > 19 {
            let most = Expr::binary(">", bits_name.clone(), Expr::word(8 * 0xffff));
            let failed = self.reject_code(error_code::PACKET_TOO_SHORT);
            self.push(Stmt::when(most, failed));
        }
        let narrow = Expr::cast("uint32_t", bits_name);
        let bytes = Expr::binary("+", Expr::word(fixed / 8), Expr::binary("/", narrow.clone(), Expr::word(8)));
        let bytes = self.named(bytes, 32, "bytes");
        self.need(bytes.clone());
        let index = self.program().headers[header].varbit().expect("a length stands for a varbit field");
        let room = self.program().headers[header].fields[index].width;
        let failed = self.reject_code(error_code::HEADER_TOO_SHORT);
        self.push(Stmt::when(Expr::binary(">", narrow.clone(), Expr::word(room)), failed));
        let held = self.header_bits(header);
        self.push(Stmt::set(held, narrow));
        bytes
    }

    pub fn advance(&mut self, bits: &Expression) -> bool {
        let bits = self.value(bits);
        let bits = self.named(bits, 32, "bits");
        if let Some(number) = bits.number() {
            if number % 8 != 0 {
                self.reject(Expr::word(error_code::PARSER_INVALID_ARGUMENT));
                return false;
            }
            self.need(Expr::word((number / 8) as u32));
            self.push(Stmt::Assign(cursor(), "+=", Expr::word((number / 8) as u32)));
            return true;
        }
        let odd = Expr::binary("!=", Expr::binary("&", bits.clone(), Expr::word(7)), Expr::word(0));
        let failed = self.reject_code(error_code::PARSER_INVALID_ARGUMENT);
        self.push(Stmt::when(odd, failed));
        let short = self.reject_code(error_code::PACKET_TOO_SHORT);
        let left = Expr::binary("-", Expr::call("packet_length", [Expr::name("&state->packet")]), cursor());
        self.push(Stmt::when(Expr::binary(">", bits.clone(), Expr::binary("*", left, Expr::word(8))), short));
        // Skipped bytes must be contiguous as well, since what follows is reached from the front.
        let bytes = self.named(Expr::binary("/", bits, Expr::word(8)), 32, "bytes");
        self.need(bytes.clone());
        self.push(Stmt::Assign(cursor(), "+=", bytes));
        true
    }

    /// Reads bits after the cursor through their bytes, at any alignment.
    pub fn lookahead(&mut self, into: VariableId, offset: u32) -> bool {
        let width = self.program().variables[into].kind.width();
        if width == 0 {
            return true;
        }
        let Some(end_bit) = offset.checked_add(width).filter(|end| *end <= 8 * 0xffff) else {
            // No packet is as long.
            self.reject(Expr::word(error_code::PACKET_TOO_SHORT));
            return false;
        };
        self.need(Expr::word(end_bit.div_ceil(8)));
        let name = self.temporary("ahead");
        let data = Expr::call("packet_data", [Expr::name("&state->packet")]);
        self.push(Stmt::declare("const uint8_t *const", &name, Expr::binary("+", data, cursor())));
        if width <= 64 {
            let value = crate::field::load_bits(&Expr::name(&name), offset, width, end_bit.div_ceil(8));
            self.put(hlir::Place::Variable(into), truth(value, self.program().variables[into].kind));
            return true;
        }
        for limb in 0..crate::body::limbs(width) {
            let high = (64 * limb + 63).min(width - 1);
            let low = 64 * limb;
            let bit = offset + width - 1 - high;
            let value = crate::field::load_bits(&Expr::name(&name), bit, high - low + 1, end_bit.div_ceil(8));
            let place = Expr::index(self.wide_variable(into), Expr::word(limb));
            self.push(Stmt::set(place, value));
        }
        true
    }

    pub fn verify(&mut self, condition: &Expression, error: &Expression) -> bool {
        let test = self.value(condition);
        let failed = self.nested(|body| {
            let code = body.value(error);
            body.reject(code);
        });
        self.push(Stmt::when(Expr::unary("!", test), failed));
        self.assume(condition, true);
        true
    }

    fn select(&mut self, select: &Select) {
        let mut keys = Vec::new();
        for key in &select.keys {
            let width = self.width_of(key);
            if width > 64 {
                keys.push((self.wide(key), width));
                continue;
            }
            let value = self.value(key);
            keys.push((if select.cases.is_empty() { value } else { self.named(value, width, "key") }, width));
        }
        if !self.switch(select, &keys) {
            self.chain(select, &keys);
        }
    }

    /// One key against plain values: a `switch`. False if the cases need more.
    fn switch(&mut self, select: &Select, keys: &[(Expr, u32)]) -> bool {
        let [(key, width)] = keys else { return false };
        let mut seen: Vec<u64> = Vec::new();
        for case in &select.cases {
            let [KeySet::Value(value)] = case.sets.as_slice() else { return false };
            if *width > 64 || seen.contains(&low_limb(value)) {
                return false;
            }
            seen.push(low_limb(value));
        }
        if select.cases.len() < 2 {
            return false;
        }
        let mut cases: Vec<(Vec<Expr>, Vec<Stmt>)> = Vec::new();
        for case in &select.cases {
            let KeySet::Value(value) = &case.sets[0] else { return false };
            let code = self.nested(|body| body.go(case.to));
            let label = crate::expression::constant(low_limb(value), *width);
            match cases.iter_mut().find(|(_, known)| *known == code) {
                Some((labels, _)) => labels.push(label),
                None => cases.push((vec![label], code)),
            }
        }
        let default = self.nested(|body| body.otherwise(select.otherwise));
        self.push(Stmt::Switch { on: key.clone(), cases, default });
        true
    }

    fn chain(&mut self, select: &Select, keys: &[(Expr, u32)]) {
        for case in &select.cases {
            let test = self.matches(case, keys);
            let code = self.nested(|body| body.go(case.to));
            match test {
                Some(test) => self.push(Stmt::when(test, code)),
                None => {
                    self.out.extend(code);
                    return;
                }
            }
        }
        self.otherwise(select.otherwise);
    }

    fn otherwise(&mut self, otherwise: Option<NodeId>) {
        match otherwise {
            Some(node) => self.go(node),
            None => self.reject(Expr::word(error_code::NO_MATCH)),
        }
    }

    /// The test of a case; none if it always matches.
    fn matches(&mut self, case: &Case, keys: &[(Expr, u32)]) -> Option<Expr> {
        if let [KeySet::Set(set)] = case.sets.as_slice() {
            return Some(self.in_value_set(*set, keys));
        }
        let mut whole: Option<Expr> = None;
        for (set, (key, width)) in case.sets.iter().zip(keys) {
            let Some(test) = self.in_set(set, key, *width) else { continue };
            whole = Some(match whole {
                Some(before) => Expr::binary("&&", before, test),
                None => test,
            });
        }
        whole
    }

    fn in_set(&mut self, set: &KeySet, key: &Expr, width: u32) -> Option<Expr> {
        if width > 64 {
            return self.wide_in_set(set, key, width);
        }
        let number = |value: &num_bigint::BigUint| crate::expression::constant(low_limb(value), width);
        match set {
            KeySet::Any => None,
            KeySet::Value(value) => Some(Expr::binary("==", key.clone(), number(value))),
            KeySet::Mask { value, mask } => {
                let wanted = crate::expression::constant(low_limb(value) & low_limb(mask), width);
                Some(Expr::binary("==", Expr::binary("&", key.clone(), number(mask)), wanted))
            }
            KeySet::Range { low, high } => {
                let above = Expr::binary(">=", key.clone(), number(low));
                Some(Expr::binary("&&", above, Expr::binary("<=", key.clone(), number(high))))
            }
            KeySet::Set(set) => Some(self.in_value_set(*set, &[(key.clone(), width)])),
        }
    }
}

/// Bits as what a variable of type `kind` holds.
fn truth(value: Expr, kind: hlir::Type) -> Expr {
    if kind == hlir::Type::Bool { Expr::binary("!=", value, Expr::word(0)) } else { value }
}

/// The facts where several paths meet.
pub fn meet(known: &mut Option<Presences>, present: &Presences) -> bool {
    match known {
        None => {
            *known = Some(present.clone());
            true
        }
        Some(known) => {
            let before = known.clone();
            join(known, present);
            *known != before
        }
    }
}
