//! The code of one node while it is being written: statements so far, and what is known of each header's storage here.
//!
//! Headers live in the packet: a header is a pointer to its first byte. Until it is extracted or made valid it has none; where a program may
//! touch it all the same, the code first points it at zeroed scratch. [`Presence`] finds where that is needed, so most programs have no such code.

use crate::c::{Expr, Item, Stmt};
use crate::deparse::Emitting;
use crate::unit::{Unit, number, origin};
use hlir::diagnostic::Diagnostic;
use hlir::{HeaderId, NodeId, Program, TableId, Type};

/// Whether a header has storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Absent,
    Maybe,
    Present,
}

/// The presence of every header, by number.
pub type Presences = Vec<Presence>;

pub fn join(left: &mut Presences, right: &Presences) {
    for (left, right) in left.iter_mut().zip(right) {
        if left != right {
            *left = Presence::Maybe;
        }
    }
}

/// How a statement `Exit` ends the code at hand.
#[derive(Clone, Copy)]
pub enum Exit {
    None,
    To(NodeId),
    /// At the end of the deparser.
    Finish,
}

pub struct Body<'u, 'a> {
    pub unit: &'u Unit<'a>,
    pub node: NodeId,
    pub out: Vec<Stmt>,
    pub present: Presences,
    /// Where control goes from here, with what is known there.
    pub exits: Vec<(NodeId, Presences)>,
    /// The nodes where the packet itself goes on.
    pub outcomes: Vec<NodeId>,
    /// Functions that this node needs beside its own.
    pub helpers: Vec<Item>,
    pub emitting: Emitting,
    pub exit: Exit,
    /// Of the action whose body this is.
    pub action: Option<(TableId, usize)>,
    /// Widths of the action's parameters.
    pub parameters: Vec<u32>,
    pub labels: Vec<crate::statement::Target>,
    pub problems: Vec<Diagnostic>,
    /// Temporaries so far.
    pub temporaries: u32,
}

impl<'u, 'a> Body<'u, 'a> {
    pub fn new(unit: &'u Unit<'a>, node: NodeId, present: Presences) -> Body<'u, 'a> {
        Body {
            unit,
            node,
            out: Vec::new(),
            present,
            exits: Vec::new(),
            outcomes: Vec::new(),
            helpers: Vec::new(),
            emitting: Emitting::Nothing,
            exit: Exit::None,
            action: None,
            parameters: Vec::new(),
            labels: Vec::new(),
            problems: Vec::new(),
            temporaries: 0,
        }
    }

    pub fn program(&self) -> &'a Program {
        self.unit.program
    }

    pub fn push(&mut self, statement: Stmt) {
        self.out.push(statement);
    }

    /// Runs `write` and returns the statements it wrote.
    pub fn nested(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let outer = std::mem::take(&mut self.out);
        write(self);
        std::mem::replace(&mut self.out, outer)
    }

    /// As `nested`, on a branch: `present` is as before afterwards, and what the branch knew at its end is returned.
    pub fn branch(&mut self, write: impl FnOnce(&mut Self)) -> (Vec<Stmt>, Presences) {
        let before = self.present.clone();
        let code = self.nested(write);
        (code, std::mem::replace(&mut self.present, before))
    }

    /// A name that nothing else in this function has.
    pub fn temporary(&mut self, stem: &str) -> String {
        self.temporaries += 1;
        format!("{stem}{}", self.temporaries)
    }

    /// `value` under a name, so that it can be used twice.
    pub fn named(&mut self, value: Expr, width: u32, stem: &str) -> Expr {
        if value.is_simple() {
            return value;
        }
        let name = self.temporary(stem);
        self.push(Stmt::declare(format!("const {}", word_type(width)), &name, value));
        Expr::Name(name)
    }

    /// A construct that C is not written for yet: refused by name and place, never compiled wrongly.
    pub fn unsupported(&mut self, what: &str) {
        let problem = unsupported(self.unit, self.node, what);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub fn type_of(&self, value: &hlir::Expression) -> Type {
        self.program().expression_type(value, &self.parameters)
    }

    pub fn width_of(&self, value: &hlir::Expression) -> u32 {
        self.type_of(value).width()
    }

    /// The pointer to a header's first byte.
    pub fn header(&self, header: HeaderId) -> Expr {
        Expr::Name(format!("state->{}", self.unit.header_member_name(header, "")))
    }

    pub fn header_valid(&self, header: HeaderId) -> Expr {
        Expr::Name(format!("state->{}", self.unit.header_member_name(header, "_valid")))
    }

    /// Length of the header's varbit field.
    pub fn header_bits(&self, header: HeaderId) -> Expr {
        Expr::Name(format!("state->{}", self.unit.header_member_name(header, "_bits")))
    }

    /// Where a header lies while it is not in the packet.
    pub fn header_scratch(&self, header: HeaderId) -> Expr {
        Expr::Name(format!("state->scratch->{}", self.unit.header_member_name(header, "")))
    }

    /// Makes sure that a header has storage before it is touched.
    pub fn ensure(&mut self, header: HeaderId) {
        let presence = self.present[number(header)];
        if presence == Presence::Present {
            return;
        }
        let size = storage_bytes(self.program(), header);
        let bytes = [self.header_scratch(header), Expr::word(size)];
        let pointer = Expr::unary("&", self.header(header));
        self.push(match presence {
            Presence::Absent => {
                let [scratch, size] = bytes;
                Stmt::set(self.header(header), Expr::call("memset", [scratch, Expr::name("0"), size]))
            }
            Presence::Maybe | Presence::Present => Stmt::call("walk_place_header", [pointer].into_iter().chain(bytes)),
        });
        self.present[number(header)] = Presence::Present;
    }

    /// Goes on at another node.
    pub fn go(&mut self, to: NodeId) {
        let present = self.present.clone();
        self.exits.push((to, present));
        if !self.outcomes.contains(&to) {
            self.outcomes.push(to);
        }
        self.count_edge(to);
        self.push(Stmt::result(Expr::name(self.unit.place_name(to))));
    }

    /// Counts a packet on an edge, if the plan asks for it.
    pub fn count_edge(&mut self, to: NodeId) {
        if self.unit.plan.instrument.edges {
            let edge = self.unit.edge_number(self.node, to);
            let counter = Expr::unary("&", Expr::index(Expr::name("run->worker->edges"), Expr::word(edge)));
            self.push(Stmt::call("counter_increment", [counter]));
        }
    }

    /// Ends the packet: what was pushed before has taken care of it.
    pub fn end(&mut self) {
        self.push(Stmt::result(Expr::name("ENDED")));
    }

    /// Drops the packet and ends.
    pub fn drop_packet(&mut self, reason: &str) {
        let reason_number = self.unit.drop_number(reason);
        let arguments = [Expr::name("run->worker"), Expr::name("state->packet"), drop_reason(reason, reason_number)];
        self.push(Stmt::call("walk_drop", arguments));
        self.end();
    }

    /// Ends the packet without counting it.
    pub fn release(&mut self) {
        let packet = self.temporary("gone");
        self.push(Stmt::declare("const struct packet", &packet, Expr::name("state->packet")));
        self.push(Stmt::call("packet_drop", [Expr::name("run->worker"), Expr::Name(format!("&{packet}"))]));
        self.end();
    }
}

/// The enumerator of a drop reason.
pub fn drop_name(reason: &str, number: u32) -> String {
    format!("DROP_{}_{number}", crate::namer::identifier(reason).to_uppercase())
}

pub fn drop_reason(reason: &str, number: u32) -> Expr {
    Expr::Name(drop_name(reason, number))
}

pub fn unsupported(unit: &Unit, node: NodeId, what: &str) -> Diagnostic {
    let node = unit.node(node);
    let place = origin(&node.notes).map_or(String::new(), |place| format!(", {place}"));
    Diagnostic::error(format!("{what} is not supported yet by the C emitter (node `{}`{place})", node.name))
        .kind("unsupported")
}

/// The C type of a value of at most 64 bits.
pub fn word_type(width: u32) -> &'static str {
    if width <= 32 { "uint32_t" } else { "uint64_t" }
}

/// Limbs of a value.
pub fn limbs(width: u32) -> u32 {
    width.div_ceil(64).max(1)
}

/// Bytes that a header can take.
pub fn storage_bytes(program: &Program, header: HeaderId) -> u32 {
    program.headers[header].most_bits().div_ceil(8)
}
