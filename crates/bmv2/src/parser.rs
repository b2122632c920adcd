//! The parser: a state of the JSON becomes a state of the graph.

use std::collections::HashMap;

use hlir::build::graph::Role;
use hlir::build::{arithmetic, assignment};
use hlir::program::error_code;
use hlir::{Binary, Expression, NodeId, Notes, Parser, Statement, VariableId};

use crate::data::Data;
use crate::instances::{Leaf, Stack};
use crate::json::{At, Read};
use crate::operands::Choice;
use crate::primitives::parameters;
use crate::reader::Reader;

/// Blocks of the states, by their names.
pub struct States {
    pub blocks: HashMap<String, NodeId>,
    pub accept: NodeId,
}

impl<'j> Reader<'j> {
    /// Lowers the parser, which ends in `parsed` whether it accepts or not; where it begins.
    pub fn read_parser(&mut self, parsed: NodeId) -> Read<NodeId> {
        let parsers = self.root.field("parsers")?.items()?;
        let named = parsers.iter().find(|parser| parser.name().is_ok_and(|name| name == "parser"));
        let Some(parser) = named.or(parsers.first()).cloned() else {
            return Err(self.root.error("the program has no parser"));
        };
        let error = self.error_variable();
        let failed = self.builder.plain_block("parser.failed");
        let made = Parser { name: "parser".to_string(), start: parsed, accept: parsed, reject: failed, error };
        let id = self.builder.program.parsers.alloc(made);
        self.builder.graph.reject_to(id, failed);
        let mut states = States { blocks: HashMap::new(), accept: parsed };
        let list = parser.field("parse_states")?.items()?;
        for state in &list {
            let name = state.name()?;
            let block = self.builder.graph.add(format!("parser.{name}"), Notes::default(), Role::State(id));
            states.blocks.insert(name.to_string(), block);
        }
        let entry = self.builder.graph.add("parser.begin", Notes::default(), Role::State(id));
        self.builder.graph.block_mut(entry).implicit = true;
        self.number_errors(entry, failed, error);
        let init = parser.field("init_state")?;
        let first = self.state(&states, Some(&init))?;
        self.builder.graph.goto(entry, first);
        for state in list {
            let done = self.read_state(&state, &states);
            self.note(done);
        }
        self.builder.graph.goto(failed, parsed);
        self.builder.program.parsers[id].start = entry;
        Ok(entry)
    }

    /// The block of a state; the end of the parser without a name.
    pub fn state(&self, states: &States, name: Option<&At<'_>>) -> Read<NodeId> {
        let Some(name) = name else { return Ok(states.accept) };
        let block = states.blocks.get(name.text()?).copied();
        block.ok_or_else(|| name.error(format!("no parser state is called {}", name.value)))
    }

    /// Where the parser leaves the code of its error.
    fn error_variable(&mut self) -> VariableId {
        match self.metadata.standard.get("parser_error") {
            Some(known) if known.of_type == hlir::Type::Bits(32) => {
                let slot = known.slot;
                self.builder.variable(slot)
            }
            _ => self.hidden("parser_error", hlir::Type::Bits(32)),
        }
    }

    /// Gives errors the numbers of the JSON, where those are not HLIR's.
    fn number_errors(&mut self, entry: NodeId, failed: NodeId, error: VariableId) {
        if self.numbers_errors_alike() {
            return;
        }
        let numbers = self.error_numbers.clone();
        let number = |code: usize| Expression::constant(numbers[code], 32);
        self.builder.emit(entry, assignment(error, number(0)));
        let mut value = Expression::Variable(error);
        for code in (0..numbers.len()).rev() {
            let is = arithmetic::is_number(Expression::Variable(error), code as u64, 32);
            value = arithmetic::choose(is, number(code), value);
        }
        self.builder.emit(failed, assignment(error, value));
    }

    fn read_state(&mut self, at: &At<'j>, states: &States) -> Read<()> {
        let block = states.blocks[at.name()?];
        let body = self.statements(|reader| {
            for op in at.list("parser_ops")? {
                let done = reader.parser_op(&op);
                reader.note(done);
            }
            reader.select(at, states, block)
        })?;
        self.builder.graph.block_mut(block).body.extend(body);
        Ok(())
    }

    fn parser_op(&mut self, at: &At<'_>) -> Read<()> {
        let op = at.field("op")?;
        match op.text()? {
            "extract" => {
                let [header] = parameters(at)?;
                self.extract(&header, None)
            }
            "extract_VL" => {
                let [header, length] = parameters(at)?;
                let length = self.low(&length, 32)?;
                self.extract(&header, Some(length))
            }
            "set" => {
                let [to, from] = parameters(at)?;
                let target = self.target(&to)?;
                let value = if from.kind()? == "lookahead" { self.lookahead(&from)? } else { self.data(&from)? };
                self.store(&target, &value, &from)
            }
            "verify" => {
                let [condition, error] = parameters(at)?;
                let condition = self.parser_condition(&condition)?;
                let error = self.error_operand(&error)?;
                self.body.push(Statement::Verify { condition, error });
                Ok(())
            }
            "advance" => {
                let [bits] = parameters(at)?;
                let bits = self.low(&bits, 32)?;
                self.body.push(Statement::Advance(bits));
                Ok(())
            }
            "shift" => {
                let [bytes] = parameters(at)?;
                let bytes = match bytes.value.as_u64() {
                    Some(bytes) => Data::number(bytes),
                    None => self.data(&bytes)?,
                };
                let bits = Data::binary(crate::data::Operator::Multiply, bytes, Data::number(8));
                self.body.extend(bits.low(32).map(Statement::Advance));
                Ok(())
            }
            "primitive" => {
                let [primitive] = parameters(at)?;
                self.primitive(&primitive)
            }
            other => Err(op.error(format!("the operation `{other}` of parsers is not known"))),
        }
    }

    /// The condition of `verify`: an expression, possibly without its wrapper.
    fn parser_condition(&mut self, at: &At<'_>) -> Read<Expression> {
        if at.get("op").is_some() { self.condition(at) } else { self.boolean(at) }
    }

    fn error_operand(&mut self, at: &At<'_>) -> Read<Expression> {
        let value = self.data(at)?;
        match value.constant() {
            Some(number) => {
                let code = u64::try_from(&number).ok().and_then(|number| self.error_code(number));
                let code = code.ok_or_else(|| at.error(format!("no error has the number {number}")))?;
                Ok(Expression::constant(code, 32))
            }
            None if self.numbers_errors_alike() => value.low(32).ok_or_else(|| at.error(crate::expressions::UNLIMITED)),
            None => Err(at.error("the error must be a constant, since errors have other numbers than core.p4's here")),
        }
    }

    /// Bits ahead of the cursor, in a variable: `[offset, width]`.
    pub fn lookahead(&mut self, at: &At<'_>) -> Read<Data> {
        let [offset, width] = at.content()?.tuple()?;
        let (offset, width) = (offset.small()?, width.small()?);
        let into = self.new_variable("lookahead", width);
        self.body.push(Statement::Lookahead { into, offset });
        Ok(Data::unsigned(Expression::Variable(into), width))
    }

    fn extract(&mut self, at: &At<'_>, length: Option<Expression>) -> Read<()> {
        let what = at.content()?;
        match at.kind()? {
            "regular" | "header" => {
                let instance = self.instance_named(&what)?;
                self.extract_instance(instance, length, at)
            }
            "stack" => {
                let stack = self.stack_named(&what)?;
                let next = self.next_element(&stack);
                self.each(&next.of, &mut |reader, instance| reader.extract_instance(*instance, length.clone(), at))?;
                self.advance(&stack);
                Ok(())
            }
            "union_stack" => {
                let [name, member] = what.tuple()?;
                let (stack, of_type) = self.union_stack(&name)?;
                let number = self.union_member(&of_type, &member)?;
                let next = self.next_element(&stack);
                self.each(&next.of, &mut |reader, union| {
                    let instance = reader.storage.unions[*union][number];
                    reader.extract_instance(instance, length.clone(), at)
                })?;
                self.advance(&stack);
                Ok(())
            }
            other => Err(at.error(format!("`{other}` cannot be extracted"))),
        }
    }

    fn extract_instance(&mut self, instance: usize, length: Option<Expression>, at: &At<'_>) -> Read<()> {
        let instance = &self.storage.instances[instance];
        let Some(header) = instance.header else {
            return Err(at.error(format!("`{}` is metadata, and cannot be extracted", instance.name)));
        };
        if !self.builder.program.headers[header].fixed_bits().is_multiple_of(8) {
            let message = format!("`{}` is no whole number of bytes, and cannot be extracted", instance.name);
            return Err(at.error(message));
        }
        let has_varbit = instance.fields.iter().any(|field| matches!(field.leaf, Leaf::Varbit(_)));
        let varbit = has_varbit.then(|| length.unwrap_or_else(|| Expression::constant(0u32, 32)));
        self.body.push(Statement::Extract { header, varbit });
        let siblings = self.builder.slots.siblings(header).to_vec();
        self.body.extend(siblings.into_iter().map(Statement::SetInvalid));
        Ok(())
    }

    /// The element behind those that were extracted, which must exist.
    fn next_element(&mut self, stack: &Stack) -> Choice<usize> {
        let next = Expression::Variable(self.builder.variable(stack.next));
        let size = Expression::constant(stack.elements.len() as u64, 32);
        let condition = Expression::binary(Binary::Less, next.clone(), size);
        let error = Expression::constant(error_code::STACK_OUT_OF_BOUNDS, 32);
        self.body.push(Statement::Verify { condition, error });
        let is = |number: usize| arithmetic::is_number(next.clone(), number as u64, 32);
        Choice { of: stack.elements.iter().enumerate().map(|(number, element)| (is(number), *element)).collect() }
    }

    fn advance(&mut self, stack: &Stack) {
        let next = self.builder.variable(stack.next);
        let one = Expression::constant(1u32, 32);
        self.body.push(assignment(next, Expression::binary(Binary::Add, Expression::Variable(next), one)));
    }
}
