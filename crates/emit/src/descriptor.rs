//! The pipeline's description for its host: `struct pipeline` of the ABI, and the arrays it points to.

use crate::c::{Expr, Item};
use crate::storage::Words;
use crate::table::{element_bytes, structure_enumerator};
use crate::unit::{Unit, number};
use hlir::plan::Structure;
use hlir::{CounterUnit, IdleTimeout, Match, MatchKind, MeterUnit};
use num_bigint::BigUint;

fn kind(kind: MatchKind) -> Expr {
    Expr::name(match kind {
        MatchKind::Exact => "MATCH_EXACT",
        MatchKind::Lpm => "MATCH_LPM",
        MatchKind::Ternary => "MATCH_TERNARY",
        MatchKind::Range => "MATCH_RANGE",
        MatchKind::Optional => "MATCH_OPTIONAL",
    })
}

fn word(name: &str, value: u32) -> Expr {
    Expr::designated(name, Expr::word(value))
}

fn field(name: &str, value: &str) -> Expr {
    Expr::designated(name, Expr::name(value))
}

fn text(name: &str, value: &str) -> Expr {
    Expr::designated(name, Expr::text(value))
}

/// A pointer to constants of this type, without a name.
fn array(of: &str, members: Vec<Expr>) -> Expr {
    if members.is_empty() { Expr::name("NULL") } else { Expr::cast(format!("const {of}[]"), Expr::List(members)) }
}

fn texts(texts: impl Iterator<Item = String>) -> Vec<Expr> {
    texts.map(Expr::text).collect()
}

/// A struct without the members that are 0: C sets those that are missing.
fn structure(members: Vec<Expr>) -> Expr {
    let is_zero = |value: &Expr| value.number() == Some(0) || *value == Expr::name("NULL");
    let is_kept = |member: &Expr| !matches!(member, Expr::Designated(_, value) if is_zero(value));
    Expr::List(members.into_iter().filter(is_kept).collect())
}

impl Unit<'_> {
    /// Packets that `process` takes at most.
    pub fn burst(&self) -> u32 {
        if self.plan.burst == 0 { 256 } else { self.plan.burst }
    }

    pub fn descriptor_items(&self, held_bursts: u32, used: &Words) -> Vec<Item> {
        let program = self.program;
        let mut tables: Vec<Expr> = program.tables.iter().map(|(id, _)| self.table_descriptor(id)).collect();
        tables.extend(program.value_sets.iter().map(|(id, _)| self.value_set(id)));
        let nodes = self.facts.order.iter().map(|node| self.node(*node).name.clone());
        let counted_edges = self.facts.edges.iter().filter(|_| self.plan.instrument.edges);
        let edges = counted_edges.map(|(from, to)| format!("{} -> {}", self.node(*from).name, self.node(*to).name));
        let saved = self.saved_fields(used);
        let (mut items, objects) = self.object_descriptors();
        let counted = |named: &'static str, counted: &str, of: &str, members: Vec<Expr>| {
            [word(counted, members.len() as u32), Expr::designated(named, array(of, members))]
        };
        let mut members = vec![
            field("version", "ABI_VERSION"),
            field("descriptor", "PACKET_DESCRIPTOR"),
            field("layout", "ABI_LAYOUT"),
            text("program", &program.name),
            word("burst", self.burst()),
            word("held_bursts", held_bursts),
            field("worker_bytes", "sizeof(struct memory)"),
            field("copy_bytes", if self.copies() { "sizeof(struct copy)" } else { "NULL" }),
            field("process", "process"),
            field("resume", if self.facts.punts { "resume" } else { "NULL" }),
            field("saved_bytes", if self.facts.punts { "sizeof(struct saved)" } else { "NULL" }),
        ];
        members.extend(counted("saved", "saved_count", "struct saved_field", saved));
        members.extend(counted("tables", "table_count", "struct table_descriptor", tables));
        members.extend(counted("counters", "counter_count", "struct counter_descriptor", self.counters()));
        members.extend(counted("meters", "meter_count", "struct meter_descriptor", self.meters()));
        members.extend(counted("registers", "register_count", "struct register_descriptor", self.registers()));
        members.extend(counted("externs", "extern_count", "struct extern_descriptor", objects));
        members.extend(counted("drops", "drop_count", "char *const", texts(self.drops.iter().cloned())));
        members.extend(counted("nodes", "node_count", "char *const", texts(nodes)));
        members.extend(counted("edges", "edge_count", "char *const", texts(edges)));
        let variable =
            |of: &str, value| Item::Variable { of: of.to_string(), name: "bacus_pipeline".to_string(), value };
        items.push(variable("extern const struct pipeline", None));
        items.push(Item::Blank);
        items.push(variable("const struct pipeline", Some(structure(members))));
        items
    }

    fn table_descriptor(&self, id: hlir::TableId) -> Expr {
        let table = &self.program.tables[id];
        let name = self.table_name(id).to_string();
        let fields = self.program.key_fields(id);
        let listed = fields.iter().map(|field| {
            let key = &table.keys[field.index];
            let mask = self.program.held_mask(id, field.index as u32);
            key_field(&key.name, (field.width, field.shift), key.kind, mask)
        });
        let (count, fields) = (fields.len() as u32, array("struct key_field", listed.collect()));
        let bytes = format!("sizeof(struct {name}_record)");
        let idle = table.idle_timeout.map(|idle| match idle {
            IdleTimeout::Notify => "IDLE_NOTIFY",
            IdleTimeout::Delete => "IDLE_DELETE",
        });
        let mut members =
            vec![text("name", &table.name), Expr::designated("structure", structure_enumerator(self.structure(id)))];
        members.extend(self.key_members(self.key_bits(id), count));
        members.push(word("action_count", table.actions.len() as u32));
        members.push(field("record_bytes", &bytes));
        members.push(word("records_own", self.program.has_own_records(id).into()));
        members.push(Expr::designated("size", Expr::long(table.capacity().unwrap_or(0))));
        members.extend(idle.map(|idle| field("idle_timeout", idle)));
        members.push(word("source", number(id) as u32));
        members.extend(self.slot_offset(id).map(|offset| Expr::designated("group_offset", offset)));
        if let Some(part) = self.part(id) {
            members.extend(part.primary.map(|primary| word("primary", number(primary) as u32 + 1)));
            members.extend([word("part_shift", part.shift), word("part_bits", part.bits)]);
        }
        members.push(Expr::designated("fields", fields));
        let left_out = self.left_out_keys(id);
        members.push(word("left_out_count", left_out.len() as u32));
        members.push(Expr::designated("left_out", array("struct left_out_key", left_out)));
        members.push(Expr::designated("actions", array("struct action", self.actions(id, &name))));
        structure(members)
    }

    fn left_out_keys(&self, id: hlir::TableId) -> Vec<Expr> {
        let table = &self.program.tables[id];
        let mut keys = Vec::new();
        for (index, (key, (match_kind, width))) in (0u32..).zip(table.keys.iter().zip(self.program.key_kinds(id))) {
            let value = match self.program.left_out(id, index) {
                None => continue,
                Some(Match::Exact(value)) => limbs_of(&value, width),
                Some(Match::Lpm { .. } | Match::Ternary { .. } | Match::Range { .. } | Match::Any) => Vec::new(),
            };
            keys.push(structure(vec![
                text("name", &key.name),
                word("width", width),
                Expr::designated("kind", kind(match_kind)),
                word("number", index),
                Expr::designated("value", array("uint64_t", value)),
            ]));
        }
        keys
    }

    fn key_members(&self, bits: u32, count: u32) -> [Expr; 3] {
        [word("key_bits", bits), word("key_limbs", crate::body::limbs(bits)), word("field_count", count)]
    }

    fn actions(&self, id: hlir::TableId, name: &str) -> Vec<Expr> {
        let table = &self.program.tables[id];
        let mut actions = Vec::new();
        for (index, action) in table.actions.iter().enumerate() {
            let mut parameters = Vec::new();
            let data = &self.names.actions[number(id)][index];
            let members = &self.names.parameters[number(id)][index];
            for (place, (parameter, member)) in action.parameters.iter().zip(members).enumerate() {
                let bytes = self.in_bytes(id, index, place);
                let form = if bytes { "PARAMETER_BYTES" } else { "PARAMETER_NUMBER" };
                let place = [format!("struct {name}_record"), format!("{data}.{member}")].map(Expr::Name);
                let given = [Expr::text(&parameter.name), Expr::word(parameter.width), Expr::name(form)];
                parameters.push(Expr::call("PARAMETER", given.into_iter().chain(place)));
            }
            actions.push(match parameters.is_empty() {
                true => structure(vec![text("name", &action.name)]),
                false => Expr::call("ACTION", [Expr::text(&action.name)].into_iter().chain(parameters)),
            });
        }
        actions
    }

    /// A value set is a list whose records have no more than that a member matched.
    fn value_set(&self, id: hlir::ValueSetId) -> Expr {
        let set = &self.program.value_sets[id];
        let bits: u32 = set.fields.iter().map(|(_, width, _)| width).sum();
        let mut shift = bits;
        let mut fields = Vec::new();
        for (field, width, match_kind) in &set.fields {
            shift -= width;
            fields.push(key_field(field, (*width, shift), *match_kind, None));
        }
        let count = fields.len() as u32;
        let member = structure(vec![text("name", "member")]);
        let mut members =
            vec![text("name", &set.name), Expr::designated("structure", structure_enumerator(Structure::List))];
        members.extend(self.key_members(bits, count));
        members.push(word("action_count", 1));
        members.push(word("record_bytes", 8));
        members.push(Expr::designated("size", Expr::long(set.size)));
        members.push(word("source", (self.program.tables.len() + number(id)) as u32));
        members.push(Expr::designated("fields", array("struct key_field", fields)));
        members.push(Expr::designated("actions", array("struct action", vec![member])));
        structure(members)
    }

    fn counters(&self) -> Vec<Expr> {
        let all = self.program.counters.values();
        all.map(|counter| {
            // Packets and bytes are counted whatever the unit; the controller reads those of its unit.
            match counter.unit {
                CounterUnit::Packets | CounterUnit::Bytes | CounterUnit::Both => {}
            }
            let table = counter.table.map_or(0, |table| number(table) as u32);
            structure(vec![
                text("name", &counter.name),
                Expr::designated("size", Expr::long(counter.size)),
                word("table", table),
            ])
        })
        .collect()
    }

    fn meters(&self) -> Vec<Expr> {
        let all = self.program.meters.values();
        all.map(|meter| {
            let table = meter.table.map_or(0, |table| number(table) as u32);
            structure(vec![
                text("name", &meter.name),
                Expr::designated("size", Expr::long(meter.size)),
                word("table", table),
                word("bytes", (meter.unit == MeterUnit::Bytes).into()),
            ])
        })
        .collect()
    }

    /// Registers, and behind them the parameters of CRCs.
    fn registers(&self) -> Vec<Expr> {
        let mut members = Vec::new();
        for register in self.program.registers.values() {
            let mut limbs: Vec<Expr> = Vec::new();
            if register.initial.bits() > 0 {
                limbs = register.initial.iter_u64_digits().map(Expr::long).collect();
                limbs.resize(crate::body::limbs(register.width) as usize, Expr::long(0));
            }
            members.push(structure(vec![
                text("name", &register.name),
                Expr::designated("size", Expr::long(register.size)),
                word("width", register.width),
                word("element_bytes", element_bytes(register.width)),
                Expr::designated("initial", array("uint64_t", limbs)),
            ]));
        }
        members.extend(self.program.crcs.values().map(|crc| {
            structure(vec![
                text("name", &hlir::crc::array_name(&crc.name)),
                Expr::designated("size", Expr::name("1 + 2 * HASH_CRC_WORDS")),
                word("width", 32),
                word("element_bytes", 4),
                Expr::designated("initial", array("uint64_t", Vec::new())),
            ])
        }));
        members
    }
}

fn key_field(name: &str, (width, shift): (u32, u32), match_kind: MatchKind, mask: Option<&BigUint>) -> Expr {
    let mut members = vec![
        text("name", name),
        word("width", width),
        word("shift", shift),
        Expr::designated("kind", kind(match_kind)),
    ];
    members.extend(mask.map(|mask| Expr::designated("mask", array("uint64_t", limbs_of(mask, width)))));
    structure(members)
}

/// A number of so many bits, low limb first.
fn limbs_of(value: &BigUint, width: u32) -> Vec<Expr> {
    let limb = |at: u32| Expr::long(value.iter_u64_digits().nth(at as usize).unwrap_or(0));
    (0..crate::body::limbs(width)).map(limb).collect()
}
