//! Assignments of whole headers, unions and stacks; `push` and `pop`.

use hlir::build::arithmetic;
use hlir::{Binary, Expression, HeaderId, Statement};

use crate::instances::{Leaf, Stack};
use crate::json::{At, Read};
use crate::reader::Reader;

impl Reader<'_> {
    /// `to = from`, of two instances of one type.
    pub fn copy_header(&mut self, to: usize, from: usize, at: &At<'_>) -> Read<()> {
        let (one, other) = (&self.storage.instances[to], &self.storage.instances[from]);
        if one.of_type != other.of_type {
            return Err(at.error(format!("`{}` and `{}` are of different types", one.name, other.name)));
        }
        if let (Some(to), Some(from)) = (one.header, other.header) {
            self.body.push(Statement::CopyHeader { to, from });
            return self.clear_siblings_if_valid(to);
        }
        // Metadata has no validity of its own.
        let (header, pairs) = (one.header, one.fields.clone().into_iter().zip(other.fields.clone()));
        if let Some(header) = header {
            self.body.push(Statement::SetValid(header));
        }
        for (target, source) in pairs {
            let value = self.load(&source, at)?;
            self.store(&crate::operands::Choice::one(target), &value, at)?;
        }
        Ok(())
    }

    /// A member of a union that became valid leaves no other.
    fn clear_siblings_if_valid(&mut self, header: HeaderId) -> Read<()> {
        let siblings = self.builder.slots.siblings(header).to_vec();
        if !siblings.is_empty() {
            let then = siblings.into_iter().map(Statement::SetInvalid).collect();
            self.body.push(Statement::If { condition: Expression::Valid(header), then, otherwise: Vec::new() });
        }
        Ok(())
    }

    /// Makes a header valid, and a union's other members invalid.
    pub fn validate(&mut self, instance: usize) {
        if let Some(header) = self.storage.instances[instance].header {
            self.body.push(Statement::SetValid(header));
            let siblings = self.builder.slots.siblings(header).to_vec();
            self.body.extend(siblings.into_iter().map(Statement::SetInvalid));
        }
    }

    pub fn invalidate(&mut self, instance: usize) {
        if let Some(header) = self.storage.instances[instance].header {
            self.body.push(Statement::SetInvalid(header));
        }
    }

    pub fn copy_union(&mut self, to: usize, from: usize, at: &At<'_>) -> Read<()> {
        let (to, from) = (self.storage.unions[to].clone(), self.storage.unions[from].clone());
        // Members that become valid last would be made invalid by those that follow.
        let headers = |of: &[usize]| -> Vec<Option<HeaderId>> {
            of.iter().map(|member| self.storage.instances[*member].header).collect()
        };
        for (to, from) in headers(&to).into_iter().zip(headers(&from)) {
            let (Some(to), Some(from)) = (to, from) else { return Err(at.error("a union has headers only")) };
            self.body.push(Statement::CopyHeader { to, from });
        }
        Ok(())
    }

    /// `assign_header_stack` and `assign_union_stack`, of the elements and of the number of those extracted.
    pub fn copy_stack(
        &mut self,
        (to, from): (&Stack, &Stack),
        at: &At<'_>,
        copy: impl Fn(&mut Self, usize, usize, &At<'_>) -> Read<()>,
    ) -> Read<()> {
        for (to, from) in to.elements.iter().zip(&from.elements) {
            copy(self, *to, *from, at)?;
        }
        let (target, source) = (self.builder.variable(to.next), self.builder.variable(from.next));
        self.body.push(hlir::build::assignment(target, Expression::Variable(source)));
        Ok(())
    }

    /// `push` moves the elements of a stack up by `count`; the first ones become invalid.
    pub fn push(&mut self, stack: &Stack, count: usize, at: &At<'_>) -> Read<()> {
        let size = stack.elements.len();
        for to in (count.min(size)..size).rev() {
            self.copy_header(stack.elements[to], stack.elements[to - count], at)?;
        }
        for element in &stack.elements[..count.min(size)] {
            self.invalidate(*element);
        }
        let next = self.builder.variable(stack.next);
        let moved = arithmetic::binary(Binary::Add, Expression::Variable(next), Expression::constant(count as u64, 32));
        let full = Expression::constant(size as u64, 32);
        // The sum cannot overflow: it is of two numbers that are no larger than stacks are.
        let beyond = arithmetic::binary(Binary::Greater, moved.clone(), full.clone());
        self.body.push(hlir::build::assignment(next, arithmetic::choose(beyond, full, moved)));
        Ok(())
    }

    /// `pop` moves them down; the last ones become invalid.
    pub fn pop(&mut self, stack: &Stack, count: usize, at: &At<'_>) -> Read<()> {
        let size = stack.elements.len();
        for to in 0..size.saturating_sub(count) {
            self.copy_header(stack.elements[to], stack.elements[to + count], at)?;
        }
        for element in &stack.elements[size.saturating_sub(count)..] {
            self.invalidate(*element);
        }
        let next = self.builder.variable(stack.next);
        let by = Expression::constant(count as u64, 32);
        let moved = arithmetic::binary(Binary::SubtractSaturating, Expression::Variable(next), by);
        self.body.push(hlir::build::assignment(next, moved));
        Ok(())
    }

    /// `assign_VL`: a field of variable length, with its length.
    pub fn copy_varbit(&mut self, to: &At<'_>, from: &At<'_>) -> Read<()> {
        let (target, source) = (self.target(to)?, self.target(from)?);
        match (&target.of[..], &source.of[..]) {
            ([(_, target)], [(_, source)]) => match (target.leaf, source.leaf) {
                (Leaf::Varbit(to), Leaf::Varbit(from)) => {
                    self.body.push(Statement::CopyVarbit { to, from });
                    Ok(())
                }
                _ => {
                    let (target, source) = (target.clone(), source.clone());
                    let value = self.load(&source, from)?;
                    self.store(&crate::operands::Choice::one(target), &value, to)
                }
            },
            _ => Err(to.error("fields of variable length in a stack need constant indexes")),
        }
    }

    /// The number of elements that `push` and `pop` move.
    pub fn count_operand(&mut self, at: &At<'_>) -> Read<usize> {
        let number = self.constant(at, "the number of elements")?;
        usize::try_from(&number).map_err(|_| at.error("this number of elements is too large"))
    }
}
