//! Lookups whose entries are constants of the code: comparisons one after the other, without a branch, and records
//! that the compiler lays out. The host has the same entries in a list, which it shows to controllers.

use crate::body::limbs;
use crate::c::{Expr, Item, Stmt};
use crate::unit::{Unit, number};
use hlir::entry::EntryAction;
use hlir::plan::Structure;
use hlir::{ActionCall, Entry, KeyField, Match, TableId};
use num_bigint::BigUint;

/// What is compared of a limb of the key.
struct Masked {
    mask: u64,
    value: u64,
}

impl Unit<'_> {
    /// Whether a table's entries are constants of the code.
    pub fn is_in_code(&self, table: TableId) -> bool {
        self.structure(table) == Structure::Code
    }

    /// What the functions of a table's lookups begin with: the structure's name in the runtime, or the table's own.
    pub fn lookup_prefix(&self, table: TableId) -> String {
        match self.is_in_code(table) {
            true => format!("{}_code", self.table_name(table)),
            false => hlir::text::written_structure(self.structure(table)).to_string(),
        }
    }

    /// The functions and the records of a table whose entries are constants.
    pub fn constant_entries(&self, table: TableId) -> Vec<Item> {
        if !self.is_in_code(table) {
            return Vec::new();
        }
        let prefix = self.lookup_prefix(table);
        let function = |of: &str, name: &str, parameters: &[&str], body: Vec<Stmt>| {
            let parameters: Vec<String> = parameters.iter().map(|it| it.to_string()).collect();
            [Item::Function { of: of.to_string(), name: format!("{prefix}_{name}"), parameters, body }, Item::Blank]
        };
        let held = "const struct list *table";
        let keyed = ["const uint64_t *key", "uint32_t limbs"];
        let mut items = vec![Item::Comment(format!("The constant entries of {}.", self.program.tables[table].name))];
        items.extend(self.constant_records(table));
        let nothing = |value: Expr| vec![Stmt::result(value)];
        items.extend(function("INLINE uint64_t", "hash", &[held, keyed[0], keyed[1]], nothing(Expr::word(0))));
        items.extend(function("INLINE const void *", "address", &[held, "uint64_t hash"], nothing(Expr::name("NULL"))));
        let parameters = [held, "const void *address", "uint64_t hash", keyed[0], keyed[1]];
        items.extend(function("INLINE uint32_t", "find", &parameters, self.comparisons(table)));
        items
    }

    /// From the entry that matches last to the one that matches first: without a branch, whichever it is.
    fn comparisons(&self, table: TableId) -> Vec<Stmt> {
        let fields = self.program.key_fields(table);
        let mut body = vec![Stmt::declare("uint32_t", "found", Expr::word(0))];
        for at in hlir::constant_entries::in_order(self.program, table).into_iter().rev() {
            let test = self.matches(table, &self.program.tables[table].entries[at], &fields);
            let number = Expr::word(at as u32 + 1);
            let value = test.map_or(number.clone(), |test| Expr::conditional(test, number, Expr::name("found")));
            body.push(Stmt::set(Expr::name("found"), value));
        }
        body.push(Stmt::result(Expr::name("found")));
        body
    }

    /// Whether the key matches; nothing if every key does.
    fn matches(&self, table: TableId, entry: &Entry, fields: &[KeyField]) -> Option<Expr> {
        let bits = self.key_bits(table);
        let mut whole = (BigUint::ZERO, BigUint::ZERO);
        let mut tests = Vec::new();
        for field in fields {
            let (mask, value) = match &entry.matches[field.index] {
                Match::Exact(value) => (ones(field.width), value.clone()),
                Match::Lpm { value, prefix } => {
                    (ones(*prefix) << (field.width - prefix.min(&field.width)), value.clone())
                }
                Match::Ternary { value, mask } => (mask.clone(), value & mask),
                Match::Range { low, high } => {
                    tests.push(in_range(*field, low, high));
                    continue;
                }
                Match::Any => continue,
            };
            whole.0 |= mask << field.shift;
            whole.1 |= value << field.shift;
        }
        for limb in 0..limbs(bits) {
            let part = |number: &BigUint| number.iter_u64_digits().nth(limb as usize).unwrap_or(0);
            let masked = Masked { mask: part(&whole.0), value: part(&whole.1) };
            let all = part(&ones(bits));
            let key = Expr::index(Expr::name("key"), Expr::word(limb));
            if masked.mask != 0 {
                let compared = match masked.mask == all {
                    true => key,
                    false => Expr::binary("&", key, Expr::long(masked.mask)),
                };
                tests.push(Expr::binary("==", compared, Expr::long(masked.value)));
            }
        }
        tests.into_iter().reduce(|left, right| Expr::binary("&", left, right))
    }

    /// An array as that of the runtime: the record of entry `n` at `n`, and the default action's at 0.
    fn constant_records(&self, table: TableId) -> [Item; 2] {
        let declared = &self.program.tables[table];
        let calls = declared.entries.iter().filter_map(|entry| match &entry.action {
            EntryAction::Call(call) => Some(call),
            EntryAction::Member(_) | EntryAction::Group(_) | EntryAction::Set(_) => None,
        });
        let all = std::iter::once(&declared.default).chain(calls);
        let records = all.map(|call| self.constant_record(table, call)).collect();
        let of = format!("static const struct {}_record", self.table_name(table));
        let name = format!("{}_records[]", self.lookup_prefix(table));
        [Item::Variable { of, name, value: Some(Expr::List(records)) }, Item::Blank]
    }

    /// A record that the program itself gives.
    pub fn constant_record(&self, table: TableId, call: &ActionCall) -> Expr {
        let (declared, action) = (&self.program.tables[table], call.action as usize);
        let mut members = vec![Expr::designated("action", Expr::word(call.action))];
        let names = &self.names.parameters[number(table)][action];
        let data = declared.actions[action].parameters.iter().zip(names).zip(&call.arguments);
        let data: Vec<Expr> = data
            .enumerate()
            .map(|(place, ((parameter, name), value))| {
                let in_bytes = self.in_bytes(table, action, place);
                Expr::designated(name, constant_data(value, parameter.width, in_bytes))
            })
            .collect();
        if !data.is_empty() {
            members.push(Expr::designated(&self.names.actions[number(table)][action], Expr::List(data)));
        }
        Expr::List(members)
    }
}

/// An action's data as its member in a record has it.
fn constant_data(value: &BigUint, width: u32, in_bytes: bool) -> Expr {
    if in_bytes {
        let mut bytes = value.to_bytes_le();
        bytes.resize(width as usize / 8, 0);
        return Expr::List(bytes.into_iter().rev().map(|byte| Expr::word(byte.into())).collect());
    }
    let mut digits = value.to_u64_digits();
    digits.resize(limbs(width) as usize, 0);
    match width {
        0..=64 => Expr::long(digits[0]),
        _ => Expr::List(digits.into_iter().map(Expr::long).collect()),
    }
}

fn ones(width: u32) -> BigUint {
    (BigUint::from(1u32) << width) - 1u32
}

/// Whether a field of the key lies in a range.
fn in_range(field: KeyField, low: &BigUint, high: &BigUint) -> Expr {
    let digit = |number: &BigUint| number.iter_u64_digits().next().unwrap_or(0);
    let (limb, shift) = (field.shift / 64, field.shift % 64);
    let key = |limb: u32| Expr::index(Expr::name("key"), Expr::word(limb));
    let shifted = |value: Expr, operator: &'static str, by: u32| match by {
        0 => value,
        by => Expr::binary(operator, value, Expr::word(by)),
    };
    let mut value = shifted(key(limb), ">>", shift);
    if shift + field.width > 64 {
        value = Expr::binary("|", value, shifted(key(limb + 1), "<<", 64 - shift));
    }
    if field.width < 64 {
        value = Expr::binary("&", value, Expr::long(digit(&ones(field.width))));
    }
    let offset = if digit(low) == 0 { value } else { Expr::binary("-", value, Expr::long(digit(low))) };
    Expr::binary("<=", offset, Expr::long(digit(high).wrapping_sub(digit(low))))
}
