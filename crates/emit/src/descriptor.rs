//! What the pipeline tells its host about itself: `struct pipeline` of the ABI, and the arrays it points to.

use crate::c::{Expr, Item};
use crate::storage::Words;
use crate::table::{cell_bytes, structure_enumerator};
use crate::unit::{Unit, number};
use hlir::plan::Structure;
use hlir::{CounterUnit, IdleTimeout, MatchKind, MeterUnit};

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

/// `static const OF NAME[] = { ... };`, or nothing for no members; and what to call it.
fn array(items: &mut Vec<Item>, of: &str, name: &str, members: Vec<Expr>) -> Expr {
    if members.is_empty() {
        return Expr::name("NULL");
    }
    items.push(Item::Variable {
        of: format!("static const {of}"),
        name: format!("{name}[]"),
        value: Some(Expr::List(members)),
    });
    items.push(Item::Blank);
    Expr::name(name)
}

fn pointers(items: &mut Vec<Item>, name: &str, texts: impl Iterator<Item = String>) -> Expr {
    let members: Vec<Expr> = texts.map(Expr::text).collect();
    if members.is_empty() {
        return Expr::name("NULL");
    }
    let of = "static const char *const".to_string();
    items.push(Item::Variable { of, name: format!("{name}[]"), value: Some(Expr::List(members)) });
    items.push(Item::Blank);
    Expr::name(name)
}

impl Unit<'_> {
    /// Packets that `process` takes at most.
    pub fn burst(&self) -> u32 {
        if self.plan.burst == 0 { 256 } else { self.plan.burst }
    }

    pub fn descriptor_items(&self, held_bursts: u32, used: &Words) -> Vec<Item> {
        let mut items = Vec::new();
        let program = self.program;
        let mut tables: Vec<Expr> =
            program.tables.iter().map(|(id, _)| self.table_descriptor(&mut items, id)).collect();
        tables.extend(program.value_sets.iter().map(|(id, _)| self.value_set(&mut items, id)).collect::<Vec<_>>());
        let count = |of: usize| of as u32;
        let mut members = vec![
            field("version", "ABI_VERSION"),
            field("descriptor", "PACKET_DESCRIPTOR"),
            field("layout", "ABI_LAYOUT"),
            text("program", &program.name),
            word("burst", self.burst()),
            word("table_count", count(tables.len())),
            word("counter_count", count(program.counters.len())),
            word("meter_count", count(program.meters.len())),
            word("register_count", count(program.registers.len())),
            word("drop_count", count(self.drops.len())),
            word("node_count", count(self.facts.order.len())),
            word("edge_count", count(self.facts.edges.len())),
        ];
        let named = |name: &str, value: Expr| Expr::designated(name, value);
        members.push(named("tables", array(&mut items, "struct table_descriptor", "pipeline_tables", tables)));
        let counters = self.counters();
        members.push(named("counters", array(&mut items, "struct counter_descriptor", "pipeline_counters", counters)));
        let meters = self.meters();
        members.push(named("meters", array(&mut items, "struct meter_descriptor", "pipeline_meters", meters)));
        let registers = self.registers(&mut items);
        members
            .push(named("registers", array(&mut items, "struct register_descriptor", "pipeline_registers", registers)));
        let drops = self.drops.iter().cloned();
        members.push(named("drops", pointers(&mut items, "pipeline_drops", drops)));
        let nodes = self.facts.order.iter().map(|node| self.node(*node).name.clone());
        members.push(named("nodes", pointers(&mut items, "pipeline_nodes", nodes)));
        let edges =
            self.facts.edges.iter().map(|(from, to)| format!("{} -> {}", self.node(*from).name, self.node(*to).name));
        members.push(named("edges", pointers(&mut items, "pipeline_edges", edges)));
        let saved = self.saved_fields(used);
        members.push(word("saved_count", saved.len() as u32));
        members.push(field("saved_bytes", if self.facts.punts { "sizeof(struct saved)" } else { "0" }));
        members.push(named("saved", array(&mut items, "struct saved_field", "pipeline_saved", saved)));
        members.push(field("worker_bytes", "sizeof(struct memory)"));
        members.extend(self.copies().then(|| field("copy_bytes", "sizeof(struct copy)")));
        members.extend(self.extern_members(&mut items));
        members.extend((held_bursts != 0).then(|| word("held_bursts", held_bursts)));
        for name in ["attach", "detach", "process", "resume"] {
            members.push(field(name, name));
        }
        let pipeline = "bacus_pipeline".to_string();
        items.push(Item::Variable {
            of: "extern const struct pipeline".to_string(),
            name: pipeline.clone(),
            value: None,
        });
        items.push(Item::Blank);
        items.push(Item::Variable {
            of: "const struct pipeline".to_string(),
            name: pipeline,
            value: Some(Expr::List(members)),
        });
        items
    }

    /// The objects of custom externs, where there are some.
    fn extern_members(&self, items: &mut Vec<Item>) -> Vec<Expr> {
        let (functions, objects) = self.object_descriptors();
        items.extend(functions);
        if objects.is_empty() {
            return Vec::new();
        }
        let count = word("extern_count", objects.len() as u32);
        let objects = array(items, "struct extern_descriptor", "pipeline_externs", objects);
        vec![count, Expr::designated("externs", objects)]
    }

    fn table_descriptor(&self, items: &mut Vec<Item>, id: hlir::TableId) -> Expr {
        let table = &self.program.tables[id];
        let name = self.table_name(id).to_string();
        let fields = self.program.key_fields(id);
        let listed = fields.iter().map(|field| {
            let key = &table.keys[field.index];
            key_field(&key.name, field.width, field.shift, key.kind)
        });
        let fields = array(items, "struct key_field", &format!("{name}_fields"), listed.collect());
        let actions = self.actions(items, id, &name);
        let bytes = format!("sizeof(struct {name}_record)");
        let mut members =
            vec![text("name", &table.name), Expr::designated("structure", structure_enumerator(self.structure(id)))];
        members.extend(self.key_members(self.key_bits(id), table.keys.len() as u32));
        members.push(Expr::designated("fields", fields));
        members.push(word("action_count", table.actions.len() as u32));
        members.push(Expr::designated("actions", actions));
        members.push(field("record_bytes", &bytes));
        members.push(word("records_own", self.program.has_own_records(id).into()));
        members.push(Expr::designated("size", Expr::long(table.capacity().unwrap_or(0))));
        let idle = match table.idle_timeout {
            None => "IDLE_NONE",
            Some(IdleTimeout::Notify) => "IDLE_NOTIFY",
            Some(IdleTimeout::Delete) => "IDLE_DELETE",
        };
        members.push(field("idle_timeout", idle));
        members.push(word("source", number(id) as u32));
        members.extend(self.slot_offset(id).map(|offset| Expr::designated("group_offset", offset)));
        if let Some(part) = self.part(id) {
            members.extend(part.primary.map(|primary| word("primary", number(primary) as u32 + 1)));
            members.extend([word("part_shift", part.shift), word("part_bits", part.bits)]);
        }
        Expr::List(members)
    }

    fn key_members(&self, bits: u32, count: u32) -> [Expr; 3] {
        [word("key_bits", bits), word("key_limbs", crate::body::limbs(bits)), word("field_count", count)]
    }

    fn actions(&self, items: &mut Vec<Item>, id: hlir::TableId, name: &str) -> Expr {
        let table = &self.program.tables[id];
        let mut actions = Vec::new();
        for (index, action) in table.actions.iter().enumerate() {
            let mut parameters = Vec::new();
            let data = &self.names.actions[number(id)][index];
            let members = &self.names.parameters[number(id)][index];
            for (place, (parameter, member)) in action.parameters.iter().zip(members).enumerate() {
                let bytes = self.in_bytes(id, index, place);
                let offset = format!("offsetof(struct {name}_record, {data}.{member})");
                let mut members = vec![text("name", &parameter.name), word("width", parameter.width)];
                members.push(field("offset", &offset));
                members.extend(bytes.then(|| field("form", "PARAMETER_BYTES")));
                parameters.push(Expr::List(members));
            }
            let count = parameters.len() as u32;
            let listed = array(items, "struct parameter", &format!("{name}_{data}_parameters"), parameters);
            actions.push(Expr::List(vec![
                text("name", &action.name),
                word("parameter_count", count),
                Expr::designated("parameters", listed),
            ]));
        }
        array(items, "struct action", &format!("{name}_actions"), actions)
    }

    /// A value set is a list whose records say no more than that a member matched.
    fn value_set(&self, items: &mut Vec<Item>, id: hlir::ValueSetId) -> Expr {
        let set = &self.program.value_sets[id];
        let name = &self.names.value_sets[number(id)];
        let bits: u32 = set.fields.iter().map(|(_, width, _)| width).sum();
        let mut shift = bits;
        let mut fields = Vec::new();
        for (field, width, match_kind) in &set.fields {
            shift -= width;
            fields.push(key_field(field, *width, shift, *match_kind));
        }
        let count = fields.len() as u32;
        let fields = array(items, "struct key_field", &format!("{name}_fields"), fields);
        let member = Expr::List(vec![text("name", "member"), word("parameter_count", 0), field("parameters", "NULL")]);
        let actions = array(items, "struct action", &format!("{name}_actions"), vec![member]);
        let mut members =
            vec![text("name", &set.name), Expr::designated("structure", structure_enumerator(Structure::List))];
        members.extend(self.key_members(bits, count));
        members.push(Expr::designated("fields", fields));
        members.push(word("action_count", 1));
        members.push(Expr::designated("actions", actions));
        members.push(word("record_bytes", 8));
        members.push(Expr::designated("size", Expr::long(set.size)));
        members.push(word("source", (self.program.tables.len() + number(id)) as u32));
        Expr::List(members)
    }

    fn counters(&self) -> Vec<Expr> {
        let all = self.program.counters.values();
        all.map(|counter| {
            // Packets and bytes are counted whatever the unit; it says what the controller is shown.
            match counter.unit {
                CounterUnit::Packets | CounterUnit::Bytes | CounterUnit::Both => {}
            }
            let table = counter.table.map_or(0, |table| number(table) as u32);
            Expr::List(vec![
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
            Expr::List(vec![
                text("name", &meter.name),
                Expr::designated("size", Expr::long(meter.size)),
                word("table", table),
                word("bytes", (meter.unit == MeterUnit::Bytes).into()),
            ])
        })
        .collect()
    }

    fn registers(&self, items: &mut Vec<Item>) -> Vec<Expr> {
        let mut members = Vec::new();
        for (id, register) in self.program.registers.iter() {
            let mut limbs: Vec<Expr> = Vec::new();
            if register.initial.bits() > 0 {
                limbs = register.initial.iter_u64_digits().map(Expr::long).collect();
                limbs.resize(crate::body::limbs(register.width) as usize, Expr::long(0));
            }
            let initial = array(items, "uint64_t", &format!("register_{}_initial", number(id)), limbs);
            members.push(Expr::List(vec![
                text("name", &register.name),
                Expr::designated("size", Expr::long(register.size)),
                word("width", register.width),
                word("cell_bytes", cell_bytes(register.width)),
                Expr::designated("initial", initial),
            ]));
        }
        members
    }
}

fn key_field(name: &str, width: u32, shift: u32, match_kind: MatchKind) -> Expr {
    Expr::List(vec![
        text("name", name),
        word("width", width),
        word("shift", shift),
        Expr::designated("kind", kind(match_kind)),
    ])
}
