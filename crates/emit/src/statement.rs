//! Statements that are not calls: assignments, validity, copies, structured control flow.
//!
//! A `scope` becomes a block with a label behind it, a `loop` a `while (true)`; leaving is a `goto`. Validity is a bit beside the header's pointer.

use crate::body::{Body, Exit, Presence, Presences, join, limbs, storage_bytes};
use crate::c::{Expr, Stmt};
use crate::unit::{headers_used, number};
use hlir::{Expression, FieldRef, HeaderId, Place, Statement};
use std::collections::BTreeSet;

/// A label that can be left to, and what is known of headers there.
pub struct Target {
    label: String,
    name: String,
    reached: Option<Presences>,
}

impl Body<'_, '_> {
    /// Writes `body`; false if control does not reach its end.
    pub fn statements(&mut self, body: &[Statement]) -> bool {
        let mut left = body;
        while let Some(statement) = left.first() {
            let mut copied = self.copy_parameters(left);
            if copied == 0 {
                copied = self.add_checksums(left);
            }
            if copied == 0 && !self.statement(statement) {
                return false;
            }
            left = &left[copied.max(1)..];
        }
        true
    }

    fn statement(&mut self, statement: &Statement) -> bool {
        match statement {
            Statement::Assign { target, value } => self.assign(*target, value),
            Statement::SetValid(header) => self.set_valid(*header),
            Statement::SetInvalid(header) => {
                let valid = self.header_valid(*header);
                self.push(Stmt::set(valid, Expr::name("false")));
            }
            Statement::CopyHeader { to, from } => self.copy_header(*to, *from),
            Statement::CopyVarbit { to, from } => self.copy_varbit(*to, *from),
            Statement::If { condition, then, otherwise } => return self.choice(condition, then, otherwise),
            Statement::Scope { label, body } => return self.scope(label, body),
            Statement::Loop { label, body } => return self.repeat(label, body),
            Statement::Leave(label) => return self.leave(label),
            Statement::Exit => return self.exit(),
            Statement::Extract { header, varbit } => return self.extract(*header, varbit.as_ref()),
            Statement::Advance(bits) => return self.advance(bits),
            Statement::Lookahead { into, offset } => return self.lookahead(*into, *offset),
            Statement::Verify { condition, error } => return self.verify(condition, error),
            Statement::Emit(header) => self.emit_header(*header),
            Statement::Truncate(bytes) => self.truncate(bytes),
            Statement::Call(call) => return self.call(call),
        }
        true
    }

    pub fn assign(&mut self, target: Place, value: &Expression) {
        let width = self.program().place_type(target).width();
        if width > 64 {
            let array = self.wide(value);
            self.put_wide(target, array, width);
            return;
        }
        let value = self.value(value);
        self.put(target, value);
    }

    /// Puts a value of at most 64 bits in its place.
    pub fn put(&mut self, target: Place, value: Expr) {
        match target {
            Place::Variable(_) => {
                let place = self.place(target);
                self.push(Stmt::set(place, value));
            }
            Place::Field(field) => {
                self.ensure(field.header);
                self.store(field, value);
            }
        }
    }

    /// Puts an array of limbs in its place.
    pub fn put_wide(&mut self, target: Place, array: Expr, width: u32) {
        match target {
            Place::Variable(variable) => {
                let place = self.wide_variable(variable);
                self.push(Stmt::call("memcpy", [place, array, Expr::word(8 * limbs(width))]));
            }
            Place::Field(field) => {
                self.ensure(field.header);
                self.store(field, array);
            }
        }
    }

    fn set_valid(&mut self, header: HeaderId) {
        let size = storage_bytes(self.program(), header);
        if self.program().headers[header].varbit().is_some() {
            let empty = Stmt::set(self.header_bits(header), Expr::word(0));
            self.push(Stmt::when(Expr::unary("!", self.header_valid(header)), vec![empty]));
        }
        let members = [self.header(header), self.header_valid(header)].map(|member| Expr::unary("&", member));
        let scratch = [self.header_scratch(header), Expr::word(size)];
        self.push(Stmt::call("walk_set_valid", members.into_iter().chain(scratch)));
        self.present[number(header)] = Presence::Present;
    }

    /// Where a header's storage is the packet's, the copy goes there; its length is the same, or it moves to scratch.
    fn copy_header(&mut self, to: HeaderId, from: HeaderId) {
        if to == from {
            return;
        }
        let size = storage_bytes(self.program(), from);
        let varbit = self.program().headers[from].varbit().is_some();
        let code = self.branch(|body| {
            body.present[number(from)] = Presence::Present;
            let (to_pointer, from_pointer) = (body.header(to), body.header(from));
            let mut bytes = Expr::word(size);
            if varbit || body.present[number(to)] != Presence::Present {
                let scratch = body.header_scratch(to);
                body.push(Stmt::set(to_pointer.clone(), scratch));
            }
            if varbit {
                let (to_bits, from_bits) = (body.header_bits(to), body.header_bits(from));
                body.push(Stmt::set(to_bits.clone(), from_bits));
                let fixed = body.program().headers[from].fixed_bits().div_ceil(8);
                bytes = Expr::binary("+", Expr::word(fixed), Expr::binary("/", to_bits, Expr::word(8)));
            }
            // Both can be the same scratch bytes only if the header is the same.
            body.push(Stmt::call("memcpy", [to_pointer, from_pointer, bytes]));
        });
        let (to_valid, from_valid) = (self.header_valid(to), self.header_valid(from));
        self.push(Stmt::set(to_valid, from_valid.clone()));
        self.push(Stmt::when(from_valid, code.0));
        if self.present[number(to)] == Presence::Absent {
            self.present[number(to)] = Presence::Maybe;
        }
    }

    /// The header moves to scratch, since what follows the field may begin elsewhere now.
    fn copy_varbit(&mut self, to: FieldRef, from: FieldRef) {
        if to == from {
            return;
        }
        self.ensure(to.header);
        self.ensure(from.header);
        let header = &self.program().headers[to.header];
        let index = to.field as usize;
        let before: u32 = header.fields[..index].iter().map(|field| field.width).sum::<u32>() / 8;
        let behind: u32 = header.fields[index + 1..].iter().map(|field| field.width).sum::<u32>() / 8;
        let bytes = |bits: Expr| Expr::binary("/", bits, Expr::word(8));
        let source = self.varbit_address(from);
        let moved = Expr::call(
            "walk_varbit",
            [
                self.header_scratch(to.header),
                self.header(to.header),
                Expr::word(before),
                bytes(self.header_bits(to.header)),
                Expr::word(behind),
                source,
                bytes(self.header_bits(from.header)),
            ],
        );
        let (pointer, to_bits, from_bits) =
            (self.header(to.header), self.header_bits(to.header), self.header_bits(from.header));
        self.push(Stmt::set(pointer, moved));
        self.push(Stmt::set(to_bits, from_bits));
    }

    /// A valid header has storage: what a condition checks of validity holds in its branches.
    pub fn assume(&mut self, condition: &Expression, holds: bool) {
        if let Expression::Unary { operator: hlir::Unary::Not, operand } = condition {
            self.assume(operand, !holds);
        }
        if let Expression::Valid(header) = condition
            && holds
        {
            self.present[number(*header)] = Presence::Present;
        }
        // All parts of a conjunction that holds hold; of a disjunction that does not, none.
        let joins = if holds { hlir::Binary::LogicalAnd } else { hlir::Binary::LogicalOr };
        if let Expression::Binary { operator, left, right } = condition
            && *operator == joins
        {
            self.assume(left, holds);
            self.assume(right, holds);
        }
    }

    fn choice(&mut self, condition: &Expression, then: &[Statement], otherwise: &[Statement]) -> bool {
        let test = self.value(condition);
        let mut ends = Vec::new();
        let mut codes = Vec::new();
        for (body, holds) in [(then, true), (otherwise, false)] {
            let mut goes_on = true;
            let (code, present) = self.branch(|branch| {
                branch.assume(condition, holds);
                goes_on = branch.statements(body);
            });
            codes.push(code);
            if goes_on {
                ends.push(present);
            }
        }
        let otherwise = codes.pop().unwrap_or_default();
        let then = codes.pop().unwrap_or_default();
        if then.is_empty() && !otherwise.is_empty() {
            self.push(Stmt::when(Expr::unary("!", test), otherwise));
        } else if !then.is_empty() {
            self.push(Stmt::If { condition: test, then, otherwise });
        }
        let mut ends = ends.into_iter();
        let Some(mut first) = ends.next() else { return false };
        ends.for_each(|other| join(&mut first, &other));
        self.present = first;
        true
    }

    /// Gives storage to every header that code which may jump about will touch, so that nothing need be known inside.
    fn settle(&mut self, body: &[Statement]) {
        let mut used = BTreeSet::new();
        for statement in body {
            statement.walk(&mut |statement| headers_used(statement, &mut used));
        }
        used.into_iter().for_each(|header| self.ensure(header));
    }

    fn open(&mut self, label: &str) -> String {
        let name = self.temporary("leave");
        self.labels.push(Target { label: label.to_string(), name: name.clone(), reached: None });
        name
    }

    /// Closes the innermost label. Control continues if something jumped to it, or reached the end.
    fn close(&mut self, reached_end: bool) -> bool {
        let target = self.labels.pop().expect("labels are opened and closed in pairs");
        let Some(left) = target.reached else { return reached_end };
        self.push(Stmt::Label(target.name));
        if reached_end {
            join(&mut self.present, &left);
        } else {
            self.present = left;
        }
        true
    }

    fn scope(&mut self, label: &str, body: &[Statement]) -> bool {
        self.open(label);
        let reached_end = self.statements(body);
        self.close(reached_end)
    }

    fn repeat(&mut self, label: &str, body: &[Statement]) -> bool {
        self.settle(body);
        // What is extracted or made valid within may or may not be there when the body begins again.
        for statement in body {
            statement.walk(&mut |statement| {
                if let Statement::Extract { header, .. }
                | Statement::SetValid(header)
                | Statement::CopyHeader { to: header, .. } = statement
                    && self.present[number(*header)] == Presence::Absent
                {
                    self.present[number(*header)] = Presence::Maybe;
                }
            });
        }
        self.open(label);
        let count = self.temporary("iterations");
        self.push(Stmt::declare("uint32_t", &count, Expr::word(0)));
        let head = self.present.clone();
        let code = self.nested(|inner| {
            let limit = Expr::word(inner.program().budget.iterations);
            let over = inner.nested(|inner| inner.drop_packet("loop budget"));
            inner.push(Stmt::when(Expr::binary("==", Expr::name(&count), limit), over));
            inner.push(Stmt::Assign(Expr::name(&count), "+=", Expr::word(1)));
            inner.statements(body);
        });
        self.present = head;
        self.push(Stmt::While(Expr::name("true"), code));
        self.close(false)
    }

    fn leave(&mut self, label: &str) -> bool {
        let present = self.present.clone();
        let Some(target) = self.labels.iter_mut().rev().find(|target| target.label == label) else {
            self.unsupported(&format!("leaving `{label}`, which does not enclose this,"));
            return false;
        };
        match &mut target.reached {
            Some(reached) => join(reached, &present),
            None => target.reached = Some(present),
        }
        let name = target.name.clone();
        self.push(Stmt::Goto(name));
        false
    }

    fn exit(&mut self) -> bool {
        match self.exit {
            Exit::None => self.unsupported("`exit` without an edge"),
            Exit::To(node) => self.go(node),
            Exit::Finish => return self.leave(crate::deparse::FINISH),
        }
        false
    }
}
