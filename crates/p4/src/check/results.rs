//! What a check finds out: tables beside the syntax tree, by expression and by declaration.
//!
//! See `check` for how to read them. Nothing here decides anything; the other files of this folder fill it.

use std::collections::HashMap;

use hlir::source::Span;

use super::nodes::Node;
use crate::ast::{Argument, Declaration, DeclarationId, Direction, Expression, ExpressionId, Name, Parameter, Program};
use crate::evaluate::Value;
use crate::types::{Nominal, Substitution, Type};

/// The meaning of a name, a member access or a callee.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reference {
    /// The expression is not a reference, or an error was reported about it.
    #[default]
    None,
    /// A constant, variable, parameter, instance, action, table or value set.
    Declaration(DeclarationId),
    /// The name of a type.
    Type(Type),
    /// A field of a struct, header or union.
    Field(DeclarationId),
    /// A member of an enumeration, of the errors, or of the match kinds.
    Member(DeclarationId),
    /// A property that the language defines and that is not called: `stack.next`, `table.apply().hit`.
    Property(Property),
    /// A function, constructor or method that is called: the call around it has the details.
    Callee,
    /// `this`, in the body of an abstract method: the instance around it.
    This(DeclarationId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    Next,
    Last,
    LastIndex,
    Size,
    Hit,
    Miss,
    ActionRun,
}

/// What the language lets one call on its own types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    IsValid,
    SetValid,
    SetInvalid,
    PushFront,
    PopFront,
    MinSizeInBits,
    MaxSizeInBits,
    MinSizeInBytes,
    MaxSizeInBytes,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A function, or an extern function, which has no body.
    Function(DeclarationId),
    Action(DeclarationId),
    /// Called on the base of the callee, an extern instance. The method may be abstract: then the function of that name
    /// in the body of the instance is what runs.
    Method {
        object: Type,
        method: DeclarationId,
    },
    /// Makes an object; `method` is which constructor of an extern, where it declares one.
    Constructor {
        object: Type,
        method: Option<DeclarationId>,
    },
    /// Called on the base of the callee, a table.
    ApplyTable(DeclarationId),
    /// Called on the base of the callee, an instance or a constructor parameter of this parser or control type.
    Apply {
        object: Type,
    },
    /// `T.apply(...)`: an instance without a name, made for this call; `object` is its parser or control.
    ApplyDirect {
        object: Type,
    },
    /// Called on the base of the callee, a value or a type.
    Builtin(Builtin),
}

/// Where the value of a parameter comes from in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// This one of the call's arguments, in the order written.
    Argument(usize),
    /// This one of the arguments is `_`: an `out` that is not read, or an object the package does without.
    DontCare(usize),
    /// Nothing was given: the parameter's default value.
    Default,
    /// Nothing was given for an `@optional` parameter.
    Omitted,
    /// Nothing was given: the control plane supplies it. Only in a table's list of actions.
    ControlPlane,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    pub parameter: DeclarationId,
    pub direction: Direction,
    /// The parameter's type with the type arguments of the call.
    pub of_type: Type,
    pub source: Source,
}

/// A call or an instantiation, resolved. Bindings come in the order of the parameters; evaluation is in the order of the
/// arguments as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub callee: Callee,
    /// The values of the type parameters: those of the callee and, for a method, those of the extern around it.
    pub type_arguments: Substitution,
    pub bindings: Vec<Binding>,
    pub result: Type,
}

/// A program with all that was found out about it. Complete if the check reported no error.
#[derive(Clone, Debug)]
pub struct Checked<'a> {
    pub program: &'a Program,
    pub(super) nodes: Vec<Option<Node<'a>>>,
    pub(super) expressions: Vec<ExpressionFacts>,
    pub(super) calls: HashMap<ExpressionId, Call>,
    pub(super) instances: HashMap<DeclarationId, Call>,
    pub(super) declared: Vec<Type>,
    pub(super) underlying: HashMap<DeclarationId, Type>,
    pub(super) constants: HashMap<DeclarationId, Value>,
    pub(super) names: HashMap<Span, DeclarationId>,
    pub(super) numbers: HashMap<DeclarationId, u32>,
    pub(super) main: Option<DeclarationId>,
}

#[derive(Clone, Debug)]
pub(super) struct ExpressionFacts {
    pub of_type: Type,
    pub converted: Option<Type>,
    pub reference: Reference,
    pub value: Option<Value>,
}

impl Default for ExpressionFacts {
    fn default() -> ExpressionFacts {
        ExpressionFacts { of_type: Type::Unknown, converted: None, reference: Reference::None, value: None }
    }
}

impl<'a> Checked<'a> {
    pub fn node(&self, id: DeclarationId) -> Node<'a> {
        self.nodes[id.index()].expect("every declaration that is referred to is in the tree")
    }

    /// All that is declared, also parts of declarations.
    pub fn nodes(&self) -> impl Iterator<Item = (DeclarationId, Node<'a>)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(at, node)| Some((DeclarationId(at as u32), (*node)?)))
    }

    /// All declarations of their own, also those within others.
    pub fn declarations(&self) -> impl Iterator<Item = &'a Declaration> {
        self.nodes.iter().flatten().filter_map(|node| node.declaration())
    }

    /// The type of an expression as written, before any implicit cast. `Type::Name` if it names a type.
    pub fn type_of(&self, expression: &Expression) -> &Type {
        &self.expressions[expression.id.index()].of_type
    }

    /// The type that the place of an expression implicitly casts it to, if that is another one. A list or structure
    /// literal has none: its type is what it is used as.
    pub fn conversion(&self, expression: &Expression) -> Option<&Type> {
        self.expressions[expression.id.index()].converted.as_ref()
    }

    /// The type of an expression after the implicit cast, if there is one: what the surroundings see.
    pub fn used_type(&self, expression: &Expression) -> &Type {
        self.conversion(expression).unwrap_or_else(|| self.type_of(expression))
    }

    /// The value of an expression that is known at compile time without knowing constructor arguments, after the
    /// implicit cast: a number is within the width of `used_type`.
    pub fn constant(&self, expression: &Expression) -> Option<&Value> {
        self.expressions[expression.id.index()].value.as_ref()
    }

    pub fn reference(&self, expression: &Expression) -> &Reference {
        &self.expressions[expression.id.index()].reference
    }

    /// The call that a call expression is. An action in a table's list or an entry without parentheses has one too,
    /// by the id of its path.
    pub fn call(&self, expression: &Expression) -> Option<&Call> {
        self.calls.get(&expression.id)
    }

    /// The constructor call that a declared instance is.
    pub fn instance(&self, declaration: DeclarationId) -> Option<&Call> {
        self.instances.get(&declaration)
    }

    /// The type of a variable, constant, parameter, field, instance or member; what a typedef names; a declared type
    /// applied to its own type parameters; what a function or method returns.
    pub fn declared_type(&self, declaration: DeclarationId) -> &Type {
        &self.declared[declaration.index()]
    }

    /// The value of a declared constant, or of a member of a serialisable enumeration.
    pub fn constant_value(&self, declaration: DeclarationId) -> Option<&Value> {
        self.constants.get(&declaration)
    }

    /// Which declaration a name that is no expression refers to: the states in transitions (`accept` and `reject` have
    /// none), and the match kinds of keys.
    pub fn named(&self, name: &Name) -> Option<DeclarationId> {
        self.names.get(&name.span).copied()
    }

    /// The place of a member in its enumeration, or of an error or match kind among all of the program, from 0.
    pub fn number(&self, member: DeclarationId) -> Option<u32> {
        self.numbers.get(&member).copied()
    }

    /// What a `type` is made of, or what a serialisable enumeration is represented as.
    pub fn underlying(&self, nominal: &Nominal) -> Option<&Type> {
        self.underlying.get(&nominal.declaration)
    }

    /// The type below any `type` declarations and serialisable enumerations.
    pub fn representation(&self, of_type: &Type) -> Type {
        match of_type {
            Type::Newtype(nominal) | Type::SerializableEnum(nominal) => {
                self.underlying(nominal).map_or(Type::Unknown, |underlying| self.representation(underlying))
            }
            _ => of_type.clone(),
        }
    }

    /// The instance `main`, the program's package: `instance(main)` is its call, whose bindings name the arguments.
    pub fn main(&self) -> Option<DeclarationId> {
        self.main
    }

    /// The argument that a binding of a call takes, among the arguments of that call.
    pub fn argument<'b>(&self, binding: &Binding, arguments: &'b [Argument]) -> Option<&'b Expression> {
        match binding.source {
            Source::Argument(at) => Some(&arguments[at].value),
            Source::DontCare(_) | Source::Default | Source::Omitted | Source::ControlPlane => None,
        }
    }

    pub fn parameter(&self, id: DeclarationId) -> Option<&'a Parameter> {
        match self.node(id) {
            Node::Parameter { parameter, .. } => Some(parameter),
            Node::Declaration(_)
            | Node::Field { .. }
            | Node::Member { .. }
            | Node::Method { .. }
            | Node::TypeParameter { .. }
            | Node::State { .. } => None,
        }
    }
}
