//! Types, type arguments and type parameters.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::{Angles, DEEPEST_NESTING, Parse, Parser};
use crate::ast::{Expression, Name, Path, Type, TypeKind, TypeParameter};

impl Parser<'_> {
    pub(super) fn parse_type(&mut self) -> Parse<Type> {
        self.nested(|parser| {
            let start = parser.peek().span;
            let mut kind = parser.type_without_size()?;
            let mut levels = parser.depth;
            while parser.accept("[") {
                levels += 1;
                if levels > DEEPEST_NESTING {
                    return Err(parser.give_up());
                }
                let element = Box::new(Type { span: parser.since(start), kind });
                let size = Box::new(parser.expression()?);
                parser.expect("]")?;
                kind = TypeKind::Array { element, size };
            }
            Ok(Type { span: parser.since(start), kind })
        })
    }

    /// A name and the sizes behind it, as in `bit<8> rows[2][3]`, which declares the same as `bit<8>[3][2] rows`.
    pub(super) fn sized_name(&mut self, mut of_type: Type) -> Parse<(Name, Type)> {
        let name = self.name()?;
        let mut sizes = Vec::new();
        while self.accept("[") {
            if self.depth + sizes.len() as u32 > DEEPEST_NESTING {
                return Err(self.give_up());
            }
            sizes.push(self.expression()?);
            self.expect("]")?;
        }
        for size in sizes.into_iter().rev() {
            let span = of_type.span.to(size.span);
            of_type = Type { span, kind: TypeKind::Array { element: Box::new(of_type), size: Box::new(size) } };
        }
        Ok((name, of_type))
    }

    fn type_without_size(&mut self) -> Parse<TypeKind> {
        if self.is_list(self.position) && !self.names_type(self.position) {
            self.advance();
            let open = self.expect("<")?;
            let element = self.type_argument()?;
            self.close_angle(open)?;
            return Ok(TypeKind::List(Box::new(element)));
        }
        if self.at_name() || self.at(".") {
            return self.named_type();
        }
        let token = self.peek();
        let simple = match self.text_of(token) {
            "void" => TypeKind::Void,
            "bool" => TypeKind::Bool,
            "error" => TypeKind::Error,
            "match_kind" => TypeKind::MatchKind,
            "string" => TypeKind::String,
            "bit" => return self.sized(|width| TypeKind::Bit(width.map(Box::new))),
            "int" => return self.sized(|width| width.map_or(TypeKind::Integer, |w| TypeKind::SignedBit(Box::new(w)))),
            "varbit" => {
                self.advance();
                let width = self.width()?;
                return Ok(TypeKind::Varbit(Box::new(width)));
            }
            "tuple" => {
                self.advance();
                return Ok(TypeKind::Tuple(self.type_arguments()?));
            }
            _ => return Err(self.expected_type()),
        };
        self.advance();
        Ok(simple)
    }

    fn expected_type(&mut self) -> super::Failed {
        let token = self.peek();
        let text = self.text_of(token).to_string();
        if self.at_reserved_word() {
            let message = format!("expected a type, found the keyword `{text}`");
            return self.report(Diagnostic::error(message).label(token.span, "expected a type"));
        }
        self.expected("a type")
    }

    /// `bit` or `int`, and a width if there is one.
    fn sized(&mut self, make: impl FnOnce(Option<Expression>) -> TypeKind) -> Parse<TypeKind> {
        self.advance();
        let width = if self.at("<") { Some(self.width()?) } else { None };
        Ok(make(width))
    }

    /// `<8>`, `<N * 8>`, `<(a > b ? 8 : 16)>`: a `>` ends it unless it is in parentheses.
    fn width(&mut self) -> Parse<Expression> {
        let open = self.expect("<")?;
        let width = self.with_angles(Angles::Close, Self::expression)?;
        self.close_angle(open)?;
        Ok(width)
    }

    fn named_type(&mut self) -> Parse<TypeKind> {
        let base = self.path()?;
        if self.at("<") {
            let arguments = self.type_arguments()?;
            return Ok(TypeKind::Specialized { base, arguments });
        }
        Ok(TypeKind::Named(base))
    }

    /// `name` or `.name`
    pub(super) fn path(&mut self) -> Parse<Path> {
        let absolute = self.accept(".");
        Ok(Path { absolute, name: self.name()? })
    }

    /// `<A, B>`, where `_` leaves an argument open.
    pub(super) fn type_arguments(&mut self) -> Parse<Vec<Type>> {
        let open = self.expect("<")?;
        let mut arguments = Vec::new();
        while !self.at(">") {
            arguments.push(self.type_argument()?);
            if !self.accept(",") {
                break;
            }
        }
        self.close_angle(open)?;
        Ok(arguments)
    }

    fn type_argument(&mut self) -> Parse<Type> {
        if self.at("_") {
            let span = self.advance().span;
            return Ok(Type { span, kind: TypeKind::DontCare });
        }
        self.parse_type()
    }

    fn close_angle(&mut self, open: Span) -> Parse<()> {
        if self.accept(">") {
            return Ok(());
        }
        let place = self.peek().span;
        let diagnostic =
            Diagnostic::error("expected `>`").label(place, "expected `>`").label(open, "to close this `<`");
        Err(self.report(diagnostic))
    }

    /// `<T, U>` behind the name of what is generic in them, or nothing.
    pub(super) fn type_parameters(&mut self) -> Parse<Vec<TypeParameter>> {
        let open = self.peek().span;
        let mut parameters = Vec::new();
        if !self.accept("<") {
            return Ok(parameters);
        }
        loop {
            let name = self.name()?;
            self.declare_type(&name);
            parameters.push(TypeParameter { id: self.declaration_id(), name });
            if !self.accept(",") {
                break;
            }
        }
        self.close_angle(open)?;
        Ok(parameters)
    }
}
