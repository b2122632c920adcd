//! Types of generated programs, and the variables that code sees with all their parts.

/// A type; structures are known by their place in the list of declarations.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    Bool,
    Bits(usize),
    Int(usize),
    Error,
    Enum,
    /// An enumeration with an underlying `bit<8>`.
    Serial,
    Varbit(usize),
    Named(usize),
    /// A header stack or an array.
    Array(Box<Ty>, usize),
    Tuple(Vec<Ty>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Struct,
    Header,
    Union,
}

#[derive(Clone, Debug)]
pub struct Declared {
    pub name: String,
    pub kind: Kind,
    pub fields: Vec<(String, Ty)>,
}

pub const ERRORS: [&str; 4] = ["Odd", "Even", "NoMatch", "PacketTooShort"];
pub const MEMBERS: [&str; 3] = ["Red", "Green", "Blue"];
pub const NUMBERED: [&str; 3] = ["Low", "Mid", "High"];

/// A variable or parameter in scope.
#[derive(Clone, Debug)]
pub struct Variable {
    pub text: String,
    pub ty: Ty,
    pub writable: bool,
    /// Its headers are valid, always: nothing makes them invalid.
    pub solid: bool,
}

/// A part of a variable. `@` in the text is replaced by an index that is chosen where the part is used.
#[derive(Clone, Debug)]
pub struct Part {
    pub text: String,
    pub ty: Ty,
    pub writable: bool,
    pub solid: bool,
    /// What must hold for the value to be defined.
    pub guard: Option<String>,
}

pub struct Types {
    pub declared: Vec<Declared>,
}

impl Types {
    pub fn text(&self, ty: &Ty) -> String {
        match ty {
            Ty::Bool => "bool".into(),
            Ty::Bits(width) => format!("bit<{width}>"),
            Ty::Int(width) => format!("int<{width}>"),
            Ty::Error => "error".into(),
            Ty::Enum => "colour_t".into(),
            Ty::Serial => "level_t".into(),
            Ty::Varbit(most) => format!("varbit<{most}>"),
            Ty::Named(at) => self.declared[*at].name.clone(),
            Ty::Array(element, size) => format!("{}[{size}]", self.text(element)),
            Ty::Tuple(parts) => {
                format!("tuple<{}>", parts.iter().map(|part| self.text(part)).collect::<Vec<_>>().join(", "))
            }
        }
    }

    pub fn kind(&self, ty: &Ty) -> Option<Kind> {
        match ty {
            Ty::Named(at) => Some(self.declared[*at].kind),
            _ => None,
        }
    }

    pub fn is_header(&self, ty: &Ty) -> bool {
        self.kind(ty) == Some(Kind::Header)
    }

    pub fn is_stack(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Array(element, _) if self.is_header(element))
    }

    pub fn add(&mut self, name: &str, kind: Kind, fields: Vec<(String, Ty)>) -> Ty {
        self.declared.push(Declared { name: name.into(), kind, fields });
        Ty::Named(self.declared.len() - 1)
    }

    pub fn fields(&self, ty: &Ty) -> &[(String, Ty)] {
        match ty {
            Ty::Named(at) => &self.declared[*at].fields,
            _ => &[],
        }
    }

    pub fn named(&self, name: &str) -> Ty {
        let found = self.declared.iter().position(|declared| declared.name == name);
        Ty::Named(found.expect("the generator declares its types first"))
    }

    pub fn width(&self, ty: &Ty) -> usize {
        match ty {
            Ty::Bool => 1,
            Ty::Bits(width) | Ty::Int(width) => *width,
            Ty::Serial => 8,
            Ty::Error | Ty::Enum | Ty::Varbit(_) => 0,
            Ty::Named(_) => self.fields(ty).iter().map(|(_, field)| self.width(field)).sum(),
            Ty::Array(element, size) => self.width(element) * size,
            Ty::Tuple(parts) => parts.iter().map(|part| self.width(part)).sum(),
        }
    }

    /// A variable and all its parts.
    pub fn parts(&self, variable: &Variable, out: &mut Vec<Part>) {
        let part = Part {
            text: variable.text.clone(),
            ty: variable.ty.clone(),
            writable: variable.writable,
            solid: variable.solid,
            guard: None,
        };
        self.below(part, out);
    }

    fn below(&self, part: Part, out: &mut Vec<Part>) {
        let guard = match self.kind(&part.ty) {
            Some(Kind::Header) if !part.solid => Some(format!("{}.isValid()", part.text)),
            _ => part.guard.clone(),
        };
        match &part.ty {
            Ty::Named(_) => {
                for (name, ty) in self.fields(&part.ty) {
                    let text = format!("{}.{name}", part.text);
                    let guard = if self.is_header(ty) { None } else { guard.clone() };
                    self.below(Part { text, ty: ty.clone(), guard, ..part.clone() }, out);
                }
            }
            Ty::Array(element, size) => {
                let constants = (0..*size).map(|at| at.to_string());
                // One index at run time is as likely as two constant ones.
                for index in constants.chain(["@".to_string(), "@".to_string()]) {
                    let text = format!("{}[{index}]", part.text);
                    self.below(Part { text, ty: (**element).clone(), guard: None, ..part.clone() }, out);
                }
            }
            // Elements of tuples are only read.
            Ty::Tuple(parts) => {
                for (at, ty) in parts.iter().enumerate() {
                    let text = format!("{}[{at}]", part.text);
                    self.below(Part { text, ty: ty.clone(), writable: false, guard: None, ..part.clone() }, out);
                }
            }
            Ty::Bool | Ty::Bits(_) | Ty::Int(_) | Ty::Error | Ty::Enum | Ty::Serial | Ty::Varbit(_) => {}
        }
        out.push(part);
    }

    pub fn declarations(&self) -> String {
        let mut text = format!(
            "error {{ {} }}\nenum colour_t {{ {} }}\nenum bit<8> level_t {{ {} }}\n",
            ERRORS[..2].join(", "),
            MEMBERS.join(", "),
            NUMBERED
                .iter()
                .enumerate()
                .map(|(at, name)| format!("{name} = {}", 3 * at + 1))
                .collect::<Vec<_>>()
                .join(", "),
        );
        for declared in &self.declared {
            let keyword = match declared.kind {
                Kind::Struct => "struct",
                Kind::Header => "header",
                Kind::Union => "header_union",
            };
            text.push_str(&format!("{keyword} {} {{\n", declared.name));
            for (name, ty) in &declared.fields {
                let listed = if declared.name == "meta_t" { field_list(name) } else { "" };
                text.push_str(&format!("    {listed}{} {name};\n", self.text(ty)));
            }
            text.push_str("}\n");
        }
        text
    }
}

/// The lists that keep a field of the metadata when a packet is resubmitted or cloned.
fn field_list(name: &str) -> &'static str {
    match name {
        "m1" => "@field_list(1, 2) ",
        "flag" => "@field_list(1) ",
        "inner" => "@field_list(2) ",
        _ => "",
    }
}
