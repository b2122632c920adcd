//! What a program needs of the user's C code: the functions that its custom externs call, and the objects that they are called on.
//!
//! Every engine asks here, so that all agree on names, numbers and the order of arguments. docs/externs.md is the user's side of it.

use crate::{Argument, Call, ExternId, NodeKind, Place, Program, Statement, Type};

/// An argument as C sees it: so many limbs of 64 bits. One limb is passed by value, or where it is written by address; more are an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    Payload,
    In(u32),
    Out(u32),
    InOut(u32),
}

/// A function in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// The type of the object that precedes the arguments.
    pub object: Option<String>,
    pub arguments: Vec<Shape>,
    /// Limbs of the result: one is returned, more go to an array behind the arguments.
    pub result: Option<u32>,
    /// The extern by which it was first called.
    pub declared: ExternId,
}

impl Shape {
    /// Limbs that the argument takes where all are in one array; the payload takes none.
    pub fn limbs(self) -> u32 {
        match self {
            Shape::Payload => 0,
            Shape::In(limbs) | Shape::Out(limbs) | Shape::InOut(limbs) => limbs,
        }
    }

    fn parameter(self, number: usize) -> String {
        match self {
            Shape::Payload => "struct extern_payload *payload".to_string(),
            Shape::In(1) => format!("uint64_t a{number}"),
            Shape::In(_) => format!("const uint64_t *a{number}"),
            Shape::Out(_) | Shape::InOut(_) => format!("uint64_t *a{number}"),
        }
    }
}

impl Function {
    /// Its parameters, as a declaration has them.
    pub fn parameters(&self) -> Vec<String> {
        let object = self.object.iter().map(|of_type| format!("struct {of_type} *object"));
        let arguments = self.arguments.iter().zip(1..).map(|(shape, number)| shape.parameter(number));
        let wide = self.result.filter(|limbs| *limbs > 1).map(|_| "uint64_t *result".to_string());
        object.chain(arguments).chain(wide).collect()
    }

    /// `uint64_t` or `void`.
    pub fn returns(&self) -> &'static str {
        if self.result == Some(1) { "uint64_t" } else { "void" }
    }

    /// The declaration that the user's code has to fit.
    pub fn prototype(&self) -> String {
        let parameters = self.parameters();
        let parameters = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
        format!("{} {}({parameters})", self.returns(), self.name)
    }
}

/// Every function that the program calls, in the order of the program; one name twice if it has two signatures.
pub fn functions(program: &Program) -> Vec<Function> {
    let mut found: Vec<Function> = Vec::new();
    calls(program, &mut |call, parameters| {
        let Call::Custom { object, function, arguments, into } = call else { return };
        let place = |place: &Place| limbs(program.place_type(*place));
        let shape = |argument: &Argument| match argument {
            Argument::Payload => Shape::Payload,
            Argument::In(value) => Shape::In(limbs(program.expression_type(value, parameters))),
            Argument::Out(target) => Shape::Out(place(target)),
            Argument::InOut(target) => Shape::InOut(place(target)),
        };
        let function = Function {
            name: function.clone(),
            object: program.externs[*object].object.as_ref().map(|object| object.of_type.clone()),
            arguments: arguments.iter().map(shape).collect(),
            result: into.as_ref().map(place),
            declared: *object,
        };
        let known = found.iter().any(|other| Function { declared: function.declared, ..other.clone() } == function);
        if !known {
            found.push(function);
        }
    });
    found
}

/// The objects that some function is called on, in the order of the program: their numbers are their places here.
pub fn objects(program: &Program) -> Vec<ExternId> {
    let mut used = std::collections::HashSet::new();
    calls(program, &mut |call, _| {
        if let Call::Custom { object, .. } = call {
            used.insert(*object);
        }
    });
    let objects = program.externs.iter().filter(|(id, custom)| custom.object.is_some() && used.contains(id));
    objects.map(|(id, _)| id).collect()
}

/// Limbs of 64 bits that a value takes; at least one.
pub fn limbs(kind: Type) -> u32 {
    kind.width().div_ceil(64).max(1)
}

/// Calls `visit` with every call of the program, and the widths of the parameters that its expressions may name.
fn calls(program: &Program, visit: &mut impl FnMut(&Call, &[u32])) {
    let mut body = |body: &[Statement], parameters: &[u32]| {
        for statement in body {
            statement.walk(&mut |statement| {
                if let Statement::Call(call) = statement {
                    visit(call, parameters);
                }
            });
        }
    };
    for table in program.tables.values() {
        for (index, action) in table.actions.iter().enumerate() {
            body(&action.body, &table.parameter_widths(index));
        }
    }
    for node in program.nodes.values() {
        match &node.kind {
            NodeKind::State { body: statements, .. }
            | NodeKind::Block { body: statements, .. }
            | NodeKind::Deparse { body: statements, .. } => body(statements, &[]),
            NodeKind::Branch { .. } | NodeKind::Apply { .. } | NodeKind::Buffer { .. } => {}
        }
    }
}
