//! Jumps in actions, made into `if`, `scope` and `loop`.
//!
//! p4c writes `if (c) { a } else { b }` as `_jump_if_zero c E; a; _jump X; E: b; X:`. Those become an `if` again. Any other jump forward leaves
//! a scope that ends where the jump leads: scopes begin together and end one after the other. A jump backwards repeats a loop, which begins
//! where the jump leads and ends behind the last one that leads there.

use std::collections::BTreeSet;

use hlir::build::arithmetic;
use hlir::{Expression, Statement};

use crate::json::{At, Read};
use crate::reader::Reader;

/// What a primitive does to the order of primitives.
#[derive(Clone, Copy, Debug)]
enum Flow {
    Next,
    Jump(usize),
    /// Jumps if the number is 0.
    Unless(usize),
}

impl Flow {
    fn target(self) -> Option<usize> {
        match self {
            Flow::Next => None,
            Flow::Jump(to) | Flow::Unless(to) => Some(to),
        }
    }
}

/// Primitives, with what each does to their order.
struct Code<'p, 'j> {
    primitives: &'p [At<'j>],
    flows: Vec<Flow>,
}

/// Where jumps may lead from within: behind the ends of scopes, and to the heads of loops.
#[derive(Clone, Default)]
struct Around {
    ends: BTreeSet<usize>,
    heads: BTreeSet<usize>,
}

impl Around {
    fn label(&self, at: usize, to: usize) -> Option<String> {
        if to > at {
            return self.ends.contains(&to).then(|| format!("to_{to}"));
        }
        self.heads.contains(&to).then(|| format!("again_{to}"))
    }
}

impl Reader<'_> {
    /// Lowers the primitives of an action.
    pub fn primitives(&mut self, primitives: &[At<'_>]) -> Read<()> {
        let flows = primitives.iter().map(|primitive| self.flow(primitive, primitives.len()));
        let flows = flows.collect::<Read<Vec<_>>>()?;
        let code = Code { primitives, flows };
        self.range(&code, 0, primitives.len(), &Around::default())
    }

    fn flow(&mut self, primitive: &At<'_>, count: usize) -> Read<Flow> {
        let argument = match primitive.field("op")?.text()? {
            "_jump" => 0,
            "_jump_if_zero" => 1,
            _ => return Ok(Flow::Next),
        };
        let parameters = primitive.field("parameters")?.items()?;
        let target = parameters.get(argument).ok_or_else(|| primitive.error("the target of the jump is missing"))?;
        let number = self.constant(target, "the target of a jump")?;
        let to = usize::try_from(&number).ok().filter(|to| *to <= count);
        let to = to.ok_or_else(|| target.error(format!("the action has no primitive {number}")))?;
        Ok(if argument == 0 { Flow::Jump(to) } else { Flow::Unless(to) })
    }

    /// Lowers the primitives from `from` to `to`.
    fn range(&mut self, code: &Code<'_, '_>, from: usize, to: usize, around: &Around) -> Read<()> {
        let mut at = from;
        while at < to {
            if let Some(last) = code.last_jump_back_to(at, to)
                && !around.heads.contains(&at)
            {
                at = self.repeat(code, at, last + 1, to, around)?;
                continue;
            }
            if let Some(end) = self.conditional(code, at, to, around)? {
                at = end;
                continue;
            }
            let Some(target) = code.flows[at].target() else {
                self.primitive(&code.primitives[at])?;
                at += 1;
                continue;
            };
            at = match around.label(at, target) {
                Some(label) => self.leave(code, at, to, label)?,
                // What follows up to the target is never reached.
                None if matches!(code.flows[at], Flow::Jump(_)) && code.skips(at, target, to) => target,
                None => self.scope(code, at, to, around)?,
            };
        }
        Ok(())
    }

    /// A jump that leaves a scope, or goes on with a loop: where lowering goes on.
    fn leave(&mut self, code: &Code<'_, '_>, at: usize, to: usize, label: String) -> Read<usize> {
        let leave = Statement::Leave(label);
        if let Flow::Unless(_) = code.flows[at] {
            let condition = arithmetic::not(self.jump_condition(&code.primitives[at])?);
            self.push_if(condition, vec![leave], Vec::new());
            return Ok(at + 1);
        }
        self.body.push(leave);
        // The next primitive that is reached is one that something jumps to.
        Ok((at + 1..to).find(|index| code.is_target(*index)).unwrap_or(to))
    }

    /// Opens a scope that ends at the farthest place to which something within it jumps.
    fn scope(&mut self, code: &Code<'_, '_>, at: usize, to: usize, around: &Around) -> Read<usize> {
        let end = code.farthest(at, at + 1, around);
        if end > to || end <= at {
            return Err(code.primitives[at].error("this jump leads into a loop, or out of a branch, from beside"));
        }
        let mut within = around.clone();
        within.ends.insert(end);
        let body = self.statements(|reader| reader.range(code, at, end, &within))?;
        self.body.push(Statement::Scope { label: format!("to_{end}"), body });
        Ok(end)
    }

    /// A loop from `head` to `end`, in the scopes that it is left to.
    fn repeat(&mut self, code: &Code<'_, '_>, head: usize, end: usize, to: usize, around: &Around) -> Read<usize> {
        let farthest = code.farthest(head, end, around);
        if farthest > end || (farthest == end && !around.ends.contains(&end) && code.leads_to(head, end, end)) {
            if farthest > to {
                return Err(code.primitives[head].error("a jump leads out of this loop and of the branch around it"));
            }
            let mut within = around.clone();
            within.ends.insert(farthest);
            let body = self.statements(|reader| reader.range(code, head, farthest, &within))?;
            self.body.push(Statement::Scope { label: format!("to_{farthest}"), body });
            return Ok(farthest);
        }
        let mut within = around.clone();
        within.heads.insert(head);
        let mut body = self.statements(|reader| reader.range(code, head, end, &within))?;
        let label = format!("loop_{head}");
        // What does not jump back goes on behind the loop.
        body.push(Statement::Leave(label.clone()));
        let body = vec![Statement::Scope { label: format!("again_{head}"), body }];
        self.body.push(Statement::Loop { label, body });
        Ok(end)
    }

    /// Lowers an `if` that begins here, if one does: where it ends.
    fn conditional(&mut self, code: &Code<'_, '_>, at: usize, to: usize, around: &Around) -> Read<Option<usize>> {
        let Flow::Unless(second) = code.flows[at] else { return Ok(None) };
        if second > to || second <= at {
            return Ok(None);
        }
        // The last primitive of the first branch jumps over the second one.
        let (first_end, end) = match code.flows[second - 1] {
            Flow::Jump(end) if second - 1 > at && end <= to && end >= second => (second - 1, end),
            _ => (second, second),
        };
        let branches = [(at + 1, first_end), (second, end)];
        let is_plain =
            |(from, upto): (usize, usize)| code.is_closed(from, upto, around) && !code.is_entered(from, upto, at);
        if !branches.into_iter().all(is_plain) {
            return Ok(None);
        }
        let condition = self.jump_condition(&code.primitives[at])?;
        let then = self.statements(|reader| reader.range(code, at + 1, first_end, around))?;
        let otherwise = self.statements(|reader| reader.range(code, second, end, around))?;
        self.push_if(condition, then, otherwise);
        Ok(Some(end))
    }

    fn push_if(&mut self, condition: Expression, then: Vec<Statement>, otherwise: Vec<Statement>) {
        match condition {
            Expression::Bool(true) => self.body.extend(then),
            Expression::Bool(false) => self.body.extend(otherwise),
            _ if then.is_empty() && otherwise.is_empty() => {}
            condition if then.is_empty() => {
                let condition = arithmetic::not(condition);
                self.body.push(Statement::If { condition, then: otherwise, otherwise: then });
            }
            condition => self.body.push(Statement::If { condition, then, otherwise }),
        }
    }

    /// Whether `_jump_if_zero` goes on.
    fn jump_condition(&mut self, primitive: &At<'_>) -> Read<Expression> {
        let parameters = primitive.field("parameters")?.items()?;
        let condition = parameters.first().ok_or_else(|| primitive.error("the condition of the jump is missing"))?;
        let value = self.data(condition)?;
        value.is_set().ok_or_else(|| condition.error(crate::expressions::UNLIMITED))
    }
}

impl Code<'_, '_> {
    fn targets(&self, from: usize, to: usize) -> impl Iterator<Item = (usize, usize)> {
        let flows = self.flows[from..to].iter().enumerate();
        flows.filter_map(move |(index, flow)| Some((from + index, flow.target()?)))
    }

    /// The last primitive up to `to` that jumps back to this one.
    fn last_jump_back_to(&self, head: usize, to: usize) -> Option<usize> {
        self.targets(head, to).filter(|(_, target)| *target == head).map(|(index, _)| index).last()
    }

    fn is_target(&self, index: usize) -> bool {
        self.flows.iter().any(|flow| flow.target() == Some(index))
    }

    fn leads_to(&self, from: usize, to: usize, target: usize) -> bool {
        self.targets(from, to).any(|(_, found)| found == target)
    }

    /// Whether nothing between a jump and its target is reached.
    fn skips(&self, at: usize, target: usize, to: usize) -> bool {
        target > at && target <= to && !(at + 1..target).any(|index| self.is_target(index))
    }

    /// Whether all jumps of a range stay in it, or lead where jumps may lead from within.
    fn is_closed(&self, from: usize, to: usize, around: &Around) -> bool {
        self.targets(from, to)
            .all(|(index, target)| (from..=to).contains(&target) || around.label(index, target).is_some())
    }

    /// Whether something beside `but` jumps into a range, past its first primitive, from outside of it.
    fn is_entered(&self, from: usize, to: usize, but: usize) -> bool {
        self.targets(0, self.flows.len())
            .any(|(index, target)| index != but && !(from..to).contains(&index) && target > from && target < to)
    }

    /// The farthest place to which primitives from `from` on jump, up to that place; scopes around are no such places.
    fn farthest(&self, from: usize, to: usize, around: &Around) -> usize {
        let mut end = to;
        loop {
            let targets = self.targets(from, end).filter(|(index, target)| around.label(*index, *target).is_none());
            let most = targets.map(|(_, target)| target).max().unwrap_or(end).max(end);
            if most == end {
                return end;
            }
            end = most;
        }
    }
}
