//! Declarations: everything that gives a name a meaning. Each has a `DeclarationId`, parameters, fields and states included.

use super::{Attributes, Block, Expression, Name, Span, Statement, Table, Type};

/// Index of a declaration in side tables, unique and dense in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeclarationId(pub u32);

impl DeclarationId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A declaration of the program, of a parser's or control's locals, of a block or of an instance's body.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub id: DeclarationId,
    pub span: Span,
    pub attributes: Attributes,
    /// `error` and `match_kind` declarations are named by their keyword, an assertion by what it calls.
    pub name: Name,
    pub kind: DeclarationKind,
}

#[derive(Clone, Debug)]
pub enum DeclarationKind {
    Constant(Constant),
    Variable(Variable),
    Instance(Instance),
    /// `typedef T name;`, where T may declare a struct or header of its own: then `inline` is that declaration.
    Typedef {
        target: Type,
        inline: Option<Box<Declaration>>,
    },
    /// `type T name;`: as a typedef, but a type of its own.
    NewType {
        target: Type,
    },
    Structure(Structure),
    Enumeration(Enumeration),
    /// `error { A, B }`: adds to the errors of the program.
    Error(Vec<Member>),
    /// `match_kind { exact, lpm }`: adds to the match kinds of the program.
    MatchKind(Vec<Member>),
    Extern(Extern),
    /// A function; an extern function has no body.
    Function(Function),
    Action {
        parameters: Vec<Parameter>,
        body: Block,
    },
    Parser(Parser),
    Control(Control),
    Package(Package),
    Table(Table),
    ValueSet(ValueSet),
    /// `static_assert(...);` at the top of a program.
    Assertion(Expression),
}

#[derive(Clone, Debug)]
pub struct Constant {
    pub of_type: Type,
    pub value: Expression,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub of_type: Type,
    pub value: Option<Expression>,
}

/// `T(arguments) name;`; with an array type, `T(arguments) name[4];`, it makes four. Where T has abstract methods,
/// `T(arguments) name = { functions and instances };` implements them.
#[derive(Clone, Debug)]
pub struct Instance {
    pub of_type: Type,
    pub arguments: Vec<super::Argument>,
    pub body: Option<Vec<Declaration>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructureKind {
    Struct,
    Header,
    HeaderUnion,
}

#[derive(Clone, Debug)]
pub struct Structure {
    pub kind: StructureKind,
    pub type_parameters: Vec<TypeParameter>,
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub id: DeclarationId,
    pub span: Span,
    pub attributes: Attributes,
    pub of_type: Type,
    pub name: Name,
}

/// `enum E { A, B }`, or with an underlying type `enum bit<8> E { A = 1, B = 2 }`.
#[derive(Clone, Debug)]
pub struct Enumeration {
    pub underlying: Option<Type>,
    pub members: Vec<Member>,
}

/// A member of an enumeration, of the errors or of the match kinds.
#[derive(Clone, Debug)]
pub struct Member {
    pub id: DeclarationId,
    pub span: Span,
    pub attributes: Attributes,
    pub name: Name,
    pub value: Option<Expression>,
}

/// An extern object. `extern T;` alone announces it, with no methods and `announced`.
#[derive(Clone, Debug)]
pub struct Extern {
    pub type_parameters: Vec<TypeParameter>,
    pub methods: Vec<Method>,
    pub announced: bool,
}

/// A method of an extern object, or a constructor, which returns nothing and has the object's name.
#[derive(Clone, Debug)]
pub struct Method {
    pub id: DeclarationId,
    pub span: Span,
    pub attributes: Attributes,
    pub is_abstract: bool,
    pub is_constructor: bool,
    pub return_type: Option<Type>,
    pub name: Name,
    pub type_parameters: Vec<TypeParameter>,
    pub parameters: Vec<Parameter>,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub return_type: Type,
    pub type_parameters: Vec<TypeParameter>,
    pub parameters: Vec<Parameter>,
    pub body: Option<Block>,
}

/// A parser; without a body it is a parser type.
#[derive(Clone, Debug)]
pub struct Parser {
    pub type_parameters: Vec<TypeParameter>,
    pub parameters: Vec<Parameter>,
    pub constructor_parameters: Vec<Parameter>,
    pub body: Option<ParserBody>,
}

#[derive(Clone, Debug)]
pub struct ParserBody {
    pub locals: Vec<Declaration>,
    pub states: Vec<State>,
}

#[derive(Clone, Debug)]
pub struct State {
    pub id: DeclarationId,
    pub span: Span,
    pub attributes: Attributes,
    pub name: Name,
    pub statements: Vec<Statement>,
    /// Where there is none, the parser rejects.
    pub transition: Option<Transition>,
}

#[derive(Clone, Debug)]
pub enum Transition {
    Direct(Name),
    Select { span: Span, subjects: Vec<Expression>, cases: Vec<SelectCase> },
}

#[derive(Clone, Debug)]
pub struct SelectCase {
    pub span: Span,
    /// One set of keys for each subject, or a single `_` or `default` for all of them.
    pub keys: Vec<Expression>,
    pub state: Name,
}

/// A control; without a body it is a control type.
#[derive(Clone, Debug)]
pub struct Control {
    pub type_parameters: Vec<TypeParameter>,
    pub parameters: Vec<Parameter>,
    pub constructor_parameters: Vec<Parameter>,
    pub locals: Vec<Declaration>,
    pub apply: Option<Block>,
}

#[derive(Clone, Debug)]
pub struct Package {
    pub type_parameters: Vec<TypeParameter>,
    pub parameters: Vec<Parameter>,
}

/// `value_set<T>(size) name;`
#[derive(Clone, Debug)]
pub struct ValueSet {
    pub of_type: Type,
    pub size: Expression,
}

#[derive(Clone, Debug)]
pub struct TypeParameter {
    pub id: DeclarationId,
    pub name: Name,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub id: DeclarationId,
    pub span: Span,
    pub attributes: Attributes,
    pub direction: Direction,
    pub of_type: Type,
    pub name: Name,
    pub default: Option<Expression>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    None,
    In,
    Out,
    InOut,
}
