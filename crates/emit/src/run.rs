//! The functions that the host calls: attach, detach, `process` for a burst, `resume`; and `struct run`, what they keep at hand during a burst.
//!
//! `struct run` is a local variable: stores to packets cannot change what is in it, so table addresses and counts stay in registers.

use crate::c::{Expr, Item, Member, Stmt, Struct};
use crate::path::Way;
use crate::storage::Words;
use crate::table::structure_type;
use crate::unit::{Unit, number};
use hlir::{NodeId, TableId};

fn name(text: &str) -> Expr {
    Expr::name(text)
}

fn function(of: &str, title: &str, parameters: &[&str], body: Vec<Stmt>) -> [Item; 2] {
    let parameters = parameters.iter().map(|parameter| parameter.to_string()).collect();
    [Item::Function { of: of.to_string(), name: title.to_string(), parameters, body }, Item::Blank]
}

impl Unit<'_> {
    pub fn looked_up(&self) -> Vec<TableId> {
        self.program.tables.iter().map(|(id, _)| id).filter(|id| self.facts.tables.contains(&number(*id))).collect()
    }

    /// The worker's own memory, and what is at hand during a burst.
    pub fn run_items(&self, way: Option<&Way>) -> Vec<Item> {
        let mut memory = Vec::new();
        if self.copies() {
            memory.push(Member::plain("struct copy *", "copies", "free ones"));
        }
        if self.facts.pending {
            memory.push(Member::plain("struct copy *", "first", "of those that wait to enter again"));
            memory.push(Member::plain("struct copy *", "last", ""));
        }
        match self.batched() {
            true => memory.extend(self.batch_members()),
            false => memory.push(Member::plain("struct scratch", "scratch", "")),
        }
        let mut run = vec![
            Member::plain("struct worker *", "worker", ""),
            Member::plain("struct memory *", "memory", ""),
            Member::plain("uint64_t", "clock_ns", ""),
            Member::plain("struct output", "out", "packets that leave"),
        ];
        if let Some(way) = way {
            memory.extend(way.members());
            run.extend(way.run_members());
        }
        for table in self.looked_up() {
            let held = self.table_name(table);
            let structure = structure_type(self.structure(table));
            run.push(Member::plain(format!("const struct {structure} *"), held, ""));
            run.push(Member::plain("uint64_t", format!("{held}_lookups"), ""));
            run.push(Member::plain("uint64_t", format!("{held}_misses"), ""));
        }
        for set in &self.names.value_sets {
            run.push(Member::plain("const struct list *", set, ""));
        }
        vec![
            Item::Comment("The worker's memory.".to_string()),
            Item::Struct(Struct { name: "memory".to_string(), members: memory }),
            Item::Blank,
            Item::Comment(
                "What is at hand during a burst: a local variable, which no store to a packet can change.".to_string(),
            ),
            Item::Struct(Struct { name: "run".to_string(), members: run }),
            Item::Blank,
        ]
    }

    /// How a burst, and a packet of it, begins.
    pub fn entry_items(&self, used: &Words) -> Vec<Item> {
        let mut items = Vec::new();
        items.extend(function("INLINE struct run", "run_begin", &["struct worker *worker"], self.run_begin()));
        items.extend(function("INLINE void", "run_end", &["const struct run *run"], self.run_end()));
        items.push(Item::Comment("A packet as it enters the graph.".to_string()));
        let parameters = ["struct state *state"];
        items.extend(function("INLINE void", "state_enter", &parameters, self.enter()));
        let parameters = [
            "struct state *state",
            "struct packet packet",
            "uint16_t port",
            "struct scratch *scratch",
            "uint64_t number",
        ];
        items.extend(function("INLINE void", "state_begin", &parameters, self.begin(used)));
        items
    }

    /// What the host calls.
    pub fn host_items(&self, entry: NodeId, way: Option<&Way>) -> Vec<Item> {
        let mut items = Vec::new();
        if self.facts.pending {
            items.push(Item::Comment(
                "Packets that enter again, first come first served, until none is left.".to_string(),
            ));
            items.extend(function("static void", "run_pending", &["struct run *run"], pending()));
        }
        items.extend(function(
            "static int",
            "attach",
            &["struct worker *worker"],
            vec![Stmt::Do(Expr::cast("void", name("worker"))), Stmt::result(name("0"))],
        ));
        items.extend(function("static void", "detach", &["struct worker *worker"], self.detach_body()));
        let parameters = ["struct worker *worker", "struct burst *burst"];
        items.extend(function("static void", "process", &parameters, self.process(entry, way)));
        let about = match self.facts.punts {
            true => "A packet that the control plane brings back.",
            false => "No node hands packets to the control plane, so none comes back.",
        };
        items.push(Item::Comment(about.to_string()));
        let parameters =
            ["struct worker *worker", "void *packet", "uint16_t length", "const void *saved", "uint32_t node"];
        items.extend(function("static void", "resume", &parameters, self.resume_body(entry)));
        items
    }

    fn run_begin(&self) -> Vec<Stmt> {
        let member = |title: &str, value: Expr| Expr::designated(title, value);
        let mut members = vec![
            member("worker", name("worker")),
            member("memory", name("worker->memory")),
            member("clock_ns", name("worker->clock_ns")),
            member("out", Expr::call("walk_open", [name("worker")])),
        ];
        let table = |index: usize| Expr::index(name("worker->shared->tables"), Expr::word(index as u32));
        for id in self.looked_up() {
            members.push(member(self.table_name(id), table(number(id))));
        }
        for (index, set) in self.names.value_sets.iter().enumerate() {
            members.push(member(set, table(self.program.tables.len() + index)));
        }
        vec![Stmt::declare("const struct run", "run", Expr::List(members)), Stmt::Blank, Stmt::result(name("run"))]
    }

    fn run_end(&self) -> Vec<Stmt> {
        let mut body = vec![Stmt::call("walk_close", [name("run->worker"), name("&run->out")])];
        for id in self.looked_up() {
            let (index, held) = (number(id) as u32, self.table_name(id));
            let cell = |of: &str| Expr::index(Expr::Name(format!("run->worker->{of}")), Expr::word(index));
            let missed = Expr::Name(format!("run->{held}_misses"));
            let hits = Expr::binary("-", Expr::Name(format!("run->{held}_lookups")), missed.clone());
            body.push(Stmt::Assign(cell("hits"), "+=", hits));
            body.push(Stmt::Assign(cell("misses"), "+=", missed));
        }
        body
    }

    fn enter(&self) -> Vec<Stmt> {
        if !self.facts.original {
            return vec![Stmt::Do(Expr::cast("void", name("state")))];
        }
        let most = Expr::word(self.original_bytes());
        let side = Expr::call("packet_contiguous", [name("&state->packet")]);
        let bytes = Expr::conditional(Expr::binary("<", side.clone(), most.clone()), side, most);
        let data = Expr::call("packet_data", [name("&state->packet")]);
        vec![
            Stmt::set(name("state->original"), data.clone()),
            Stmt::set(name("state->original_length"), Expr::call("packet_length", [name("&state->packet")])),
            Stmt::call("memcpy", [name("state->scratch->original"), data, bytes]),
        ]
    }

    /// Member by member, where the state is to stay: a whole state goes through memory, and what is read of it soon after waits for that.
    fn begin(&self, used: &Words) -> Vec<Stmt> {
        let given = ["packet", "port", "scratch", "number"];
        let mut body = Vec::new();
        for member in self.state(used).members {
            let Member::Plain { of, name: title, .. } = member else { continue };
            let value = match of.as_str() {
                _ if given.contains(&title.as_str()) => name(&title),
                pointer if pointer.ends_with('*') => name("NULL"),
                "bool" => name("false"),
                _ => Expr::word(0),
            };
            body.push(Stmt::set(Expr::Name(format!("state->{title}")), value));
        }
        for statement in self.zero_wide() {
            if let Stmt::Do(Expr::Call(function, mut arguments)) = statement {
                if let Some(Expr::Name(place)) = arguments.first_mut() {
                    *place = place.replace("state->scratch", "scratch");
                }
                body.push(Stmt::Do(Expr::Call(function, arguments)));
            }
        }
        if !self.facts.random {
            body.push(Stmt::Do(Expr::cast("void", name("number"))));
        }
        body
    }

    fn detach_body(&self) -> Vec<Stmt> {
        if !self.copies() {
            return vec![Stmt::Do(Expr::cast("void", name("worker")))];
        }
        vec![
            Stmt::declare("struct memory *const", "memory", name("worker->memory")),
            Stmt::Blank,
            Stmt::While(
                Expr::binary("!=", name("memory->copies"), name("NULL")),
                vec![
                    Stmt::declare("struct copy *const", "copy", name("memory->copies")),
                    Stmt::Blank,
                    Stmt::set(name("memory->copies"), name("copy->next")),
                    Stmt::call("free", [name("copy")]),
                ],
            ),
        ]
    }

    fn process(&self, entry: NodeId, way: Option<&Way>) -> Vec<Stmt> {
        let mut body = vec![
            Stmt::declare("struct run", "run", Expr::call("run_begin", [name("worker")])),
            Stmt::declare("const uint32_t", "count", name("burst->count")),
            Stmt::Blank,
        ];
        let number = Expr::binary("+", name("worker->packet_number"), name("i"));
        let taken = Expr::call("packet_take", [name("burst"), name("i")]);
        let port = Expr::index(name("burst->ports"), name("i"));
        if let Some(way) = way {
            body.extend(way.process());
        } else if self.batched() {
            body.extend(self.process_batched(entry, taken, port, number));
        } else {
            let begun = [name("&state"), taken, port, name("&run.memory->scratch"), number];
            let mut walk = vec![name("&run"), name("&state")];
            walk.extend(self.walk_from(entry));
            let inner = vec![
                Stmt::Declare { of: "struct state".to_string(), name: "state".to_string(), value: None },
                Stmt::Blank,
                Stmt::call("state_begin", begun),
                Stmt::call("state_enter", [name("&state")]),
                Stmt::call("walk", walk),
            ];
            body.push(Stmt::Count {
                name: "i".to_string(),
                from: Expr::word(0),
                to: name("count"),
                step: Expr::word(1),
                body: inner,
            });
        }
        body.push(Stmt::Assign(name("worker->packet_number"), "+=", name("count")));
        if self.facts.pending {
            body.push(Stmt::call("run_pending", [name("&run")]));
        }
        body.push(Stmt::call("run_end", [name("&run")]));
        body
    }

    /// The last argument of `walk`, which it has where packets begin at several nodes.
    pub fn walk_from(&self, entry: NodeId) -> Option<Expr> {
        (self.facts.starts.iter().any(|start| *start != number(entry))).then(|| name(self.place_name(entry)))
    }

    /// `walk_copy`, which walks a copy from its node to the end.
    pub fn walk_copy(&self, entry: NodeId) -> Vec<Item> {
        let mut arguments = vec![name("run"), name("&copy->state")];
        arguments.extend(self.walk_from(entry).map(|_| name("at")));
        let mut body = vec![Stmt::call("walk", arguments), Stmt::call("copy_give", [name("run"), name("copy")])];
        if self.walk_from(entry).is_none() {
            body.insert(0, Stmt::Do(Expr::cast("void", name("at"))));
        }
        let parameters = ["struct run *run", "struct copy *copy", "enum node at"];
        function("static __attribute__((noinline)) void", "walk_copy", &parameters, body).to_vec()
    }
}

fn pending() -> Vec<Stmt> {
    vec![Stmt::While(
        Expr::binary("!=", name("run->memory->first"), name("NULL")),
        vec![
            Stmt::declare("struct copy *const", "copy", name("run->memory->first")),
            Stmt::Blank,
            Stmt::set(name("run->memory->first"), name("copy->next")),
            Stmt::call("state_enter", [name("&copy->state")]),
            Stmt::call("walk_copy", [name("run"), name("copy"), name("copy->at")]),
        ],
    )]
}
