//! Copies of packets, and the queue of those that enter again: functions that only programs with copies have.
//!
//! A copy has its state and scratch in memory of its own: the worker has room for as many as there are packet buffers, and a list of those that were used and
//! are free. What is left of a received packet's budget for copies is a number in the worker's memory, from the first copy to the end of the burst; all that
//! came of the packet points to it.

use crate::body::drop_reason;
use crate::c::{Expr, Item, Stmt};
use crate::storage::Words;
use crate::unit::Unit;
use hlir::Bytes;

fn name(text: &str) -> Expr {
    Expr::name(text)
}

fn set(target: &str, value: &str) -> Stmt {
    Stmt::set(name(target), name(value))
}

fn function(of: &str, title: &str, parameters: &[&str], body: Vec<Stmt>) -> [Item; 2] {
    let parameters = parameters.iter().map(|parameter| parameter.to_string()).collect();
    [Item::Function { of: of.to_string(), name: title.to_string(), parameters, body }, Item::Blank]
}

const RUN: &str = "struct run *run";
const WHOLE: &str = "const struct state *whole";
const RARE: &str = "static __attribute__((noinline))";

impl Unit<'_> {
    pub fn copy_items(&self, used: &Words) -> Vec<Item> {
        let mut items = Vec::new();
        if self.facts.multiplies {
            let about = "The number of copies that a packet's budget allows; the others are counted as drops.";
            items.push(Item::Comment(about.to_string()));
            let parameters = [RUN, "struct state *state", "uint32_t wanted"];
            items.extend(function("INLINE uint32_t", "budget_take", &parameters, self.budget_take()));
        }
        items.push(Item::Comment("Memory for a copy, or NULL.".to_string()));
        items.extend(function(&format!("{RARE} struct copy *"), "copy_take", &[RUN], copy_take()));
        items.push(Item::Comment("Frees a copy after its packet was sent.".to_string()));
        items.extend(function(
            "static void",
            "copy_give",
            &[RUN, "struct copy *copy"],
            vec![set("copy->next", "run->memory->copies"), set("run->memory->copies", "copy")],
        ));
        items.push(Item::Comment("A copy with the variables of `whole`, and `packet` for its bytes.".to_string()));
        let parameters = [RUN, WHOLE, "struct packet packet"];
        items.extend(function(&format!("{RARE} struct copy *"), "copy_begin", &parameters, self.copy_begin()));
        items.push(Item::Comment("All headers of a copy become what they are at the start of a packet.".to_string()));
        items.extend(function("static void", "copy_forget", &["struct state *state"], self.copy_forget(used)));
        items.extend(self.copy_kinds(used));
        if self.facts.pending {
            let parameters = [RUN, "struct copy *copy", "enum node at"];
            items.push(Item::Comment("Appends a packet to those that will re-enter.".to_string()));
            items.extend(function("static void", "run_enqueue", &parameters, self.enqueue()));
        }
        items
    }

    /// Budgets are numbered per burst and last as long. A packet resumed by the control plane begins another
    /// one. A packet that is kept for another burst has none yet, or is no longer copied; the verifier
    /// ensures that.
    fn budget_take(&self) -> Vec<Stmt> {
        let left = || name("*state->budget");
        let reason = "copy budget";
        let drops = Expr::index(name("run->worker->drops"), drop_reason(reason, self.drop_number(reason)));
        let taken = Expr::conditional(Expr::binary("<", name("wanted"), left()), name("wanted"), left());
        let others = Expr::binary("-", name("wanted"), name("taken"));
        let first = vec![
            set("state->budget", "&run->memory->budgets[run->memory->copied++]"),
            Stmt::set(left(), Expr::word(self.program.budget.copies)),
        ];
        vec![
            Stmt::when(Expr::binary("==", name("state->budget"), name("NULL")), first),
            Stmt::declare("const uint32_t", "taken", taken),
            Stmt::Blank,
            Stmt::Assign(left(), "-=", name("taken")),
            Stmt::call("counter_increase", [Expr::unary("&", drops), others]),
            Stmt::result(name("taken")),
        ]
    }

    fn copy_begin(&self) -> Vec<Stmt> {
        let mut body = vec![
            Stmt::declare("struct copy *const", "copy", Expr::call("copy_take", [name("run")])),
            Stmt::Blank,
            Stmt::when(
                Expr::binary("==", name("copy"), name("NULL")),
                vec![Stmt::call("packet_drop", [name("run->worker"), name("&packet")]), Stmt::result(name("NULL"))],
            ),
            set("copy->scratch", "*whole->scratch"),
            set("copy->state", "*whole"),
            set("copy->state.scratch", "&copy->scratch"),
            set("copy->state.packet", "packet"),
        ];
        if self.facts.original {
            let moved = Expr::binary("-", name("whole->original"), Expr::call("packet_data", [name("&whole->packet")]));
            let place = Expr::binary("+", Expr::call("packet_data", [name("&packet")]), moved);
            body.push(Stmt::set(name("copy->state.original"), place));
        }
        for parser in &self.facts.cyclic {
            body.push(Stmt::set(Expr::Name(format!("copy->state.{}", self.names.parsers[*parser])), Expr::word(0)));
        }
        if self.facts.random {
            let number = Expr::call("random_copy_number", [name("whole->number"), name("whole->copies")]);
            body.push(Stmt::set(name("copy->state.number"), number));
            body.push(Stmt::set(name("copy->state.draws"), Expr::word(0)));
            body.push(Stmt::set(name("copy->state.copies"), Expr::word(0)));
        }
        body.push(Stmt::result(name("copy")));
        body
    }

    fn copy_forget(&self, used: &Words) -> Vec<Stmt> {
        let mut body = vec![Stmt::set(name("state->cursor"), Expr::word(0))];
        for index in self.kept_headers(used) {
            for (part, value) in [("", "NULL"), ("_valid", "false"), ("_bits", "0")] {
                let declared = self.names.declared_of_header(index, part, "");
                if part.is_empty() || self.mentions_header(used, index, part) {
                    body.extend(declared.map(|member| crate::stack::zeroed("state->", &member, name(value))));
                }
            }
        }
        body
    }

    /// One function for each way to begin.
    fn copy_kinds(&self, used: &Words) -> Vec<Item> {
        let of = format!("{RARE} struct copy *");
        let parameters = [RUN, WHOLE];
        let copied = |source: &str| {
            let made = Expr::call(source, [name("run->worker"), name("&whole->packet"), name("&packet")]);
            vec![
                Stmt::Declare { of: "struct packet".to_string(), name: "packet".to_string(), value: None },
                Stmt::Declare { of: "struct copy *".to_string(), name: "copy".to_string(), value: None },
                Stmt::Blank,
                Stmt::when(Expr::unary("!", made), vec![Stmt::result(name("NULL"))]),
                Stmt::set(name("copy"), Expr::call("copy_begin", ["run", "whole", "packet"].map(name))),
            ]
        };
        let some = |then: Vec<Stmt>| Stmt::when(Expr::binary("!=", name("copy"), name("NULL")), then);
        let forget = || some(vec![Stmt::call("copy_forget", [name("&copy->state")])]);
        let mut items = Vec::new();
        let mut deparsed = copied("packet_copy");
        deparsed.extend([forget(), Stmt::result(name("copy"))]);
        items.push(Item::Comment("A copy with the packet's bytes as they are now, to be parsed.".to_string()));
        items.extend(function(&of, "copy_deparsed", &parameters, deparsed));
        let mut current = copied("packet_copy");
        current.extend([some(self.relocate(used)), Stmt::result(name("copy"))]);
        items.push(Item::Comment("A copy that continues as the packet is, headers included.".to_string()));
        items.extend(function(&of, "copy_current", &parameters, current));
        items.extend(self.reference_kinds(used));
        if self.facts.original {
            let mut original = copied("packet_copy");
            let front = format!("copy_original_packet(run, whole, &packet, {}u)", self.original_bytes());
            original[3] = Stmt::when(Expr::unary("!", Expr::Name(front)), vec![Stmt::result(name("NULL"))]);
            let front = Stmt::set(name("copy->state.original"), Expr::call("packet_data", [name("&packet")]));
            original.extend([some(vec![front]), forget(), Stmt::result(name("copy"))]);
            items.push(Item::Comment(
                "The packet as received: its front was saved, the rest is unchanged. 0: no memory.".to_string(),
            ));
            let parameters_packet = [RUN, WHOLE, "struct packet *packet", "uint32_t saved"];
            items.extend(function("static int", "copy_original_packet", &parameters_packet, original_packet()));
            items.push(Item::Comment("A copy with the packet's bytes as received, to be parsed.".to_string()));
            items.extend(function(&of, "copy_original", &parameters, original));
        }
        items
    }

    /// The same without bytes of their own, which they only read.
    fn reference_kinds(&self, used: &Words) -> Vec<Item> {
        let shared = self.shared_bytes();
        let mut items = Vec::new();
        let kinds = [
            (Bytes::Current, "copy_reference", "copy_current", self.relocate(used)),
            (Bytes::Deparsed, "copy_shared", "copy_deparsed", vec![Stmt::call("copy_forget", [name("&copy->state")])]),
        ];
        for (bytes, title, own, place) in kinds {
            if !shared.contains(&bytes) {
                continue;
            }
            let taken = Expr::call("packet_reference", [name("run->worker"), name("&packet")]);
            let mut refused = Expr::unary("!", taken);
            // A parser gathers what it reads, which writes an mbuf of several segments.
            if bytes == Bytes::Deparsed && !self.own() {
                let of_packet = |function: &str| Expr::call(function, [name("&packet")]);
                let parts = Expr::binary("!=", of_packet("packet_contiguous"), of_packet("packet_length"));
                refused = Expr::binary("||", parts, refused);
            }
            let own = Expr::call(own, ["run", "whole"].map(name));
            let body = vec![
                Stmt::declare("const struct packet", "packet", name("whole->packet")),
                Stmt::Declare { of: "struct copy *".to_string(), name: "copy".to_string(), value: None },
                Stmt::Blank,
                Stmt::when(refused, vec![Stmt::result(own)]),
                Stmt::set(name("copy"), Expr::call("copy_begin", ["run", "whole", "packet"].map(name))),
                Stmt::when(Expr::binary("!=", name("copy"), name("NULL")), place),
                Stmt::result(name("copy")),
            ];
            items.push(Item::Comment("The same without bytes of its own, which it only reads.".to_string()));
            items.extend(function(&format!("{RARE} struct copy *"), title, &[RUN, WHOLE], body));
        }
        items
    }

    /// Headers of a copy point into its own packet, or its own scratch.
    fn relocate(&self, used: &Words) -> Vec<Stmt> {
        let data = Expr::call("packet_data", [name("&copy->state.packet")]);
        let old = Expr::call("packet_data", [name("&whole->packet")]);
        let mut body =
            vec![Stmt::declare("uint8_t *const", "data", data), Stmt::declare("const uint8_t *const", "old", old)];
        for index in self.kept_headers(used) {
            let header = self.names.of_header(index, "");
            let (to, from) = (format!("copy->state.{header}"), format!("whole->{header}"));
            let scratch = Expr::binary("==", Expr::Name(from.clone()), Expr::Name(format!("whole->scratch->{header}")));
            let moved = Expr::binary("+", name("data"), Expr::binary("-", Expr::Name(from.clone()), name("old")));
            let place = Expr::conditional(scratch, Expr::Name(format!("copy->scratch.{header}")), moved);
            let there = Expr::binary("!=", Expr::Name(from), name("NULL"));
            body.push(Stmt::when(there, vec![Stmt::set(Expr::Name(to), place)]));
        }
        if body.len() == 2 { vec![Stmt::Blank] } else { body }
    }

    fn enqueue(&self) -> Vec<Stmt> {
        let reason = "re-entry budget";
        let over = vec![
            Stmt::call(
                "walk_drop",
                [name("run->worker"), name("copy->state.packet"), drop_reason(reason, self.drop_number(reason))],
            ),
            Stmt::call("copy_give", [name("run"), name("copy")]),
            Stmt::Return(None),
        ];
        let generation = name("copy->state.generation");
        vec![
            Stmt::Assign(generation.clone(), "+=", Expr::word(1)),
            Stmt::when(Expr::binary(">", generation, Expr::word(self.program.budget.reentries)), over),
            set("copy->at", "at"),
            set("copy->next", "NULL"),
            Stmt::If {
                condition: Expr::binary("==", name("run->memory->first"), name("NULL")),
                then: vec![set("run->memory->first", "copy")],
                otherwise: vec![set("run->memory->last->next", "copy")],
            },
            set("run->memory->last", "copy"),
        ]
    }
}

fn copy_take() -> Vec<Stmt> {
    vec![
        Stmt::declare("struct copy *", "copy", name("run->memory->copies")),
        Stmt::Blank,
        Stmt::when(
            Expr::binary("==", name("copy"), name("NULL")),
            vec![
                Stmt::when(
                    Expr::binary("==", name("run->memory->used_copies"), name("run->worker->pool->count")),
                    vec![Stmt::result(name("NULL"))],
                ),
                Stmt::set(
                    name("copy"),
                    Expr::call("walk_copies", [name("run->worker"), name("sizeof(struct memory)")]),
                ),
                Stmt::result(Expr::binary("+", name("copy"), name("run->memory->used_copies++"))),
            ],
        ),
        set("run->memory->copies", "copy->next"),
        Stmt::result(name("copy")),
    ]
}

fn original_packet() -> Vec<Stmt> {
    let length = || name("whole->original_length");
    let smaller = |one: Expr, other: Expr| Expr::conditional(Expr::binary("<", one.clone(), other.clone()), one, other);
    let allocated = Expr::call("run->worker->pool->allocate", [name("run->worker->pool")]);
    let moved = Expr::binary("-", Expr::call("packet_data", [name("&whole->packet")]), name("whole->original"));
    let offset = Expr::cast("uint32_t", Expr::binary("-", Expr::cast("ptrdiff_t", name("front")), moved));
    let added = |bytes: &str, count: &str| {
        let added = Expr::call("packet_add", [name("run->worker"), name("packet"), name(bytes), name(count)]);
        let dropped = Stmt::call("packet_drop", [name("run->worker"), name("packet")]);
        Stmt::when(Expr::unary("!", added), vec![dropped, Stmt::result(name("0"))])
    };
    let rest = Expr::binary("-", length(), name("at"));
    vec![
        Stmt::declare("const uint32_t", "front", smaller(name("saved"), length())),
        Stmt::declare("void *const", "handle", allocated),
        Stmt::Declare { of: "struct packet_segment".to_string(), name: "segment".to_string(), value: None },
        Stmt::Blank,
        Stmt::when(Expr::binary("==", name("handle"), name("NULL")), vec![Stmt::result(name("0"))]),
        Stmt::set(name("*packet"), Expr::call("packet_from", [name("handle"), Expr::word(0)])),
        added("whole->scratch->original", "front"),
        Stmt::when(Expr::binary("==", name("front"), length()), vec![Stmt::result(name("1"))]),
        Stmt::set(name("segment"), Expr::call("packet_segment", [name("&whole->packet"), offset])),
        Stmt::declare("uint32_t", "at", name("front")),
        Stmt::While(
            Expr::binary("<", name("at"), length()),
            vec![
                Stmt::declare("const uint32_t", "part", smaller(name("segment.length"), rest)),
                Stmt::Blank,
                added("segment.data", "part"),
                Stmt::Assign(name("at"), "+=", name("part")),
                Stmt::when(Expr::unary("!", Expr::call("packet_segment_next", [name("&segment")])), vec![Stmt::Break]),
            ],
        ),
        Stmt::result(name("1")),
    ]
}
