//! Expressions of the JSON: numbers ([`Data`]) and booleans, which become HLIR's.

use hlir::build::arithmetic;
use hlir::{Binary, Expression};
use num_bigint::BigInt;

use crate::data::{Data, Operator, compare};
use crate::instances::Leaf;
use crate::json::{At, Read};
use crate::operands::Choice;
use crate::reader::Reader;

/// The message about an expression whose value has no limit.
pub const UNLIMITED: &str = "this number may become too large: its width depends on a shift by a number known only at run time, \
                             or on a division of negative numbers; mask the result with `&`";

/// What the name of a field is that has the validity of its header.
const VALID: &str = "$valid$";

/// What an expression gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Data,
    Boolean,
    Header,
    Union,
}

impl Reader<'_> {
    /// A number.
    pub fn data(&mut self, at: &At<'_>) -> Read<Data> {
        let kind = at.kind()?;
        match kind {
            "field" => self.field_value(&at.content()?),
            "hexstr" => Ok(Data::Number(at.content()?.hex()?)),
            "runtime_data" | "local" => self.parameter(&at.content()?),
            "bool" => Ok(Data::number(u8::from(at.content()?.boolean()?))),
            "stack_field" => {
                let [stack, field] = at.content()?.tuple()?;
                let stack = self.stack_named(&stack)?;
                let last = self.last_element(&stack);
                let last = self.field_of_choice(&last, &field)?;
                self.load_choice(&last, at)
            }
            "union_stack_field" => self.union_stack_field(&at.content()?),
            "expression" => {
                let inner = at.content()?;
                if inner.get("op").is_some() { self.operation(&inner) } else { self.data(&inner) }
            }
            "register" => Err(at.error("a register is read by `register_read` alone")),
            other => Err(at.error(format!("`{other}` is no number"))),
        }
    }

    /// `["header", "field"]`, or `["header", "$valid$"]`.
    pub fn field_value(&mut self, at: &At<'_>) -> Read<Data> {
        let [header, field] = at.tuple()?;
        if field.text()? == VALID {
            return Ok(Data::of_boolean(self.validity(&header)?));
        }
        let member = self.member(at)?;
        self.load(&member, at)
    }

    /// Whether the header, or the union, of this name is valid.
    fn validity(&mut self, name: &At<'_>) -> Read<Expression> {
        match self.storage.named_unions.get(name.text()?) {
            Some(union) => Ok(self.union_validity(*union)),
            None => Ok(self.valid(self.instance_named(name)?)),
        }
    }

    fn union_validity(&self, union: usize) -> Expression {
        let members = self.storage.unions[union].iter().map(|member| self.valid(*member));
        members.fold(Expression::Bool(false), arithmetic::or)
    }

    fn parameter(&mut self, at: &At<'_>) -> Read<Data> {
        let number = at.number()?;
        let width = usize::try_from(number).ok().and_then(|number| self.parameters.get(number)).copied();
        let width = width.ok_or_else(|| at.error(format!("the action has no parameter {number}")))?;
        Ok(Data::unsigned(Expression::Parameter(number as u32), width))
    }

    fn union_stack_field(&mut self, at: &At<'_>) -> Read<Data> {
        let [stack, member, field] = at.tuple()?;
        let (stack, of_type) = self.union_stack(&stack)?;
        let number = self.union_member(&of_type, &member)?;
        let last = self.last_element(&stack);
        let of = last.of.into_iter().map(|(condition, union)| (condition, self.storage.unions[union][number]));
        let headers = Choice { of: of.collect() };
        let fields = self.field_of_choice(&headers, &field)?;
        self.load_choice(&fields, at)
    }

    /// The number of a member of the unions of a type.
    pub fn union_member(&self, of_type: &str, member: &At<'_>) -> Read<usize> {
        let name = member.text()?;
        let names = self.storage.union_members.get(of_type);
        let found = names.and_then(|names| names.iter().position(|known| known == name));
        found.ok_or_else(|| member.error(format!("the union type `{of_type}` has no member `{name}`")))
    }

    /// An operation that gives a number.
    fn operation(&mut self, at: &At<'_>) -> Read<Data> {
        let op = at.field("op")?;
        let name = op.text()?;
        if let Some(operator) = arithmetic_operator(name) {
            let right = self.data(&at.field("right")?)?;
            // `-` and `+` may have one operand.
            let left = at.get("left").map_or(Ok(Data::number(0)), |left| self.data(&left))?;
            return Ok(Data::binary(operator, left, right));
        }
        match name {
            "~" => Ok(Data::Complement(Box::new(self.data(&at.field("right")?)?))),
            "b2d" => Ok(Data::of_boolean(self.boolean(&at.field("right")?)?)),
            "?" => {
                let condition = self.boolean(&at.field("cond")?)?;
                let (then, otherwise) = (self.data(&at.field("left")?)?, self.data(&at.field("right")?)?);
                Ok(Data::choose(condition, then, otherwise))
            }
            "two_comp_mod" => {
                let of = self.data(&at.field("left")?)?;
                Ok(Data::Wrapped(Box::new(of), self.width_operand(&at.field("right")?)?))
            }
            "usat_cast" | "sat_cast" => {
                let of = Box::new(self.data(&at.field("left")?)?);
                let width = self.width_operand(&at.field("right")?)?;
                Ok(Data::Saturated { of, width, signed: name == "sat_cast" })
            }
            "access_field" => {
                let header = self.header_operand(&at.field("left")?)?;
                let field = self.numbered_field(&header, &at.field("right")?)?;
                self.load_choice(&field, at)
            }
            "last_stack_index" => {
                let stack = self.stack_operand(&at.field("right")?)?;
                let next = self.builder.variable(stack.next);
                Ok(Data::binary(Operator::Subtract, Data::unsigned(Expression::Variable(next), 32), Data::number(1)))
            }
            "size_stack" => {
                let stack = self.stack_operand(&at.field("right")?)?;
                let next = self.builder.variable(stack.next);
                Ok(Data::unsigned(Expression::Variable(next), 32))
            }
            _ if kind_of_operation(name) == Some(Kind::Boolean) => Ok(Data::of_boolean(self.condition(at)?)),
            other => Err(op.error(format!("the operation `{other}` is not known"))),
        }
    }

    fn width_operand(&mut self, at: &At<'_>) -> Read<u32> {
        let width = self.data(at)?.constant().and_then(|width| u32::try_from(&width).ok());
        width.filter(|width| (1..=1 << 20).contains(width)).ok_or_else(|| at.error("a constant width is needed here"))
    }

    /// A boolean.
    pub fn boolean(&mut self, at: &At<'_>) -> Read<Expression> {
        match at.kind()? {
            "bool" => Ok(Expression::Bool(at.content()?.boolean()?)),
            "expression" => {
                let inner = at.content()?;
                if inner.get("op").is_some() { self.condition(&inner) } else { self.boolean(&inner) }
            }
            _ => Err(at.error("a boolean is needed here; numbers are converted by `d2b`")),
        }
    }

    /// An operation that gives a boolean.
    pub fn condition(&mut self, at: &At<'_>) -> Read<Expression> {
        let op = at.field("op")?;
        let right = at.field("right")?;
        match op.text()? {
            "d2b" => self.nonzero(&right),
            "not" => Ok(arithmetic::not(self.boolean(&right)?)),
            "and" => Ok(arithmetic::and(self.boolean(&at.field("left")?)?, self.boolean(&right)?)),
            "or" => Ok(arithmetic::or(self.boolean(&at.field("left")?)?, self.boolean(&right)?)),
            "valid" => {
                let headers = self.header_operand(&right)?;
                let valid = headers.of.into_iter().map(|(condition, one)| arithmetic::and(condition, self.valid(one)));
                Ok(valid.fold(Expression::Bool(false), arithmetic::or))
            }
            "valid_union" => {
                let unions = self.union_operand(&right)?;
                let valid = unions.of.into_iter();
                let valid = valid.map(|(condition, one)| arithmetic::and(condition, self.union_validity(one)));
                Ok(valid.fold(Expression::Bool(false), arithmetic::or))
            }
            "==" => self.equality(at),
            "!=" => Ok(arithmetic::not(self.equality(at)?)),
            "?" => {
                let condition = self.boolean(&at.field("cond")?)?;
                let (then, otherwise) = (self.boolean(&at.field("left")?)?, self.boolean(&right)?);
                Ok(arithmetic::choose(condition, then, otherwise))
            }
            other => match comparison(other) {
                Some(operator) => {
                    let (left, right) = (self.data(&at.field("left")?)?, self.data(&right)?);
                    compare(operator, &left, &right).ok_or_else(|| at.error(UNLIMITED))
                }
                None => Err(op.error(format!("the operation `{other}` gives no boolean"))),
            },
        }
    }

    /// Whether a number is not 0.
    fn nonzero(&mut self, at: &At<'_>) -> Read<Expression> {
        if let ("field", Ok([header, field])) = (at.kind()?, at.content()?.tuple())
            && field.value.as_str() == Some(VALID)
        {
            return self.validity(&header);
        }
        self.data(at)?.is_set().ok_or_else(|| at.error(UNLIMITED))
    }

    /// `==` of numbers, booleans, headers or unions.
    fn equality(&mut self, at: &At<'_>) -> Read<Expression> {
        let (left, right) = (at.field("left")?, at.field("right")?);
        match kind_of(&left)? {
            Kind::Boolean => Ok(arithmetic::equal(self.boolean(&left)?, self.boolean(&right)?)),
            Kind::Data => {
                if let (Some(one), Some(other)) = (self.varbit(&left)?, self.varbit(&right)?) {
                    return Ok(Expression::VarbitEqual(one, other));
                }
                let (left, right) = (self.data(&left)?, self.data(&right)?);
                compare(Binary::Equal, &left, &right).ok_or_else(|| at.error(UNLIMITED))
            }
            Kind::Header => {
                let (left, right) = (self.header_operand(&left)?, self.header_operand(&right)?);
                let mut same = Expression::Bool(false);
                for (this, one) in &left.of {
                    for (that, other) in &right.of {
                        let both = arithmetic::and(this.clone(), that.clone());
                        same = arithmetic::or(same, arithmetic::and(both, self.same_header(*one, *other, at)?));
                    }
                }
                Ok(same)
            }
            Kind::Union => Err(at.error("unions are compared member by member")),
        }
    }

    /// The field of variable length that an operand is, if it is one.
    fn varbit(&self, at: &At<'_>) -> Read<Option<hlir::FieldRef>> {
        if at.kind()? != "field" {
            return Ok(None);
        }
        let field = at.content()?;
        let [_, name] = field.tuple()?;
        if name.text()? == VALID {
            return Ok(None);
        }
        Ok(match self.member(&field)?.leaf {
            Leaf::Varbit(field) => Some(field),
            Leaf::Slot(_) | Leaf::Field(_) => None,
        })
    }

    fn same_header(&mut self, one: usize, other: usize, at: &At<'_>) -> Read<Expression> {
        let (valid, too) = (self.valid(one), self.valid(other));
        let fields = |of: usize| self.storage.instances[of].fields.clone();
        let mut same = Expression::Bool(true);
        for (left, right) in fields(one).into_iter().zip(fields(other)) {
            let equal = match (left.leaf, right.leaf) {
                (Leaf::Varbit(left), Leaf::Varbit(right)) => Expression::VarbitEqual(left, right),
                _ => {
                    let (left, right) = (self.load(&left, at)?, self.load(&right, at)?);
                    compare(Binary::Equal, &left, &right).ok_or_else(|| at.error(UNLIMITED))?
                }
            };
            same = arithmetic::and(same, equal);
        }
        let both = arithmetic::and(arithmetic::and(valid.clone(), too.clone()), same);
        let neither = arithmetic::and(arithmetic::not(valid), arithmetic::not(too));
        Ok(arithmetic::or(neither, both))
    }

    /// A constant number.
    pub fn constant(&mut self, at: &At<'_>, what: &str) -> Read<BigInt> {
        self.data(at)?.constant().ok_or_else(|| at.error(format!("{what} must be a constant")))
    }
}

fn arithmetic_operator(name: &str) -> Option<Operator> {
    Some(match name {
        "+" => Operator::Add,
        "-" => Operator::Subtract,
        "*" => Operator::Multiply,
        "/" => Operator::Divide,
        "%" => Operator::Remainder,
        "<<" => Operator::ShiftLeft,
        ">>" => Operator::ShiftRight,
        "&" => Operator::And,
        "|" => Operator::Or,
        "^" => Operator::Xor,
        _ => return None,
    })
}

fn comparison(name: &str) -> Option<Binary> {
    Some(match name {
        "<" => Binary::Less,
        "<=" => Binary::LessEqual,
        ">" => Binary::Greater,
        ">=" => Binary::GreaterEqual,
        _ => return None,
    })
}

fn kind_of_operation(name: &str) -> Option<Kind> {
    Some(match name {
        "d2b" | "not" | "and" | "or" | "valid" | "valid_union" | "==" | "!=" | "<" | "<=" | ">" | ">=" => Kind::Boolean,
        "dereference_header_stack" | "access_union_header" => Kind::Header,
        "dereference_union_stack" => Kind::Union,
        _ => return None,
    })
}

/// What an operand gives.
fn kind_of(at: &At<'_>) -> Read<Kind> {
    Ok(match at.kind()? {
        "bool" => Kind::Boolean,
        "header" => Kind::Header,
        "header_union" => Kind::Union,
        "expression" => {
            let inner = at.content()?;
            match inner.get("op") {
                None => return kind_of(&inner),
                Some(op) if op.text()? == "?" => return kind_of(&inner.field("left")?),
                Some(op) => kind_of_operation(op.text()?).unwrap_or(Kind::Data),
            }
        }
        _ => Kind::Data,
    })
}
