//! Random expressions and l-values of a given type.

use super::Generator;
use super::code::{Code, Function, Mode};
use super::random::hex;
use super::types::{ERRORS, Kind, MEMBERS, NUMBERED, Part, Ty};

impl Generator {
    pub fn literal(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Bool => self.random.pick(&["true", "false"]).to_string(),
            Ty::Bits(width) => format!("{width}w{}", hex(&self.random.bits(*width))),
            Ty::Int(width) => {
                let mut bits = self.random.bits(*width);
                bits[0] = false;
                if self.random.chance(50) && *width > 1 {
                    format!("(-{width}s{})", hex(&bits))
                } else {
                    format!("{width}s{}", hex(&bits))
                }
            }
            Ty::Error => format!("error.{}", self.random.pick(&ERRORS)),
            Ty::Enum => format!("colour_t.{}", self.random.pick(&MEMBERS)),
            Ty::Serial => format!("level_t.{}", self.random.pick(&NUMBERED)),
            Ty::Varbit(_) | Ty::Named(_) | Ty::Array(..) | Ty::Tuple(_) => "...".into(),
        }
    }

    pub fn parts(&self, code: &Code) -> Vec<Part> {
        let mut parts = Vec::new();
        code.variables.iter().for_each(|variable| self.types.parts(variable, &mut parts));
        parts
    }

    /// Puts an index where a part leaves it open: sometimes one beyond the end.
    fn indexed(&mut self, code: &mut Code, part: &Part) -> Part {
        if !part.text.contains('@') {
            return part.clone();
        }
        let width = *self.random.pick(&[2, 2, 3, 8]);
        let index = self.run_time_number(code, width).unwrap_or("0".into());
        let fill = |text: &str| text.replace('@', &index);
        Part { text: fill(&part.text), guard: part.guard.as_deref().map(fill), ..part.clone() }
    }

    /// A number that is not known at compile time, for an index: what is known is held against the bounds by the check.
    fn run_time_number(&mut self, code: &mut Code, width: usize) -> Option<String> {
        let fits = |part: &Part| {
            matches!(part.ty, Ty::Bits(wide) if wide >= width) && part.guard.is_none() && !part.text.contains('@')
        };
        let parts: Vec<Part> = self.parts(code).into_iter().filter(fits).collect();
        if parts.is_empty() {
            return None;
        }
        let part = self.random.pick(&parts).clone();
        let wide = self.types.width(&part.ty);
        let low = self.random.below(wide - width + 1);
        let number = if wide == width { part.text } else { format!("{}[{}:{low}]", part.text, low + width - 1) };
        Some(match self.random.below(4) {
            0 => format!("{number} + {}", self.random.below(3)),
            1 if code.calls => match self.call_returning(code, &Ty::Bits(width), 1) {
                // Not all of them beyond the end, which defines nothing.
                Some(call) if width > 3 => format!("({call} & 3)"),
                Some(call) => call,
                None => number,
            },
            _ => number,
        })
    }

    /// A part that is read, with what protects the reading of an invalid header.
    fn reading(&mut self, code: &mut Code, ty: &Ty) -> Option<String> {
        let parts: Vec<Part> = self.parts(code).into_iter().filter(|part| part.ty == *ty).collect();
        let part = self.one_of(code, &parts)?;
        let part = self.indexed(code, &part);
        Some(match part.guard {
            None => part.text,
            Some(guard) => format!("({guard} ? {} : {})", part.text, self.literal(ty)),
        })
    }

    /// One of several parts, rather of the variable that the statement is about.
    pub fn one_of(&mut self, code: &Code, parts: &[Part]) -> Option<Part> {
        let near: Vec<&Part> = parts.iter().filter(|part| part.text.starts_with(&code.focus)).collect();
        if !near.is_empty() && self.random.chance(60) {
            return Some((*self.random.pick(&near)).clone());
        }
        if parts.is_empty() { None } else { Some(self.random.pick(parts).clone()) }
    }

    /// An l-value of a type. One that is read, too (`inout`), is defined.
    pub fn l_value(&mut self, code: &mut Code, ty: &Ty, read: bool) -> Option<String> {
        let fits = |part: &Part| part.writable && !(read && part.guard.is_some());
        let all: Vec<Part> = self.parts(code).into_iter().filter(fits).collect();
        let exact: Vec<Part> = all.iter().filter(|part| part.ty == *ty).cloned().collect();
        let wider = |part: &&Part| match (ty, &part.ty) {
            (Ty::Bits(width), Ty::Bits(wide) | Ty::Int(wide)) => wide > width,
            _ => false,
        };
        let sliced: Vec<Part> = all.iter().filter(wider).cloned().collect();
        if !sliced.is_empty() && (exact.is_empty() || self.random.chance(40)) {
            let part = self.one_of(code, &sliced)?;
            return Some(self.slice(code, &part, self.types.width(ty)));
        }
        // A header that is always valid is not given to what may make it invalid.
        let part = self.one_of(code, &exact)?;
        if part.solid && self.holds_header(&part.ty) && !self.is_base(&part.ty) {
            return None;
        }
        Some(self.indexed(code, &part).text)
    }

    /// Whether a type is the first header's, which is always valid.
    pub fn is_base(&self, ty: &Ty) -> bool {
        *ty == self.types.named("base_t")
    }

    pub fn holds_header(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Named(_) => {
                self.types.kind(ty) != Some(Kind::Struct)
                    || self.types.fields(ty).iter().any(|(_, field)| self.holds_header(field))
            }
            Ty::Array(element, _) => self.holds_header(element),
            Ty::Tuple(parts) => parts.iter().any(|part| self.holds_header(part)),
            Ty::Bool | Ty::Bits(_) | Ty::Int(_) | Ty::Error | Ty::Enum | Ty::Serial | Ty::Varbit(_) => false,
        }
    }

    fn slice(&mut self, code: &mut Code, part: &Part, width: usize) -> String {
        let wide = self.types.width(&part.ty);
        let part = self.indexed(code, part);
        let low_width = *self.random.pick(&[1, 2, 3, 8]);
        if self.random.chance(25)
            && matches!(part.ty, Ty::Bits(_))
            && let Some(low) = self.run_time_number(code, low_width)
        {
            return format!("{}[{low}+:{width}]", part.text);
        }
        let low = self.random.below(wide - width + 1);
        format!("{}[{}:{low}]", part.text, low + width - 1)
    }

    /// An expression of a type, at most `depth` operators deep.
    pub fn expression(&mut self, code: &mut Code, ty: &Ty, depth: usize) -> String {
        if depth == 0 || self.random.chance(15) {
            return self.leaf(code, ty);
        }
        if code.calls
            && self.random.chance(20)
            && let Some(call) = self.call_returning(code, ty, depth)
        {
            return call;
        }
        if self.random.chance(12) {
            let condition = self.expression(code, &Ty::Bool, depth - 1);
            let (yes, no) = (self.expression(code, ty, depth - 1), self.expression(code, ty, depth - 1));
            return format!("({condition} ? {yes} : {no})");
        }
        match ty {
            Ty::Bool => self.boolean(code, depth),
            Ty::Bits(width) => self.unsigned(code, *width, depth),
            Ty::Int(width) => self.signed(code, *width, depth),
            Ty::Serial if self.random.chance(30) => {
                format!("(level_t) {}", self.expression(code, &Ty::Bits(8), depth - 1))
            }
            Ty::Error | Ty::Enum | Ty::Serial | Ty::Varbit(_) | Ty::Named(_) | Ty::Array(..) | Ty::Tuple(_) => {
                self.leaf(code, ty)
            }
        }
    }

    /// An expression, or for a composite type something of that type in scope.
    pub fn value(&mut self, code: &mut Code, ty: &Ty, depth: usize) -> Option<String> {
        match ty {
            Ty::Named(_) | Ty::Array(..) | Ty::Tuple(_) => {
                let known = self.parts(code).into_iter().any(|part| part.ty == *ty);
                known.then(|| self.expression(code, ty, depth.min(1)))
            }
            _ => Some(self.expression(code, ty, depth)),
        }
    }

    fn leaf(&mut self, code: &mut Code, ty: &Ty) -> String {
        if self.random.chance(75)
            && let Some(text) = self.reading(code, ty)
        {
            return text;
        }
        match ty {
            Ty::Named(_) | Ty::Array(..) | Ty::Tuple(_) => {
                self.reading(code, ty).unwrap_or_else(|| self.aggregate(code, ty))
            }
            _ => self.constant(ty),
        }
    }

    /// A structure or array element by element, or, for a header, an invalid one.
    pub fn aggregate(&mut self, code: &mut Code, ty: &Ty) -> String {
        match (ty, self.types.kind(ty)) {
            (_, Some(Kind::Header)) if !self.is_base(ty) && self.random.chance(25) => "{#}".into(),
            (_, Some(Kind::Union)) => "{#}".into(),
            (_, Some(_)) => {
                let fields = self.types.fields(ty).to_vec();
                let named = self.random.chance(40);
                let values = fields.iter().map(|(name, field)| {
                    let value = self.expression(code, field, 1);
                    if named { format!("{name} = {value}") } else { value }
                });
                let values: Vec<String> = values.collect();
                format!("{{ {} }}", values.join(", "))
            }
            (Ty::Array(element, size), _) => {
                let values: Vec<String> = (0..*size).map(|_| self.expression(code, element, 1)).collect();
                format!("{{ {} }}", values.join(", "))
            }
            (Ty::Tuple(parts), _) => {
                let values: Vec<String> = parts.iter().map(|part| self.expression(code, part, 1)).collect();
                format!("{{ {} }}", values.join(", "))
            }
            (other, _) => self.literal(other),
        }
    }

    /// A literal, a constant of the program, or a computation on numbers without a width.
    fn constant(&mut self, ty: &Ty) -> String {
        let named = self.numbers.iter().take(4).position(|known| known == ty);
        match (self.random.below(6), ty, named) {
            (0, _, Some(at)) => format!("FIXED{at}"),
            (1, Ty::Bits(width), _) => match self.random.below(3) {
                0 => format!("((bit<{width}>) (COUNT * 3 - {}))", self.random.below(200)),
                1 => format!("((bit<{width}>) ((COUNT << 5) / 3 % 1000))"),
                _ => format!("((bit<{width}>) (COUNT > 20 ? COUNT : -COUNT))"),
            },
            _ => self.literal(ty),
        }
    }

    fn boolean(&mut self, code: &mut Code, depth: usize) -> String {
        let inner = depth - 1;
        match self.random.below(9) {
            8 if self.random.chance(40) => format!("((bool) {})", self.expression(code, &Ty::Bits(1), inner)),
            0 => format!("!{}", self.expression(code, &Ty::Bool, inner)),
            1 | 2 => {
                let operator = *self.random.pick(&["&&", "||"]);
                let (left, right) = (self.expression(code, &Ty::Bool, inner), self.expression(code, &Ty::Bool, inner));
                format!("({left} {operator} {right})")
            }
            3 => {
                let parts = self.parts(code).into_iter();
                let headers: Vec<Part> = parts.filter(|part| self.types.is_header(&part.ty)).collect();
                if headers.is_empty() {
                    return self.leaf(code, &Ty::Bool);
                }
                let header = self.random.pick(&headers).clone();
                format!("{}.isValid()", self.indexed(code, &header).text)
            }
            4 => {
                let ty = self.compared_type(code);
                let operator = *self.random.pick(&["==", "!="]);
                let (left, right) = (self.expression(code, &ty, inner), self.expression(code, &ty, inner));
                format!("({left} {operator} {right})")
            }
            _ => {
                let ty = self.random.pick(&self.numbers.clone()).clone();
                let operator = *self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
                let left = self.expression(code, &ty, inner);
                let right = if self.random.chance(15) { "1".into() } else { self.expression(code, &ty, inner) };
                format!("({left} {operator} {right})")
            }
        }
    }

    /// A type with equality only: of a whole header or structure that is in scope, or of an enumeration.
    fn compared_type(&mut self, code: &Code) -> Ty {
        let whole = |part: &Part| {
            matches!(self.types.kind(&part.ty), Some(Kind::Header | Kind::Struct)) || matches!(part.ty, Ty::Array(..))
        };
        let found: Vec<Ty> = self.parts(code).into_iter().filter(whole).map(|part| part.ty).collect();
        if found.is_empty() || self.random.chance(50) {
            return self.random.pick(&[Ty::Error, Ty::Enum, Ty::Serial, Ty::Bool]).clone();
        }
        self.random.pick(&found).clone()
    }

    fn unsigned(&mut self, code: &mut Code, width: usize, depth: usize) -> String {
        let inner = depth - 1;
        let ty = Ty::Bits(width);
        match self.random.below(12) {
            0 => format!("({}{})", self.random.pick(&["~", "-"]), self.expression(code, &ty, inner)),
            1 => self.shift(code, &ty, inner),
            2 if width > 1 => {
                let left = self.random.between(1, width - 1);
                let second = if self.random.chance(30) { Ty::Int(width - left) } else { Ty::Bits(width - left) };
                let (first, second) =
                    (self.expression(code, &Ty::Bits(left), inner), self.expression(code, &second, inner));
                format!("({first} ++ {second})")
            }
            3 | 4 => self.slice_of_wider(code, width, inner),
            5 => format!("((bit<{width}>) {})", self.expression(code, &Ty::Int(width), inner)),
            6 => {
                let from = self.random.pick(&self.numbers.clone()).clone();
                let Ty::Bits(_) = from else { return self.expression(code, &ty, inner) };
                format!("((bit<{width}>) {})", self.expression(code, &from, inner))
            }
            8 => format!("(+{})", self.expression(code, &ty, inner)),
            7 if width == 1 => format!("((bit<1>) {})", self.expression(code, &Ty::Bool, inner)),
            7 if width == 8 => format!("((bit<8>) {})", self.expression(code, &Ty::Serial, inner)),
            _ => self.arithmetic(code, &ty, inner),
        }
    }

    fn arithmetic(&mut self, code: &mut Code, ty: &Ty, inner: usize) -> String {
        let operator = *self.random.pick(&["+", "-", "*", "&", "|", "^", "|+|", "|-|", "+", "-"]);
        let left = self.expression(code, ty, inner);
        let right = if self.random.chance(12) && self.types.width(ty) > 3 {
            self.random.below(8).to_string()
        } else {
            self.expression(code, ty, inner)
        };
        format!("({left} {operator} {right})")
    }

    fn shift(&mut self, code: &mut Code, ty: &Ty, inner: usize) -> String {
        let operator = *self.random.pick(&["<<", ">>"]);
        let left = self.expression(code, ty, inner);
        let right = if self.random.chance(10) {
            // More than the bits of most left operands can express.
            self.random.pick(&["64", "100", "257", "70000"]).to_string()
        } else if self.random.chance(40) {
            self.random.below(self.types.width(ty) + 3).to_string()
        } else {
            let width = *self.random.pick(&[2, 3, 8, 70]);
            self.expression(code, &Ty::Bits(width), inner)
        };
        format!("({left} {operator} {right})")
    }

    fn slice_of_wider(&mut self, code: &mut Code, width: usize, inner: usize) -> String {
        let wider = self.numbers.iter().filter(|ty| self.types.width(ty) >= width).cloned().collect::<Vec<_>>();
        if wider.is_empty() {
            return self.leaf(code, &Ty::Bits(width));
        }
        let ty = self.random.pick(&wider).clone();
        let base = self.expression(code, &ty, inner);
        let low = self.random.below(self.types.width(&ty) - width + 1);
        let low_width = *self.random.pick(&[2, 4, 8]);
        if self.random.chance(25)
            && matches!(ty, Ty::Bits(_))
            && let Some(low) = self.run_time_number(code, low_width)
        {
            return format!("({base})[{low}+:{width}]");
        }
        format!("({base})[{}:{low}]", low + width - 1)
    }

    fn signed(&mut self, code: &mut Code, width: usize, depth: usize) -> String {
        let inner = depth - 1;
        let ty = Ty::Int(width);
        match self.random.below(9) {
            0 => format!("({}{})", self.random.pick(&["~", "-"]), self.expression(code, &ty, inner)),
            1 | 2 => self.shift(code, &ty, inner),
            3 if width > 1 => {
                let left = self.random.between(1, width - 1);
                let (first, second) = (
                    self.expression(code, &Ty::Int(left), inner),
                    self.expression(code, &Ty::Bits(width - left), inner),
                );
                format!("({first} ++ {second})")
            }
            4 => format!("((int<{width}>) {})", self.expression(code, &Ty::Bits(width), inner)),
            5 => {
                let others = self.numbers.iter().filter(|known| matches!(known, Ty::Int(other) if *other != width));
                let others: Vec<Ty> = others.cloned().collect();
                let from = if others.is_empty() { ty } else { self.random.pick(&others).clone() };
                format!("((int<{width}>) {})", self.expression(code, &from, inner))
            }
            _ => self.arithmetic(code, &ty, inner),
        }
    }

    fn call_returning(&mut self, code: &mut Code, ty: &Ty, depth: usize) -> Option<String> {
        let fits = |function: &&Function| function.returns.as_ref() == Some(ty);
        let found: Vec<Function> = self.functions[..code.functions].iter().filter(fits).cloned().collect();
        if found.is_empty() {
            return None;
        }
        let function = self.random.pick(&found).clone();
        let arguments = self.arguments(code, &function.parameters, depth.saturating_sub(1))?;
        Some(format!("{}({arguments})", function.name))
    }

    /// Arguments for parameters, by place or, in any order, by name; none if there is no l-value of a type.
    pub fn arguments(
        &mut self,
        code: &mut Code,
        parameters: &[super::code::Parameter],
        depth: usize,
    ) -> Option<String> {
        let mut arguments = Vec::new();
        for parameter in parameters {
            let value = match parameter.mode {
                _ if parameter.name == "hdr" => {
                    let known = code.variables.iter().any(|variable| variable.text.starts_with("hdr."));
                    known.then(|| "hdr".to_string())?
                }
                Mode::In | Mode::Data => self.value(code, &parameter.ty, depth)?,
                Mode::Out | Mode::InOut => self.l_value(code, &parameter.ty, parameter.mode == Mode::InOut)?,
            };
            arguments.push((parameter.name.clone(), value));
        }
        if self.random.chance(25) {
            self.random.shuffle(&mut arguments);
            let named = arguments.iter().map(|(name, value)| format!("{name} = {value}"));
            return Some(named.collect::<Vec<_>>().join(", "));
        }
        Some(arguments.into_iter().map(|(_, value)| value).collect::<Vec<_>>().join(", "))
    }
}
