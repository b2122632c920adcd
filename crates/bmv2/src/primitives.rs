//! The primitives of actions and parser states: those of BMv2's core, and those of `simple_switch`.

use hlir::build::arithmetic;
use hlir::build::v1model::Request;
use hlir::{Binary, Call, Expression, Place, Statement, Type};

use crate::data::{Data, Operator};
use crate::expressions::UNLIMITED;
use crate::json::{At, Read};
use crate::operands::Choice;
use crate::reader::Reader;

/// The `N` parameters of a primitive.
pub fn parameters<'j, const N: usize>(primitive: &At<'j>) -> Read<[At<'j>; N]> {
    let given = primitive.field("parameters")?;
    let items = given.items()?;
    let count = items.len();
    items.try_into().map_err(|_| given.error(format!("this primitive has {N} parameters, not {count}")))
}

impl Reader<'_> {
    /// Lowers a primitive that is no jump.
    pub fn primitive(&mut self, at: &At<'_>) -> Read<()> {
        let op = at.field("op")?;
        match op.text()? {
            name @ ("assign"
            | "modify_field"
            | "assign_VL"
            | "assign_header"
            | "copy_header"
            | "assign_union"
            | "assign_header_stack"
            | "assign_union_stack") => self.assignment(name, at),
            "add_header" | "add_header_fast" => {
                let [header] = parameters(at)?;
                self.each_header(&header, Self::validate)
            }
            "remove_header" => {
                let [header] = parameters(at)?;
                self.each_header(&header, Self::invalidate)
            }
            name @ ("push" | "pop") => self.move_stack(name, at),
            "mark_to_drop" => {
                let [header] = parameters(at)?;
                self.mark_to_drop(&header)
            }
            "drop" => {
                self.drop();
                Ok(())
            }
            "exit" => {
                self.body.push(Statement::Exit);
                Ok(())
            }
            "no_op" => Ok(()),
            "truncate" => {
                let [length] = parameters(at)?;
                self.truncate(&length)
            }
            "clone_ingress_pkt_to_egress" => self.clone_packet(Request::CloneIngress, at),
            "clone_egress_pkt_to_egress" => self.clone_packet(Request::CloneEgress, at),
            "resubmit" => self.again(Request::Resubmit, at),
            "recirculate" => self.again(Request::Recirculate, at),
            "assert" | "assume" => self.assertion(at),
            "log_msg" => self.log(at),
            name => {
                if self.stateful(name, at)? || self.legacy(name, at)? {
                    return Ok(());
                }
                Err(op.error(format!("the primitive `{name}` is not known")).hint(
                    "primitives of BMv2's core and of `simple_switch` are read; externs of other targets are not",
                ))
            }
        }
    }

    fn assignment(&mut self, name: &str, at: &At<'_>) -> Read<()> {
        let [to, from] = parameters(at)?;
        match name {
            "assign" | "modify_field" => {
                let value = self.data(&from)?;
                let target = self.target(&to)?;
                self.store(&target, &value, &from)
            }
            "assign_VL" => self.copy_varbit(&to, &from),
            "assign_union" => {
                let (to, from) = (self.union_operand(&to)?, self.union_operand(&from)?);
                self.each(&to.of, &mut |reader, to| {
                    reader.each(&from.of, &mut |reader, from| reader.copy_union(*to, *from, at))
                })
            }
            "assign_header_stack" => {
                let (to, from) = (self.stack_operand(&to)?, self.stack_operand(&from)?);
                self.copy_stack((&to, &from), at, Self::copy_header)
            }
            "assign_union_stack" => {
                let (to, from) = (self.union_stack(&to.content()?)?.0, self.union_stack(&from.content()?)?.0);
                self.copy_stack((&to, &from), at, Self::copy_union)
            }
            _ => {
                let (to, from) = (self.header_operand(&to)?, self.header_operand(&from)?);
                self.each(&to.of, &mut |reader, to| {
                    reader.each(&from.of, &mut |reader, from| reader.copy_header(*to, *from, at))
                })
            }
        }
    }

    fn each_header(&mut self, header: &At<'_>, act: fn(&mut Self, usize)) -> Read<()> {
        let headers = self.header_operand(header)?;
        self.each(&headers.of, &mut |reader, header| {
            act(reader, *header);
            Ok(())
        })
    }

    fn move_stack(&mut self, name: &str, at: &At<'_>) -> Read<()> {
        let [stack, count] = parameters(at)?;
        let stack = self.stack_operand(&stack)?;
        let number = self.count_operand(&count)?;
        if name == "push" { self.push(&stack, number, at) } else { self.pop(&stack, number, at) }
    }

    /// Asks for a drop in the standard metadata, or in the copy of it that is named. Multicast is taken back, too.
    fn mark_to_drop(&mut self, header: &At<'_>) -> Read<()> {
        let name = header.content()?;
        let instance = self.instance_named(&name)?;
        let fields = self.storage.instances[instance].fields.clone();
        let find = |name: &str| fields.iter().find(|field| field.name == name).cloned();
        let Some(spec) = find("egress_spec") else {
            return Err(name.error("this is no standard metadata: it has no field `egress_spec`"));
        };
        let drop = Data::Number(arithmetic::ones(spec.width).into());
        self.store(&Choice::one(spec), &drop, header)?;
        match find("mcast_grp").filter(|_| self.metadata.uses_multicast) {
            Some(group) => self.store(&Choice::one(group), &Data::number(0), header),
            None => Ok(()),
        }
    }

    /// `drop` of P4_14: the same in the standard metadata itself.
    fn drop(&mut self) {
        let port = self.metadata.drop_port();
        self.set_standard("egress_spec", port);
        if self.metadata.uses_multicast {
            let width = self.metadata.standard_width("mcast_grp");
            self.set_standard("mcast_grp", Expression::constant(0u32, width));
        }
    }

    /// Assigns to a field of the standard metadata, if the program has it.
    pub fn set_standard(&mut self, name: &str, value: Expression) {
        if let Some(known) = self.metadata.standard.get(name) {
            let slot = known.slot;
            let target = Place::Variable(self.builder.variable(slot));
            self.body.push(Statement::Assign { target, value });
        }
    }

    /// The shortest length of all calls counts.
    fn truncate(&mut self, length: &At<'_>) -> Read<()> {
        let length = self.low(length, 32)?;
        let flag = self.hidden("truncate", Type::Bool);
        let shortest = self.hidden("truncate_length", Type::Bits(32));
        let longer = Expression::binary(Binary::Less, Expression::Variable(shortest), length.clone());
        let keep = Expression::binary(Binary::LogicalAnd, Expression::Variable(flag), longer);
        let set = hlir::build::assignment(shortest, length);
        self.body.push(Statement::If { condition: keep, then: Vec::new(), otherwise: vec![set] });
        self.body.push(hlir::build::assignment(flag, Expression::Bool(true)));
        Ok(())
    }

    fn clone_packet(&mut self, request: Request, at: &At<'_>) -> Read<()> {
        let [session, list] = parameters(at)?;
        let session = self.low(&session, 32)?;
        let variable = self.hidden(&request.session_name(), Type::Bits(32));
        self.body.push(hlir::build::assignment(variable, session));
        if request == Request::CloneIngress
            && let Some(known) = self.metadata.standard.get("instance_type")
        {
            let slot = known.slot;
            self.builder.variable(slot);
        }
        self.request(request, &list)
    }

    fn again(&mut self, request: Request, at: &At<'_>) -> Read<()> {
        let [list] = parameters(at)?;
        self.request(request, &list)
    }

    /// Notes what the program asks for, and the field list that it keeps.
    fn request(&mut self, request: Request, list: &At<'_>) -> Read<()> {
        let number = self.constant(list, "a field list")?;
        let number = u32::try_from(&number).map_err(|_| list.error("there is no such field list"))?;
        let lists = self.metadata.requests.entry(request).or_default();
        if !lists.contains(&number) {
            lists.push(number);
        }
        let flag = self.hidden(request.name(), Type::Bool);
        self.body.push(hlir::build::assignment(flag, Expression::Bool(true)));
        if self.has_several_lists(request) {
            let variable = self.hidden(&request.list_name(), Type::Bits(32));
            self.body.push(hlir::build::assignment(variable, Expression::constant(number, 32)));
        }
        Ok(())
    }

    fn assertion(&mut self, at: &At<'_>) -> Read<()> {
        let [condition] = parameters(at)?;
        let value = self.data(&condition)?;
        let condition = value.is_set().ok_or_else(|| condition.error(UNLIMITED))?;
        let source = at.get("source_info").and_then(|info| info.get("source_fragment"));
        let text = source.and_then(|text| text.value.as_str()).unwrap_or("assert").to_string();
        self.body.push(Statement::Call(Call::Assert { condition, text }));
        Ok(())
    }

    fn log(&mut self, at: &At<'_>) -> Read<()> {
        let [format, values] = parameters(at)?;
        let format = format.content()?.text()?.to_string();
        let mut arguments = Vec::new();
        let values = values.content()?;
        // Without parameters, p4c writes an object.
        let values = if values.value.is_object() { Vec::new() } else { values.items()? };
        for value in values {
            let exact = self.data(&value)?.exact();
            arguments.push(exact.ok_or_else(|| value.error(UNLIMITED))?.value);
        }
        self.body.push(Statement::Call(Call::Log { format, arguments }));
        Ok(())
    }

    /// Primitives of P4_14 that compute.
    fn legacy(&mut self, name: &str, at: &At<'_>) -> Read<bool> {
        let operator = match name {
            "add_to_field" | "add" => Operator::Add,
            "subtract_from_field" | "subtract" => Operator::Subtract,
            "bit_xor" => Operator::Xor,
            "bit_or" => Operator::Or,
            "bit_and" => Operator::And,
            "shift_left" => Operator::ShiftLeft,
            "shift_right" => Operator::ShiftRight,
            _ => return Ok(false),
        };
        let (to, left, right) = if name.ends_with("_field") {
            let [to, by] = parameters(at)?;
            (to.clone(), to, by)
        } else {
            let [to, left, right] = parameters(at)?;
            (to, left, right)
        };
        let value = Data::binary(operator, self.data(&left)?, self.data(&right)?);
        let target = self.target(&to)?;
        self.store(&target, &value, at)?;
        Ok(true)
    }

    /// The low bits of a number.
    pub fn low(&mut self, at: &At<'_>, width: u32) -> Read<Expression> {
        self.data(at)?.low(width).ok_or_else(|| at.error(UNLIMITED))
    }
}
