//! A program: the storage of a packet, the tables and stateful objects of the switch, and the graph of nodes that uses them.
//!
//! Storage is flat. A struct of P4 is gone: each scalar in it is a [`Variable`], each header instance (also each element of a stack and each
//! member of a union) a [`Header`]. All storage of a packet is zero, and every header invalid, when the packet enters at [`Program::entry`].

use crate::facts::{Assumption, Fact};
use crate::interface::Interface;
use crate::{
    Counter, Crc, Digest, Extern, Field, FieldRef, Header, Join, Key, LookupSum, Match, MatchKind, Meter, Node, NodeId,
    ParserId, Place, Profile, Register, Selector, Table, TableId, Type, ValueSet, Variable, VariableId,
    expression::{Binary, Expression},
};
use la_arena::Arena;
use num_bigint::BigUint;

/// What happens to a packet, and nothing about speed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// The program's name, used in the names of generated files: letters, digits and `_`.
    pub name: String,
    /// The architecture it was written for (`v1model`, `psa`, `pna`, or the name of its own package).
    pub architecture: String,
    pub headers: Arena<Header>,
    pub variables: Arena<Variable>,
    pub tables: Arena<Table>,
    pub counters: Arena<Counter>,
    pub meters: Arena<Meter>,
    pub registers: Arena<Register>,
    /// CRCs whose parameters a controller can set.
    pub crcs: Arena<Crc>,
    pub digests: Arena<Digest>,
    pub value_sets: Arena<ValueSet>,
    pub profiles: Arena<Profile>,
    pub externs: Arena<Extern>,
    pub parsers: Arena<Parser>,
    pub nodes: Arena<Node>,
    /// Recipes of the joint tables, each after those of its sources.
    pub joins: Vec<Join>,
    /// What it takes for granted of what its tables hold.
    pub assumptions: Vec<Assumption>,
    /// How lookups are counted that became code.
    pub lookup_sums: Vec<LookupSum>,
    /// Where a packet from a port enters. `None` in a program that has no main package (it is checked, not run).
    pub entry: Option<NodeId>,
    pub budget: Budget,
    /// Names of the error codes, by number. The first seven are those of core.p4, whatever the program includes.
    pub errors: Vec<String>,
    /// The controller's view, frozen when the program was lowered.
    pub interface: Interface,
}

/// A field of a table's key: number `index` of the table's, and its bits in the whole key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyField {
    pub index: usize,
    pub width: u32,
    pub shift: u32,
}

/// A parser: states of the graph that share one outcome.
///
/// When a statement of one of its states fails, the error's code goes to `error`, nothing of that statement has happened, and the packet goes
/// on at `reject`. `accept` is where a state leads by an ordinary edge; it is recorded because passes ask for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parser {
    pub name: String,
    pub start: NodeId,
    pub accept: NodeId,
    pub reject: NodeId,
    pub error: VariableId,
}

/// Limits that end programs that might not end by themselves. A packet that exceeds one is dropped, and counted under the reason of that name. Copies that
/// would exceed one are not made, and each is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How often a packet and its copies may enter the graph again (resubmit, recirculate, clone), by generation.
    pub reentries: u32,
    /// Copies that groups and sessions may make of a received packet, and of all that came of it.
    pub copies: u32,
    /// States that one run through a parser may visit.
    pub states: u32,
    /// Iterations of one loop statement.
    pub iterations: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { reentries: 64, copies: 65536, states: 4096, iterations: 65536 }
    }
}

/// Reasons to drop a packet that every program has; those of a program's own `drop` rules are counted after them.
pub const DROP_REASONS: [&str; 9] = [
    "re-entry budget",
    "copy budget",
    "parser budget",
    "loop budget",
    "no such port",
    "empty multicast group",
    "no headroom",
    "segmented packet",
    "no memory for a copy",
];

/// Codes of the errors that parser statements raise by themselves (core.p4's order).
pub mod error_code {
    pub const NO_ERROR: u32 = 0;
    pub const PACKET_TOO_SHORT: u32 = 1;
    pub const NO_MATCH: u32 = 2;
    pub const STACK_OUT_OF_BOUNDS: u32 = 3;
    pub const HEADER_TOO_SHORT: u32 = 4;
    pub const PARSER_TIMEOUT: u32 = 5;
    pub const PARSER_INVALID_ARGUMENT: u32 = 6;
}

impl Program {
    /// The selector by which entries of a table may lead to groups.
    pub fn selector(&self, table: TableId) -> Option<&Selector> {
        self.profiles[self.tables[table].profile?].selector.as_ref()
    }

    /// Where packets enter, or why none can.
    pub fn runnable(&self) -> Result<NodeId, String> {
        self.entry.ok_or_else(|| match self.architecture.as_str() {
            "" | "none" => "the program has no main package, so there is nothing to run".to_string(),
            other => {
                format!(
                    "it is not defined how the parts of the package `{other}` work together, so there is nothing to run"
                )
            }
        })
    }

    /// The type of what `place` holds.
    pub fn place_type(&self, place: Place) -> Type {
        match place {
            Place::Variable(variable) => self.variables[variable].kind,
            Place::Field(field) => Type::Bits(self.field(field).width),
        }
    }

    pub fn field(&self, field: FieldRef) -> &Field {
        &self.headers[field.header].fields[field.field as usize]
    }

    /// Every reason for which this program drops packets, in the order in which both engines count them.
    pub fn drop_reasons(&self) -> Vec<String> {
        let own = self.nodes.iter().flat_map(|(_, node)| node.drop_reasons());
        let mut reasons: Vec<String> = DROP_REASONS.iter().map(|reason| reason.to_string()).collect();
        for reason in own {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }

    /// The states of `parser`, in the order of the program.
    pub fn states(&self, parser: ParserId) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().filter(move |(_, node)| node.parser() == Some(parser)).map(|(id, _)| id)
    }

    /// The type of `expression`, in the body of an action whose parameters are `parameters` bits wide.
    pub fn expression_type(&self, expression: &Expression, parameters: &[u32]) -> Type {
        expression.type_in(self, parameters)
    }

    /// Kinds and widths of a table's keys, as [`Structure`](crate::plan::Structure) asks for them.
    pub fn key_kinds(&self, table: TableId) -> Vec<(MatchKind, u32)> {
        let keys = self.tables[table].keys.iter();
        keys.map(|key| (key.kind, self.expression_type(&key.value, &[]).width())).collect()
    }

    /// Whether each entry of a table has a record of its own, though others may run the same action with the same data: it is counted, metered or aged by
    /// itself.
    pub fn has_own_records(&self, table: TableId) -> bool {
        self.tables[table].idle_timeout.is_some() || self.has_direct_elements(table)
    }

    /// Whether entries of a table have a timer or a direct meter each.
    pub fn has_timers_or_meters(&self, table: TableId) -> bool {
        self.tables[table].idle_timeout.is_some() || self.meters.values().any(|meter| meter.table == Some(table))
    }

    /// Whether each entry of a table has direct counters or meters.
    pub fn has_direct_elements(&self, table: TableId) -> bool {
        let is_counted = self.counters.values().any(|counter| counter.table == Some(table));
        is_counted || self.meters.values().any(|meter| meter.table == Some(table))
    }

    /// Kind and width of the keys that a table's structure holds: all but those [left out](Program::left_out). Where only
    /// keys that are left out have priorities, the others count as ternary: entries that differ in their priority alone
    /// may be in the table. Where all entries [have the same masks](Program::has_equal_masks), the keys are exact.
    pub fn held_keys(&self, table: TableId) -> Vec<(MatchKind, u32)> {
        self.held_of(table, self.key_kinds(table))
    }

    /// The same of these kinds and widths of all keys.
    pub(crate) fn held_of(&self, table: TableId, kinds: Vec<(MatchKind, u32)>) -> Vec<(MatchKind, u32)> {
        let mut held: Vec<(MatchKind, u32)> =
            (0..).zip(kinds).filter(|(key, _)| self.left_out(table, *key).is_none()).map(|(_, kind)| kind).collect();
        if self.has_equal_masks(table) {
            held.iter_mut().for_each(|(kind, _)| *kind = MatchKind::Exact);
        } else if self.tables[table].has_priorities() && !held.iter().any(|(kind, _)| kind.has_priorities()) {
            held.iter_mut().for_each(|(kind, _)| *kind = MatchKind::Ternary);
        }
        held
    }

    /// The mask that all entries have of a key that is declared as another kind but held as an exact one.
    pub fn held_mask(&self, table: TableId, key: u32) -> Option<&BigUint> {
        let is_exact = self.tables[table].keys[key as usize].kind == MatchKind::Exact;
        self.mask_of_all(table, key).filter(|_| !is_exact && self.has_equal_masks(table))
    }

    /// The mask of a key that all entries are known to have.
    fn mask_of_all(&self, table: TableId, number: u32) -> Option<&BigUint> {
        self.assumptions.iter().filter(|one| one.table == table).find_map(|one| match &one.fact {
            Fact::Mask { key, mask } => (*key == number).then_some(mask),
            Fact::Empty
            | Fact::Default(_)
            | Fact::Entries(_)
            | Fact::Leading(_)
            | Fact::Actions(_)
            | Fact::Argument { .. }
            | Fact::Any(_)
            | Fact::Key { .. }
            | Fact::Distinct
            | Fact::Unmetered => None,
        })
    }

    /// Whether a table's structure can hold keys as exact ones that are declared as others: all entries distinguish the same
    /// bits of them, lookups have no others, and one entry at most has the bits of a lookup.
    pub fn has_equal_masks(&self, table: TableId) -> bool {
        let declared = &self.tables[table];
        let of_table = || self.assumptions.iter().filter(|one| one.table == table);
        let is_distinct = !declared.has_priorities() || of_table().any(|one| one.fact == Fact::Distinct);
        let is_fixed = |number: u32, key: &Key| {
            let width = self.expression_type(&key.value, &[]).width();
            let masked = |mask: &BigUint| mask.count_ones() == u64::from(width) || key.value.is_masked_by(mask);
            key.kind == MatchKind::Exact
                || self.left_out(table, number).is_some()
                || key.kind != MatchKind::Range && self.mask_of_all(table, number).is_some_and(masked)
        };
        let is_declared_so = declared.keys.iter().all(|key| key.kind == MatchKind::Exact);
        let are_fixed = || (0u32..).zip(&declared.keys).all(|(number, key)| is_fixed(number, key));
        !is_declared_so && is_distinct && !self.has_timers_or_meters(table) && are_fixed()
    }

    /// What all entries match of a key that the structure of a table leaves out: any value, or the one that all lookups have.
    /// A structure holds one key at least.
    pub fn left_out(&self, table: TableId, key: u32) -> Option<Match> {
        let same = self.same_everywhere(table, key)?;
        let others = 0..self.tables[table].keys.len() as u32;
        let is_held = |key: u32| self.same_everywhere(table, key).is_none();
        others.filter(|other| *other != key).any(is_held).then_some(same)
    }

    /// What all entries match of a key, if every lookup has it. Not of tables whose entries have state that is not in the
    /// store: a structure of its own would lose it when code is exchanged.
    fn same_everywhere(&self, table: TableId, key: u32) -> Option<Match> {
        let declared = &self.tables[table];
        if self.has_timers_or_meters(table) {
            return None;
        }
        let Key { value: Expression::Constant { value, .. }, kind, .. } = &declared.keys[key as usize] else {
            return None;
        };
        let same = |one: &Assumption| match &one.fact {
            Fact::Any(number) => (*number == key).then_some(Match::Any),
            Fact::Key { key: number, value: of_entries } => {
                (*number == key && of_entries == value).then(|| Match::Exact(value.clone()))
            }
            Fact::Empty
            | Fact::Default(_)
            | Fact::Entries(_)
            | Fact::Leading(_)
            | Fact::Actions(_)
            | Fact::Argument { .. }
            | Fact::Mask { .. }
            | Fact::Distinct
            | Fact::Unmetered => None,
        };
        // Structures prepare for each range that the table declares.
        let mut of_table = self.assumptions.iter().filter(|one| one.table == table && *kind != MatchKind::Range);
        of_table.find_map(same)
    }

    /// The fields that a table's structure holds as one number, in the order of the table. The first has the highest bits, but an lpm field is below all
    /// others.
    pub fn key_fields(&self, table: TableId) -> Vec<KeyField> {
        let kinds = self.key_kinds(table);
        let mut order: Vec<usize> = (0..kinds.len()).collect();
        order.retain(|index| self.left_out(table, *index as u32).is_none());
        order.sort_by_key(|index| kinds[*index].0 == MatchKind::Lpm);
        let mut shift: u32 = order.iter().map(|index| kinds[*index].1).sum();
        let mut fields = Vec::new();
        for index in order {
            let width = kinds[index].1;
            shift -= width;
            fields.push(KeyField { index, width, shift });
        }
        fields.sort_by_key(|field| field.index);
        fields
    }
}

impl Expression {
    /// Whether this is something without the bits outside of `mask`, at first sight.
    fn is_masked_by(&self, mask: &BigUint) -> bool {
        let Expression::Binary { operator: Binary::And, left: _, right } = self else { return false };
        matches!(&**right, Expression::Constant { value, .. } if value == mask)
    }

    /// The expression's type, where `parameters` are the widths of the enclosing action's parameters.
    pub fn type_in(&self, program: &Program, parameters: &[u32]) -> Type {
        match self {
            Expression::Bool(_) | Expression::Valid(_) | Expression::VarbitEqual(_, _) => Type::Bool,
            Expression::Constant { width, .. } | Expression::Extend { width, .. } => Type::Bits(*width),
            Expression::Variable(variable) => program.variables[*variable].kind,
            Expression::Field(field) => Type::Bits(program.field(*field).width),
            Expression::Parameter(index) => Type::Bits(parameters.get(*index as usize).copied().unwrap_or(0)),
            Expression::Intrinsic(intrinsic) => Type::Bits(intrinsic.width()),
            Expression::Unary { operand, .. } => operand.type_in(program, parameters),
            Expression::Binary { operator: Binary::Concat, left, right } => {
                Type::Bits(left.type_in(program, parameters).width() + right.type_in(program, parameters).width())
            }
            Expression::Binary { operator, left, .. } => {
                if operator.is_predicate() {
                    Type::Bool
                } else {
                    left.type_in(program, parameters)
                }
            }
            Expression::Slice { high, low, .. } => Type::Bits(high - low + 1),
            Expression::Choose { then, .. } => then.type_in(program, parameters),
            Expression::FromBool(_) => Type::Bits(1),
            Expression::VarbitLength(_) => Type::Bits(32),
        }
    }
}
