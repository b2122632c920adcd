//! The index of a program's declarations: from a `DeclarationId` to its place in the syntax tree.
//!
//! It is made before anything is checked, so that everything else can go from an id to names, parameters and fields.

use hlir::source::Span;

use crate::ast::{
    self, Block, Declaration, DeclarationId, DeclarationKind, Field, Member, Method, Name, Parameter, Program, State,
    Statement, StatementKind, TypeParameter,
};

/// What a `DeclarationId` belongs to. `owner` is the declaration that it is a part of.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    Declaration(&'a Declaration),
    Field {
        field: &'a Field,
        owner: DeclarationId,
    },
    /// Of an enumeration, an `error` or a `match_kind` declaration.
    Member {
        member: &'a Member,
        owner: DeclarationId,
    },
    Method {
        method: &'a Method,
        owner: DeclarationId,
    },
    Parameter {
        parameter: &'a Parameter,
        owner: DeclarationId,
    },
    TypeParameter {
        parameter: &'a TypeParameter,
        owner: DeclarationId,
    },
    State {
        state: &'a State,
        owner: DeclarationId,
    },
}

impl<'a> Node<'a> {
    pub fn name(&self) -> &'a Name {
        match self {
            Node::Declaration(declaration) => &declaration.name,
            Node::Field { field, .. } => &field.name,
            Node::Member { member, .. } => &member.name,
            Node::Method { method, .. } => &method.name,
            Node::Parameter { parameter, .. } => &parameter.name,
            Node::TypeParameter { parameter, .. } => &parameter.name,
            Node::State { state, .. } => &state.name,
        }
    }

    /// The place to point at.
    pub fn span(&self) -> Span {
        self.name().span
    }

    /// The declaration that this is a part of.
    pub fn owner(&self) -> Option<DeclarationId> {
        match self {
            Node::Declaration(_) => None,
            Node::Field { owner, .. }
            | Node::Member { owner, .. }
            | Node::Method { owner, .. }
            | Node::Parameter { owner, .. }
            | Node::TypeParameter { owner, .. }
            | Node::State { owner, .. } => Some(*owner),
        }
    }

    /// The declaration itself where it is one of its own, not a part of another.
    pub fn declaration(&self) -> Option<&'a Declaration> {
        match self {
            Node::Declaration(declaration) => Some(declaration),
            Node::Field { .. }
            | Node::Member { .. }
            | Node::Method { .. }
            | Node::Parameter { .. }
            | Node::TypeParameter { .. }
            | Node::State { .. } => None,
        }
    }
}

/// All declarations of a program by id. Ids that the parser gave out and dropped again have no node.
pub fn index(program: &Program) -> Vec<Option<Node<'_>>> {
    let mut index = Index { nodes: vec![None; program.declaration_count as usize] };
    index.declarations(&program.declarations);
    index.nodes
}

struct Index<'a> {
    nodes: Vec<Option<Node<'a>>>,
}

impl<'a> Index<'a> {
    fn put(&mut self, id: DeclarationId, node: Node<'a>) {
        self.nodes[id.index()] = Some(node);
    }

    fn declarations(&mut self, declarations: &'a [Declaration]) {
        for declaration in declarations {
            self.declaration(declaration);
        }
    }

    fn declaration(&mut self, declaration: &'a Declaration) {
        self.put(declaration.id, Node::Declaration(declaration));
        let owner = declaration.id;
        match &declaration.kind {
            DeclarationKind::Typedef { inline, .. } => {
                if let Some(inline) = inline {
                    self.declaration(inline);
                }
            }
            DeclarationKind::NewType { .. } => {}
            DeclarationKind::Structure(structure) => {
                self.type_parameters(&structure.type_parameters, owner);
                for field in &structure.fields {
                    self.put(field.id, Node::Field { field, owner });
                }
            }
            DeclarationKind::Enumeration(enumeration) => self.members(&enumeration.members, owner),
            DeclarationKind::Error(members) | DeclarationKind::MatchKind(members) => self.members(members, owner),
            DeclarationKind::Instance(instance) => self.declarations(instance.body.as_deref().unwrap_or(&[])),
            DeclarationKind::Extern(declared) => self.extern_object(declared, owner),
            DeclarationKind::Function(function) => {
                self.type_parameters(&function.type_parameters, owner);
                self.parameters(&function.parameters, owner);
                self.blocks(function.body.as_slice());
            }
            DeclarationKind::Action { parameters, body } => {
                self.parameters(parameters, owner);
                self.statements(&body.statements);
            }
            DeclarationKind::Parser(parser) => self.parser(parser, owner),
            DeclarationKind::Control(control) => {
                self.type_parameters(&control.type_parameters, owner);
                self.parameters(&control.parameters, owner);
                self.parameters(&control.constructor_parameters, owner);
                self.declarations(&control.locals);
                self.blocks(control.apply.as_slice());
            }
            DeclarationKind::Package(package) => {
                self.type_parameters(&package.type_parameters, owner);
                self.parameters(&package.parameters, owner);
            }
            DeclarationKind::Constant(_)
            | DeclarationKind::Variable(_)
            | DeclarationKind::Table(_)
            | DeclarationKind::ValueSet(_)
            | DeclarationKind::Assertion(_) => {}
        }
    }

    fn extern_object(&mut self, declared: &'a ast::Extern, owner: DeclarationId) {
        self.type_parameters(&declared.type_parameters, owner);
        for method in &declared.methods {
            self.put(method.id, Node::Method { method, owner });
            self.type_parameters(&method.type_parameters, method.id);
            self.parameters(&method.parameters, method.id);
        }
    }

    fn parser(&mut self, parser: &'a ast::Parser, owner: DeclarationId) {
        self.type_parameters(&parser.type_parameters, owner);
        self.parameters(&parser.parameters, owner);
        self.parameters(&parser.constructor_parameters, owner);
        let Some(body) = &parser.body else { return };
        self.declarations(&body.locals);
        for state in &body.states {
            self.put(state.id, Node::State { state, owner });
            self.statements(&state.statements);
        }
    }

    fn members(&mut self, members: &'a [Member], owner: DeclarationId) {
        for member in members {
            self.put(member.id, Node::Member { member, owner });
        }
    }

    fn parameters(&mut self, parameters: &'a [Parameter], owner: DeclarationId) {
        for parameter in parameters {
            self.put(parameter.id, Node::Parameter { parameter, owner });
        }
    }

    fn type_parameters(&mut self, parameters: &'a [TypeParameter], owner: DeclarationId) {
        for parameter in parameters {
            self.put(parameter.id, Node::TypeParameter { parameter, owner });
        }
    }

    fn blocks(&mut self, blocks: &'a [Block]) {
        for block in blocks {
            self.statements(&block.statements);
        }
    }

    fn statements(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Declare(declaration) => self.declaration(declaration),
            StatementKind::Block(block) => self.statements(&block.statements),
            StatementKind::If { accepted, rejected, .. } => {
                self.statement(accepted);
                if let Some(rejected) = rejected {
                    self.statement(rejected);
                }
            }
            StatementKind::Switch { cases, .. } => {
                for case in cases {
                    self.blocks(case.body.as_slice());
                }
            }
            StatementKind::For(parts) => {
                self.statements(&parts.initial);
                self.statements(&parts.update);
                self.statement(&parts.body);
            }
            StatementKind::ForIn(parts) => {
                self.declaration(&parts.variable);
                self.statement(&parts.body);
            }
            StatementKind::Empty
            | StatementKind::Assign { .. }
            | StatementKind::Call(_)
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return(_)
            | StatementKind::Exit => {}
        }
    }
}
