//! The functions that the host calls: attach, detach, `process` for a burst, `resume`; and `struct run`, what they keep at hand during a burst.
//!
//! `struct run` is a local variable: stores to packets cannot change what is in it, so table addresses and counts stay in registers. It is made, and copied
//! from one function to the next, member by member. As a whole it would go through vectors, and one that is loaded where members were just stored waits
//! until these stores, and all before them, are done: three such loads cost a burst a hundred cycles.

use crate::c::{Expr, Item, Member, Stmt, Struct};
use crate::path::HotPath;
use crate::storage::Words;
use crate::table::structure_type;
use crate::unit::{Unit, number};
use hlir::lookup_sums::RECEIVED;
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

    /// The worker's own memory, and the state of a burst.
    pub fn run_items(&self, hot_path: Option<&HotPath>) -> Vec<Item> {
        let mut memory = Vec::new();
        if self.copies() {
            memory.push(Member::plain("struct copy *", "copies", "free ones that were used"));
            memory.push(Member::plain("uint32_t", "used_copies", "of those behind this memory"));
        }
        if self.facts.pending {
            memory.push(Member::plain("struct copy *", "first", "of re-entering packets"));
            memory.push(Member::plain("struct copy *", "last", ""));
        }
        if self.facts.multiplies {
            let packets = self.burst() + hot_path.map_or(0, HotPath::held);
            memory.push(Member::plain("uint32_t", "copied", "received packets that were copied"));
            memory.push(Member::plain("uint32_t", format!("budgets[{packets}]"), "remaining copy budget of each"));
        }
        match self.batched() {
            true => memory.extend(self.batch_members()),
            false => memory.push(Member::plain("struct scratch", "scratch", "")),
        }
        memory.extend(hot_path.iter().flat_map(|hot_path| hot_path.members()));
        let run = self.run_members(hot_path);
        let copied = copy(&run);
        let mut items = vec![
            Item::Comment("The worker's memory.".to_string()),
            Item::Struct(Struct { name: "memory".to_string(), members: memory }),
            Item::Blank,
            Item::Comment("The state of a burst: a local variable, which no store to a packet can alias.".to_string()),
            Item::Struct(Struct { name: "run".to_string(), members: run }),
            Item::Blank,
        ];
        items.extend(function("INLINE void", "run_copy", &["struct run *to", "const struct run *from"], copied));
        items
    }

    fn run_members(&self, hot_path: Option<&HotPath>) -> Vec<Member> {
        let mut members = vec![
            Member::plain("struct worker *", "worker", ""),
            Member::plain("struct memory *", "memory", ""),
            Member::plain("uint64_t", "clock_ns", ""),
            Member::plain("struct output", "out", "packets that leave"),
        ];
        members.extend(hot_path.iter().flat_map(|hot_path| hot_path.run_members()));
        for table in self.looked_up() {
            let held = self.table_name(table);
            let structure = structure_type(self.structure(table));
            members.push(Member::plain(format!("const struct {structure} *"), held, ""));
            members.push(Member::plain("uint64_t", format!("{held}_lookups"), ""));
            members.push(Member::plain("uint64_t", format!("{held}_misses"), ""));
        }
        members.extend(self.names.value_sets.iter().map(|set| Member::plain("const struct list *", set, "")));
        let parameters = |crc| Member::plain("const struct hash_crc *", crc, "parameters that a controller has set");
        members.extend(self.names.crcs.iter().map(parameters));
        members
    }

    /// How a burst, and a packet of it, begins.
    pub fn entry_items(&self, hot_path: Option<&HotPath>, used: &Words) -> Vec<Item> {
        let mut items = Vec::new();
        let parameters = ["struct run *run", "struct worker *worker"];
        items.extend(function("INLINE void", "run_begin", &parameters, self.run_begin(hot_path)));
        items.extend(function("INLINE void", "run_end", &["const struct run *run"], self.run_end()));
        if self.facts.original {
            items.push(Item::Comment("A packet as it enters the graph.".to_string()));
            items.extend(function("INLINE void", "state_enter", &["struct state *state"], self.enter()));
        }
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
    pub fn host_items(&self, entry: NodeId, hot_path: Option<&HotPath>) -> Vec<Item> {
        let mut items = Vec::new();
        if self.facts.pending {
            items.push(Item::Comment("Runs re-entering packets in order, until none is left.".to_string()));
            items.extend(function("static void", "run_pending", &["struct run *run"], self.pending()));
        }
        let parameters = ["struct worker *worker", "struct burst *burst"];
        items.extend(function("static void", "process", &parameters, self.process(entry, hot_path)));
        if self.facts.punts {
            items.push(Item::Comment("Resumes a packet from the control plane.".to_string()));
            let parameters =
                ["struct worker *worker", "void *packet", "uint16_t length", "const void *saved", "uint32_t node"];
            items.extend(function("static void", "resume", &parameters, self.resume_body(entry)));
        }
        items
    }

    fn run_begin(&self, hot_path: Option<&HotPath>) -> Vec<Stmt> {
        let table = |index: usize| Expr::index(name("worker->shared->tables"), Expr::word(index as u32));
        let sets = self.names.value_sets.iter().enumerate();
        let mut tables: Vec<(&str, Expr)> =
            self.looked_up().into_iter().map(|id| (self.table_name(id), table(number(id)))).collect();
        tables.extend(sets.map(|(index, set)| (set.as_str(), table(self.program.tables.len() + index))));
        let crc = |index: usize| {
            let array = crate::call::shared_by("worker", "registers", (self.program.registers.len() + index) as u32);
            Expr::call("hash_crc_set", [Expr::unary("&", array)])
        };
        tables.extend(self.names.crcs.iter().enumerate().map(|(index, name)| (name.as_str(), crc(index))));
        let begun = |of: &str, title: &str| match title {
            "worker" => name("worker"),
            "memory" => name("worker->memory"),
            "clock_ns" => name("worker->clock_ns"),
            _ => match tables.iter().find(|(held, _)| *held == title) {
                Some((_, table)) => table.clone(),
                None if of.ends_with('*') => name("NULL"),
                None => Expr::word(0),
            },
        };
        let each = |member: &Member| match member {
            Member::Plain { name: title, .. } if title == "out" => {
                Stmt::call("walk_open", ["worker", "&run->out"].map(name))
            }
            Member::Plain { of, name: title, .. } => Stmt::set(Expr::Name(format!("run->{title}")), begun(of, title)),
            Member::Union(_) | Member::Inner { .. } => unreachable!("all of `struct run` is plain"),
        };
        let mut body: Vec<Stmt> = self.run_members(hot_path).iter().map(each).collect();
        if self.facts.multiplies {
            body.push(Stmt::set(name("run->memory->copied"), Expr::word(0)));
        }
        body
    }

    fn run_end(&self) -> Vec<Stmt> {
        let mut body = vec![Stmt::call("walk_close", [name("run->worker"), name("&run->out")])];
        for id in self.looked_up() {
            let (index, held) = (number(id) as u32, self.table_name(id));
            let element = |of: &str| Expr::index(Expr::Name(format!("run->worker->{of}")), Expr::word(index));
            let missed = Expr::Name(format!("run->{held}_misses"));
            let hits = Expr::binary("-", Expr::Name(format!("run->{held}_lookups")), missed.clone());
            body.push(Stmt::Assign(element("hits"), "+=", hits));
            body.push(Stmt::Assign(element("misses"), "+=", missed));
        }
        body
    }

    fn enter(&self) -> Vec<Stmt> {
        let most = Expr::word(self.original_bytes());
        let front = [name("&state->packet"), name("state->scratch->original"), most];
        vec![
            Stmt::set(name("state->original"), Expr::call("packet_data", [name("&state->packet")])),
            Stmt::set(name("state->original_length"), Expr::call("packet_length", [name("&state->packet")])),
            Stmt::call("walk_save", front),
        ]
    }

    fn pending(&self) -> Vec<Stmt> {
        let first = || name("run->memory->first");
        let mut body = vec![
            Stmt::declare("struct copy *const", "copy", first()),
            Stmt::Blank,
            Stmt::set(first(), name("copy->next")),
        ];
        body.extend(self.facts.original.then(|| Stmt::call("state_enter", [name("&copy->state")])));
        body.push(Stmt::call("walk_copy", [name("run"), name("copy"), name("copy->at")]));
        vec![Stmt::While(Expr::binary("!=", first(), name("NULL")), body)]
    }

    /// Member by member, since a struct goes through memory, and loads of it soon after would stall.
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
            body.push(crate::stack::zeroed("state->", &title, value));
        }
        for statement in self.zero_wide() {
            if let Stmt::Do(Expr::Call(function, mut arguments)) = statement {
                if let Some(Expr::Name(place)) = arguments.first_mut() {
                    *place = place.replace("state->scratch", "scratch");
                }
                body.push(Stmt::Do(Expr::Call(function, arguments)));
            }
        }
        body.extend(self.facts.original.then(|| Stmt::call("state_enter", [name("state")])));
        body
    }

    fn process(&self, entry: NodeId, hot_path: Option<&HotPath>) -> Vec<Stmt> {
        let mut body = vec![
            Stmt::Declare { of: "struct run".to_string(), name: "run".to_string(), value: None },
            Stmt::declare("const uint32_t", "count", name("burst->count")),
            Stmt::Blank,
            Stmt::call("run_begin", [name("&run"), name("worker")]),
        ];
        let number = Expr::binary("+", name("worker->packet_number"), name("i"));
        let taken = Expr::call("packet_take", [name("burst"), name("i")]);
        let port = Expr::index(name("burst->ports"), name("i"));
        if let Some(hot_path) = hot_path {
            body.extend(hot_path.process());
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
        if let Some(counter) = self.program.received() {
            let at = [Expr::word(crate::unit::number(counter) as u32), Expr::word(RECEIVED)];
            let arguments = [name("worker")].into_iter().chain(at).chain([name("count"), Expr::word(0)]);
            body.push(Stmt::call("counter_add_some", arguments));
        }
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
        let body = vec![Stmt::call("walk", arguments), Stmt::call("copy_give", [name("run"), name("copy")])];
        let parameters = ["struct run *run", "struct copy *copy", "enum node at"];
        function("static __attribute__((noinline)) void", "walk_copy", &parameters, body).to_vec()
    }
}

/// A local `struct run`, initialized from another one after the other declarations.
pub fn run_taken(title: &str, from: &str) -> [Stmt; 3] {
    let declared = Stmt::Declare { of: "struct run".to_string(), name: title.to_string(), value: None };
    [declared, Stmt::Blank, run_copy(&format!("&{title}"), from)]
}

/// Both are pointers.
pub fn run_copy(to: &str, from: &str) -> Stmt {
    Stmt::call("run_copy", [name(to), name(from)])
}

fn copy(members: &[Member]) -> Vec<Stmt> {
    let each = |member: &Member| match member {
        Member::Plain { name: title, .. } if title == "out" => {
            Stmt::call("walk_copy_output", [name("&to->out"), name("&from->out")])
        }
        Member::Plain { name: title, .. } => {
            Stmt::set(Expr::Name(format!("to->{title}")), Expr::Name(format!("from->{title}")))
        }
        Member::Union(_) | Member::Inner { .. } => unreachable!("all of `struct run` is plain"),
    };
    members.iter().map(each).collect()
}
