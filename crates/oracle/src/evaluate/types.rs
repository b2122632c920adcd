//! Types as they are written, made into types (7), and the types of expressions that are not evaluated.

use std::rc::Rc;

use num_bigint::BigInt;
use p4::ast::{
    self, BinaryOperator, Declaration, DeclarationKind, Expression, ExpressionKind, StructureKind, TypeKind,
    TypeParameter,
};

use super::environment::{Binding, Env, bind};
use super::machine::Machine;
use super::value::{EnumType, Shape, StructureType, Type};
use super::{Run, unsupported};

impl<'a> Machine<'a> {
    pub(super) fn resolve(&mut self, of: &'a ast::Type, env: &Env<'a>) -> Run<Type> {
        Ok(match &of.kind {
            TypeKind::Void => Type::Void,
            TypeKind::Bool => Type::Bool,
            TypeKind::Error => Type::Error,
            TypeKind::String => Type::String,
            TypeKind::Integer => Type::Integer,
            TypeKind::MatchKind => Type::Object("match_kind".into()),
            TypeKind::DontCare => Type::Any,
            TypeKind::Bit(None) => Type::Bits { width: 1, signed: false },
            TypeKind::Bit(Some(width)) => Type::Bits { width: self.size(width, env)?, signed: false },
            TypeKind::SignedBit(width) => Type::Bits { width: self.size(width, env)?, signed: true },
            TypeKind::Varbit(most) => Type::Varbit(self.size(most, env)?),
            TypeKind::Tuple(types) => Type::Tuple(self.resolve_all(types, env)?),
            TypeKind::List(_) => Type::Any,
            TypeKind::Named(path) => match self.lookup(path, env)? {
                Binding::Type(of) => of,
                Binding::Class(declaration) => Type::Object(declaration.name.as_str().into()),
                _ => return unsupported(format!("{path} is no type")),
            },
            TypeKind::Specialized { base, arguments } => {
                let arguments = self.resolve_all(arguments, env)?;
                let declaration = self.globals.get(base.name.as_str()).and_then(|all| all.first().copied());
                match declaration {
                    Some(declaration) => self.declared_type(declaration, &arguments)?,
                    None => return unsupported(format!("unknown type {base}")),
                }
            }
            TypeKind::Array { element, size } => {
                let element = Rc::new(self.resolve(element, env)?);
                Type::Stack { element, size: self.size(size, env)? }
            }
        })
    }

    pub(super) fn resolve_all(&mut self, types: &'a [ast::Type], env: &Env<'a>) -> Run<Vec<Type>> {
        types.iter().map(|of| self.resolve(of, env)).collect()
    }

    /// The type that a declaration declares. A `type` is taken for its original type: only the checker distinguishes them.
    pub(super) fn declared_type(&mut self, declaration: &'a Declaration, arguments: &[Type]) -> Run<Type> {
        match &declaration.kind {
            DeclarationKind::Typedef { target, .. } | DeclarationKind::NewType { target } => {
                self.resolve(target, &None)
            }
            DeclarationKind::Structure(structure) => {
                if let Some(known) = self.structures.get(&declaration.id).filter(|_| arguments.is_empty()) {
                    return Ok(Type::Structure(known.clone()));
                }
                let env = bind_types(&None, &structure.type_parameters, arguments);
                let mut fields = Vec::new();
                for field in &structure.fields {
                    fields.push((field.name.as_str().into(), self.resolve(&field.of_type, &env)?));
                }
                let shape = match structure.kind {
                    StructureKind::Struct => Shape::Struct,
                    StructureKind::Header => Shape::Header,
                    StructureKind::HeaderUnion => Shape::Union,
                };
                let made = Rc::new(StructureType { name: declaration.name.as_str().into(), shape, fields });
                if arguments.is_empty() {
                    self.structures.insert(declaration.id, made.clone());
                }
                Ok(Type::Structure(made))
            }
            DeclarationKind::Enumeration(enumeration) => match &enumeration.underlying {
                Some(underlying) => self.resolve(underlying, &None),
                None => {
                    let members = enumeration.members.iter().map(|member| member.name.as_str().into()).collect();
                    Ok(Type::Enum(Rc::new(EnumType { name: declaration.name.as_str().into(), members })))
                }
            },
            _ => Ok(Type::Object(declaration.name.as_str().into())),
        }
    }

    /// The type of an expression, without evaluating it: for a number without a width beside it (8.11.2).
    pub(super) fn type_of(&mut self, expression: &'a Expression, env: &Env<'a>) -> Run<Type> {
        use BinaryOperator::{And, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual, Or};
        Ok(match &expression.kind {
            ExpressionKind::Bool(_) => Type::Bool,
            ExpressionKind::Integer(literal) => match literal.width {
                Some(width) => Type::Bits { width: width as usize, signed: literal.signed },
                None => Type::Integer,
            },
            ExpressionKind::Path(path) => match self.lookup(path, env)? {
                Binding::Variable(slot) => self.slots[slot].type_of(),
                Binding::Constant(value) => value.type_of(),
                _ => Type::Any,
            },
            ExpressionKind::Unary { operand, .. } => self.type_of(operand, env)?,
            ExpressionKind::Binary { operator, left, right } => match operator {
                Less | LessOrEqual | Greater | GreaterOrEqual | Equal | NotEqual | And | Or => Type::Bool,
                BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => self.type_of(left, env)?,
                BinaryOperator::Concatenate => match (self.type_of(left, env)?, self.type_of(right, env)?) {
                    (Type::Bits { width, signed }, Type::Bits { width: other, .. }) => {
                        Type::Bits { width: width + other, signed }
                    }
                    (other, _) => other,
                },
                _ => match self.type_of(left, env)? {
                    Type::Integer => self.type_of(right, env)?,
                    left => left,
                },
            },
            ExpressionKind::Conditional { accepted, rejected, .. } => match self.type_of(accepted, env)? {
                Type::Integer => self.type_of(rejected, env)?,
                accepted => accepted,
            },
            ExpressionKind::Cast { target, .. } => self.resolve(target, env)?,
            ExpressionKind::Member { base, member } => self.type_of_member(base, member.as_str(), env)?,
            ExpressionKind::Index { base, index } => match self.type_of(base, env)? {
                Type::Stack { element, .. } => (*element).clone(),
                Type::Tuple(elements) => {
                    let index = self.size(index, env)?;
                    elements.get(index).cloned().unwrap_or(Type::Any)
                }
                _ => Type::Any,
            },
            ExpressionKind::Slice { high, low, .. } => {
                let width: BigInt = self.number(high, env)? - self.number(low, env)? + 1;
                Type::Bits { width: usize::try_from(&width).unwrap_or(0), signed: false }
            }
            ExpressionKind::PlusSlice { width, .. } => Type::Bits { width: self.size(width, env)?, signed: false },
            ExpressionKind::Call { callee, type_arguments, .. } => self.type_of_call(callee, type_arguments, env)?,
            _ => Type::Any,
        })
    }

    fn type_of_member(&mut self, base: &'a Expression, member: &str, env: &Env<'a>) -> Run<Type> {
        if let Some(of) = self.named_type(base, env)? {
            return Ok(of);
        }
        Ok(match self.type_of(base, env)? {
            Type::Structure(of) => of.position(member).map_or(Type::Any, |at| of.fields[at].1.clone()),
            Type::Stack { element, .. } if matches!(member, "next" | "last") => (*element).clone(),
            Type::Stack { .. } if matches!(member, "size" | "lastIndex" | "nextIndex") => {
                Type::Bits { width: 32, signed: false }
            }
            _ => Type::Any,
        })
    }

    fn type_of_call(&mut self, callee: &'a Expression, arguments: &'a [ast::Type], env: &Env<'a>) -> Run<Type> {
        match &callee.kind {
            ExpressionKind::Path(path) => match self.lookup(path, env)? {
                Binding::Code(overloads, inner) => match &overloads[0].kind {
                    DeclarationKind::Function(function) => {
                        let given = self.resolve_all(arguments, env)?;
                        let inner = bind_types(&inner, &function.type_parameters, &given);
                        Ok(self.resolve(&function.return_type, &inner).unwrap_or(Type::Any))
                    }
                    _ => Ok(Type::Void),
                },
                _ => Ok(Type::Any),
            },
            ExpressionKind::Member { member, .. } if member.as_str() == "lookahead" && arguments.len() == 1 => {
                self.resolve(&arguments[0], env)
            }
            ExpressionKind::Member { member, .. } if member.as_str() == "isValid" => Ok(Type::Bool),
            _ => Ok(Type::Any),
        }
    }
}

pub fn bind_types<'a>(env: &Env<'a>, parameters: &'a [TypeParameter], arguments: &[Type]) -> Env<'a> {
    parameters
        .iter()
        .zip(arguments)
        .fold(env.clone(), |env, (parameter, of)| bind(&env, parameter.name.as_str(), Binding::Type(of.clone())))
}
