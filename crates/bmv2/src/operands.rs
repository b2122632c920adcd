//! What an operand of the JSON denotes: one header, or one of a stack's that is known only at run time; a place to store to.

use hlir::build::arithmetic;
use hlir::{Binary, Expression, Place, Statement};

use crate::data::Data;
use crate::instances::{Leaf, Member, Stack};
use crate::json::{At, Read};
use crate::reader::Reader;

/// Things of which one is meant at run time, each with the condition that it is the one. If no condition holds, none is meant.
#[derive(Clone, Debug)]
pub struct Choice<T> {
    pub of: Vec<(Expression, T)>,
}

impl<T> Choice<T> {
    pub fn one(what: T) -> Choice<T> {
        Choice { of: vec![(Expression::Bool(true), what)] }
    }
}

impl Reader<'_> {
    /// The header that an operand denotes: `header`, an element of a stack, or a member of a union.
    pub fn header_operand(&mut self, at: &At<'_>) -> Read<Choice<usize>> {
        match at.kind()? {
            "header" => Ok(Choice::one(self.instance_named(&at.content()?)?)),
            "expression" => self.header_expression(&at.content()?),
            "stack_field" => {
                let [stack, which] = at.content()?.tuple()?;
                let stack = self.stack_named(&stack)?;
                match which.text()? {
                    "last" => Ok(self.last_element(&stack)),
                    _ => Err(which.error("a header is needed here: `last`")),
                }
            }
            other => Err(at.error(format!("a header is needed here, not `{other}`"))),
        }
    }

    fn header_expression(&mut self, at: &At<'_>) -> Read<Choice<usize>> {
        if at.get("op").is_none() {
            return self.header_operand(at);
        }
        match at.field("op")?.text()? {
            "dereference_header_stack" => {
                let stack = self.stack_operand(&at.field("left")?)?;
                let index = self.data(&at.field("right")?)?;
                self.element(&stack, &index, at)
            }
            "access_union_header" => {
                let unions = self.union_operand(&at.field("left")?)?;
                let member = at.field("right")?;
                let number = member.number()? as usize;
                let mut of = Vec::new();
                for (condition, union) in unions.of {
                    let members = &self.storage.unions[union];
                    let header = members.get(number).ok_or_else(|| member.error("the union has no such member"))?;
                    of.push((condition, *header));
                }
                Ok(Choice { of })
            }
            other => Err(at.error(format!("`{other}` gives no header"))),
        }
    }

    /// The union that an operand denotes.
    pub fn union_operand(&mut self, at: &At<'_>) -> Read<Choice<usize>> {
        match at.kind()? {
            "header_union" => {
                let name = at.content()?;
                let found = self.storage.named_unions.get(name.text()?).copied();
                found.map(Choice::one).ok_or_else(|| name.error(format!("no header union is called {}", name.value)))
            }
            "expression" => {
                let inner = at.content()?;
                if inner.get("op").is_none() {
                    return self.union_operand(&inner);
                }
                if inner.field("op")?.text()? != "dereference_union_stack" {
                    return Err(inner.error("a header union is needed here"));
                }
                let left = inner.field("left")?;
                let name = left.content()?;
                let stack = self.union_stack(&name)?.0;
                let index = self.data(&inner.field("right")?)?;
                self.element(&stack, &index, &inner)
            }
            other => Err(at.error(format!("a header union is needed here, not `{other}`"))),
        }
    }

    pub fn stack_operand(&self, at: &At<'_>) -> Read<Stack> {
        match at.kind()? {
            "header_stack" | "stack" => self.stack_named(&at.content()?),
            "expression" => self.stack_operand(&at.content()?),
            other => Err(at.error(format!("a header stack is needed here, not `{other}`"))),
        }
    }

    pub fn stack_named(&self, at: &At<'_>) -> Read<Stack> {
        let name = at.text()?;
        self.storage.stacks.get(name).cloned().ok_or_else(|| at.error(format!("no header stack is called `{name}`")))
    }

    pub fn union_stack(&self, at: &At<'_>) -> Read<(Stack, String)> {
        let name = at.text()?;
        let found = self.storage.union_stacks.get(name).cloned();
        found.ok_or_else(|| at.error(format!("no stack of header unions is called `{name}`")))
    }

    /// The element of a stack with this index.
    pub fn element(&mut self, stack: &Stack, index: &Data, at: &At<'_>) -> Read<Choice<usize>> {
        if let Some(index) = index.constant() {
            let element = usize::try_from(&index).ok().and_then(|index| stack.elements.get(index));
            return element
                .map(|element| Choice::one(*element))
                .ok_or_else(|| at.error("the stack has no such element"));
        }
        let mut of = Vec::new();
        for (number, element) in stack.elements.iter().enumerate() {
            let condition = crate::data::compare(Binary::Equal, index, &Data::number(number));
            of.push((condition.ok_or_else(|| at.error(crate::expressions::UNLIMITED))?, *element));
        }
        Ok(Choice { of })
    }

    /// The element that was extracted last, behind `next`.
    pub fn last_element(&mut self, stack: &Stack) -> Choice<usize> {
        let next = self.builder.variable(stack.next);
        let is = |number: usize| arithmetic::is_number(Expression::Variable(next), number as u64 + 1, 32);
        Choice { of: stack.elements.iter().enumerate().map(|(number, element)| (is(number), *element)).collect() }
    }

    /// A field, by its name, of the header that is meant.
    pub fn field_of_choice(&mut self, choice: &Choice<usize>, name: &At<'_>) -> Read<Choice<Member>> {
        let wanted = name.text()?;
        self.members(choice, name, |members| members.iter().find(|member| member.name == wanted))
    }

    /// The same by its number.
    pub fn numbered_field(&mut self, choice: &Choice<usize>, number: &At<'_>) -> Read<Choice<Member>> {
        let wanted = number.number()? as usize;
        self.members(choice, number, |members| members.get(wanted))
    }

    fn members(
        &self,
        choice: &Choice<usize>,
        at: &At<'_>,
        find: impl Fn(&[Member]) -> Option<&Member>,
    ) -> Read<Choice<Member>> {
        let mut of = Vec::new();
        for (condition, instance) in &choice.of {
            let instance = &self.storage.instances[*instance];
            let found = find(&instance.fields);
            let member = found.ok_or_else(|| at.error(format!("header `{}` has no such field", instance.name)))?;
            of.push((condition.clone(), member.clone()));
        }
        Ok(Choice { of })
    }

    /// The value of the field that is meant; 0 if none is, beyond the ends of a stack.
    pub fn load_choice(&mut self, choice: &Choice<Member>, at: &At<'_>) -> Read<Data> {
        if let [(Expression::Bool(true), only)] = &choice.of[..] {
            return self.load(only, at);
        }
        let mut value = Data::number(0);
        for (condition, member) in choice.of.iter().rev() {
            let loaded = self.load(member, at)?;
            value = Data::choose(condition.clone(), loaded, value);
        }
        Ok(value)
    }

    /// The places that an operand of a store may denote.
    pub fn target(&mut self, at: &At<'_>) -> Read<Choice<Member>> {
        match at.kind()? {
            "field" => Ok(Choice::one(self.member(&at.content()?)?)),
            "stack_field" => {
                let [stack, field] = at.content()?.tuple()?;
                let stack = self.stack_named(&stack)?;
                let last = self.last_element(&stack);
                self.field_of_choice(&last, &field)
            }
            "expression" => {
                let inner = at.content()?;
                if inner.get("op").is_none() {
                    return self.target(&inner);
                }
                if inner.field("op")?.text()? != "access_field" {
                    return Err(inner.error("this is no place that can be stored to"));
                }
                let header = self.header_operand(&inner.field("left")?)?;
                self.numbered_field(&header, &inner.field("right")?)
            }
            other => Err(at.error(format!("this is no place that can be stored to, but `{other}`"))),
        }
    }

    /// Stores a number: its low bits.
    pub fn store(&mut self, target: &Choice<Member>, value: &Data, at: &At<'_>) -> Read<()> {
        let target = target.clone();
        self.each(&target.of, &mut |reader, member| {
            let Some(target) = reader.place(member) else {
                return Err(at.error("a field of variable length is assigned by `assign_VL` alone"));
            };
            let low = value.low(member.width).ok_or_else(|| at.error(crate::expressions::UNLIMITED))?;
            if low != Expression::place(target) {
                reader.body.push(Statement::Assign { target, value: low });
            }
            Ok(())
        })
    }

    /// Runs an operation with a place of the program for its result: the place that is meant itself, or a variable that is copied to it.
    pub fn result(
        &mut self,
        at: &At<'_>,
        width: Option<u32>,
        act: impl FnOnce(&mut Self, Place) -> Read<()>,
    ) -> Read<()> {
        let target = self.target(at)?;
        if let [(Expression::Bool(true), member)] = &target.of[..]
            && matches!(member.leaf, Leaf::Slot(_) | Leaf::Field(_))
            && width.is_none_or(|width| width == member.width)
            && let Some(place) = self.place(member)
        {
            return act(self, place);
        }
        // What leaves its result as it is finds there what the target holds.
        let before = self.load_choice(&target, at)?;
        let width = width.unwrap_or(target.of.first().map_or(32, |(_, member)| member.width));
        let result = self.new_variable("result", width);
        let value = before.low(width).ok_or_else(|| at.error(crate::expressions::UNLIMITED))?;
        self.body.push(Statement::Assign { target: Place::Variable(result), value });
        act(self, Place::Variable(result))?;
        self.store(&target, &Data::unsigned(Expression::Variable(result), width), at)
    }

    /// A variable of the reader's own.
    pub fn new_variable(&mut self, hint: &str, width: u32) -> hlir::VariableId {
        self.scratch += 1;
        let name = format!("bmv2.{hint}{}", self.scratch);
        let slot = self.builder.slots.add(&name, hlir::Type::Bits(width), hlir::Notes::default());
        self.builder.variable(slot)
    }

    /// Statements for the one of these that is meant.
    pub fn each<T>(&mut self, choices: &[(Expression, T)], act: &mut dyn FnMut(&mut Self, &T) -> Read<()>) -> Read<()> {
        let Some(((condition, what), rest)) = choices.split_first() else { return Ok(()) };
        if *condition == Expression::Bool(true) {
            return act(self, what);
        }
        let then = self.statements(|reader| act(reader, what))?;
        let otherwise = self.statements(|reader| reader.each(rest, act))?;
        if !then.is_empty() || !otherwise.is_empty() {
            self.body.push(Statement::If { condition: condition.clone(), then, otherwise });
        }
        Ok(())
    }
}
