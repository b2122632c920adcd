//! A packet that the control plane takes over, and brings back: everything it carries as one struct, written at a punt and read by `resume`.
//!
//! A header that lies in the packet is saved as its offset there, so that it is in place again afterwards; one in scratch is saved with its bytes.

use crate::body::{limbs, storage_bytes, word_type};
use crate::c::{Expr, Item, Member, Stmt, Struct};
use crate::node::without_unused;
use crate::storage::Words;
use crate::unit::{Unit, number};
use hlir::{NodeId, Type};

/// Where a saved header lies, if not at an offset in the packet.
const ABSENT: u32 = 0xffff_ffff;
const SCRATCH: u32 = 0xffff_fffe;

fn name(text: impl Into<String>) -> Expr {
    Expr::name(text)
}

fn both_ways(member: &str) -> [Stmt; 2] {
    let (saved, state) = (name(format!("saved->{member}")), name(format!("state->{member}")));
    [Stmt::set(saved.clone(), state.clone()), Stmt::set(state, saved)]
}

impl Unit<'_> {
    /// `struct saved`, `state_save` and `state_restore`; nothing in a program that never punts.
    pub fn saved_items(&self, used: &Words) -> Vec<Item> {
        if !self.facts.punts {
            return Vec::new();
        }
        let mut save = vec![
            Stmt::declare("const uint8_t *const", "data", Expr::call("packet_data", [name("&state->packet")])),
            Stmt::Blank,
            Stmt::call("memset", [name("saved"), name("0"), name("sizeof(*saved)")]),
        ];
        let mut restore = vec![
            Stmt::declare("uint8_t *const", "data", Expr::call("packet_data", [name("&state->packet")])),
            Stmt::Blank,
        ];
        let mut members = Vec::new();
        for (of, member) in self.saved_scalars() {
            let [there, back] = both_ways(&member);
            members.push(Member::plain(of, member, ""));
            save.push(there);
            restore.push(back);
        }
        for index in self.kept_variables(|width| width > 64) {
            let member = &self.names.variables[index];
            let bytes = Expr::word(8 * limbs(self.variable_type(index).width()));
            members.push(Member::plain(
                "uint64_t",
                format!("{member}[{}]", limbs(self.variable_type(index).width())),
                "",
            ));
            let (saved, held) = (name(format!("saved->{member}")), name(format!("state->scratch->{member}")));
            save.push(Stmt::call("memcpy", [saved.clone(), held.clone(), bytes.clone()]));
            restore.push(Stmt::call("memcpy", [held, saved, bytes]));
        }
        for index in self.kept_headers(used) {
            self.saved_header(index, used, &mut members, &mut save, &mut restore);
        }
        let function = |title: &str, parameters: [&str; 2], body: Vec<Stmt>| Item::Function {
            of: "static void".to_string(),
            name: title.to_string(),
            parameters: parameters.map(str::to_string).to_vec(),
            body,
        };
        vec![
            Item::Comment("The state of a packet that the control plane has.".to_string()),
            Item::Struct(Struct { name: "saved".to_string(), members }),
            Item::Blank,
            function("state_save", ["const struct state *state", "struct saved *saved"], without_unused(save)),
            Item::Blank,
            function("state_restore", ["struct state *state", "const struct saved *saved"], without_unused(restore)),
            Item::Blank,
        ]
    }

    /// Members that `struct saved` and `struct state` both have, with their types.
    fn saved_scalars(&self) -> Vec<(&'static str, String)> {
        let mut found = vec![("uint32_t", "cursor".to_string()), ("uint32_t", "port".to_string())];
        if self.facts.random {
            found.extend(["number", "draws", "copies"].map(|member| ("uint64_t", member.to_string())));
        }
        if self.facts.pending {
            found.push(("uint32_t", "generation".to_string()));
        }
        for index in self.kept_variables(|width| width <= 64) {
            let of = match self.variable_type(index) {
                Type::Bool => "bool",
                Type::Bits(width) => word_type(width),
            };
            found.push((of, self.names.variables[index].clone()));
        }
        found
    }

    fn variable_type(&self, index: usize) -> Type {
        self.program.variables.values().nth(index).expect("kept variables are of the program").kind
    }

    fn saved_header(
        &self,
        index: usize,
        used: &Words,
        members: &mut Vec<Member>,
        save: &mut Vec<Stmt>,
        restore: &mut Vec<Stmt>,
    ) {
        let header = self.names.of_header(index, "");
        let id = self.program.headers.iter().nth(index).map(|(id, _)| id).expect("kept headers are of the program");
        let size = storage_bytes(self.program, id);
        let pointer = || name(format!("state->{header}"));
        let scratch = || name(format!("state->scratch->{header}"));
        let place = || name(format!("saved->{}", self.names.of_header(index, "_place")));
        let bytes = || name(format!("saved->{header}"));
        for (part, of) in [("_valid", "bool"), ("_bits", "uint32_t")] {
            if self.mentions_header(used, index, part) {
                let [there, back] = both_ways(&self.names.of_header(index, part));
                self.header_member(members, of, index, part, "");
                save.push(there);
                restore.push(back);
            }
        }
        self.header_member(members, "uint32_t", index, "_place", "offset in the packet");
        self.header_bytes(members, index, size.max(1), "while it is not in the packet");
        let offset = Expr::cast("uint32_t", Expr::binary("-", pointer(), name("data")));
        let in_scratch = Expr::binary("==", pointer(), scratch());
        let elsewhere = Expr::conditional(in_scratch, Expr::word(SCRATCH), offset);
        let absent = Expr::binary("==", pointer(), name("NULL"));
        save.push(Stmt::set(place(), Expr::conditional(absent, Expr::word(ABSENT), elsewhere)));
        let is_scratch = || Expr::binary("==", place(), Expr::word(SCRATCH));
        save.push(Stmt::when(is_scratch(), vec![Stmt::call("memcpy", [bytes(), scratch(), Expr::word(size)])]));
        let copied = Expr::call("memcpy", [scratch(), bytes(), Expr::word(size)]);
        let in_packet = Stmt::set(pointer(), Expr::binary("+", name("data"), place()));
        let there = Expr::binary("!=", place(), Expr::word(ABSENT));
        restore.push(Stmt::If {
            condition: is_scratch(),
            then: vec![Stmt::set(pointer(), copied)],
            otherwise: vec![Stmt::when(there, vec![in_packet])],
        });
    }

    /// The statements of `resume`.
    pub fn resume_body(&self, entry: NodeId) -> Vec<Stmt> {
        let taken = Expr::call("packet_from", [name("packet"), name("length")]);
        let scratch = if self.batched() { "&run.memory->scratch[0]" } else { "&run.memory->scratch" };
        let begun = [name("&state"), taken, name("0"), name(scratch), name("0")];
        let mut walk = vec![name("&run"), name("&state")];
        if self.walk_from(entry).is_some() {
            walk.push(Expr::cast("enum node", Expr::binary("+", name("node"), Expr::word(1))));
        }
        let mut body = vec![
            Stmt::Declare { of: "struct run".to_string(), name: "run".to_string(), value: None },
            Stmt::Declare { of: "struct state".to_string(), name: "state".to_string(), value: None },
            Stmt::Blank,
            Stmt::call("run_begin", [name("&run"), name("worker")]),
            Stmt::call("state_begin", begun),
            Stmt::call("state_restore", [name("&state"), name("saved")]),
        ];
        body.push(Stmt::call("walk", walk));
        if self.facts.pending {
            body.push(Stmt::call("run_pending", [name("&run")]));
        }
        body.push(Stmt::call("run_end", [name("&run")]));
        body
    }

    /// Variables and header bits of a saved packet, for the host.
    pub fn saved_fields(&self, used: &Words) -> Vec<Expr> {
        if !self.facts.punts {
            return Vec::new();
        }
        let field = |title: &str, width: u32, member: &str| {
            Expr::List(vec![
                Expr::designated("name", Expr::text(title)),
                Expr::designated("width", Expr::word(width)),
                Expr::designated("offset", name(format!("offsetof(struct saved, {member})"))),
            ])
        };
        let mut fields = Vec::new();
        for (id, variable) in self.program.variables.iter() {
            if self.facts.variables.contains(&number(id)) {
                fields.push(field(&variable.name, variable.kind.width(), &self.names.variables[number(id)]));
            }
        }
        for index in self.kept_headers(used) {
            if self.mentions_header(used, index, "_valid") {
                let member = self.names.of_header(index, "_valid");
                let title = self.program.headers.values().nth(index).map_or("", |header| &header.name);
                fields.push(field(&format!("{title}.$valid$"), 1, &member));
            }
        }
        fields
    }
}
