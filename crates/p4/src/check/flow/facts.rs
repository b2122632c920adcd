//! The parts of variables, and what is known about each at one point of a program: whether it was written, whether a header is valid.
//!
//! Parts are numbered so that those of a structure follow it: what holds for a whole is a range of bits, and two paths through a program are
//! joined word by word.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::ast::DeclarationId;
use crate::check::Checked;
use crate::types::Type;

/// Variables with more parts than this are not followed.
const MOST_PARTS: u32 = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar,
    /// A scalar in a header.
    Field,
    Header,
    Union,
    Struct,
    Stack,
}

struct Part {
    kind: Kind,
    parent: Option<u32>,
    /// One behind the last part within.
    end: u32,
    children: Vec<(Arc<str>, u32)>,
}

/// How much of a variable is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Everything,
    /// A parameter that comes with a value: only whether its headers are valid.
    Headers,
}

#[derive(Default)]
pub(super) struct Layout {
    parts: Vec<Part>,
    roots: HashMap<DeclarationId, Option<u32>>,
}

impl Layout {
    pub fn root(&self, id: DeclarationId) -> Option<u32> {
        self.roots.get(&id).copied().flatten()
    }

    /// Numbers the parts of a variable, the first time it is seen.
    pub fn declare(&mut self, checked: &Checked, id: DeclarationId, of_type: &Type, depth: Depth) -> Option<u32> {
        if let Some(known) = self.roots.get(&id) {
            return *known;
        }
        let first = self.parts.len();
        let root = self.add(checked, of_type, None, depth, first as u32 + MOST_PARTS);
        if root.is_none() {
            self.parts.truncate(first);
        }
        self.roots.insert(id, root);
        root
    }

    fn add(&mut self, checked: &Checked, of_type: &Type, parent: Option<u32>, depth: Depth, limit: u32) -> Option<u32> {
        let own = self.parts.len() as u32;
        if own >= limit {
            return None;
        }
        let in_header = parent.is_some_and(|parent| matches!(self.kind(parent), Kind::Header | Kind::Field));
        let kind = match of_type {
            Type::Header(_) => Kind::Header,
            Type::Union(_) => Kind::Union,
            Type::Struct(_) if in_header => Kind::Field,
            Type::Struct(_) => Kind::Struct,
            Type::Stack { .. } if in_header => Kind::Field,
            Type::Stack { .. } => Kind::Stack,
            _ if in_header => Kind::Field,
            _ => Kind::Scalar,
        };
        self.parts.push(Part { kind, parent, end: own + 1, children: Vec::new() });
        let inside: Vec<(Arc<str>, Type)> = match of_type {
            Type::Header(_) if depth == Depth::Headers => Vec::new(),
            Type::Struct(_) | Type::Header(_) | Type::Union(_) => {
                checked.fields_of(of_type).into_iter().map(|field| (field.name, field.of_type)).collect()
            }
            Type::Stack { size, .. } if *size > MOST_PARTS => return None,
            Type::Stack { element, size } => {
                (0..*size).map(|at| (at.to_string().into(), element.as_ref().clone())).collect()
            }
            _ => Vec::new(),
        };
        for (name, of_type) in inside {
            let child = self.add(checked, &of_type, Some(own), depth, limit)?;
            self.parts[own as usize].children.push((name, child));
        }
        self.parts[own as usize].end = self.parts.len() as u32;
        Some(own)
    }

    pub fn kind(&self, part: u32) -> Kind {
        self.parts[part as usize].kind
    }

    pub fn child(&self, part: u32, name: &str) -> Option<u32> {
        self.parts[part as usize].children.iter().find(|(own, _)| own.as_ref() == name).map(|(_, child)| *child)
    }

    /// The parts right below, in their order.
    pub fn children(&self, part: u32) -> Vec<u32> {
        self.parts[part as usize].children.iter().map(|(_, child)| *child).collect()
    }

    fn within(&self, part: u32) -> Range<u32> {
        part..self.parts[part as usize].end
    }

    /// The other members of the union that a part is a member of.
    fn siblings(&self, part: u32) -> Vec<u32> {
        match self.parts[part as usize].parent.filter(|parent| self.kind(*parent) == Kind::Union) {
            Some(union) => {
                let members = self.parts[union as usize].children.iter().map(|(_, member)| *member);
                members.filter(|member| *member != part).collect()
            }
            None => Vec::new(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn get(&self, at: u32) -> bool {
        self.0.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn put(&mut self, at: u32, value: bool) {
        let word = at as usize / 64;
        if value && self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word = if value { *word | 1 << (at % 64) } else { *word & !(1 << (at % 64)) };
        }
    }

    fn with(mut self, other: &Bits) -> Bits {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
        self
    }

    fn without_others(mut self, other: &Bits) -> Bits {
        self.0.truncate(other.0.len());
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
        self
    }
}

/// What is known at one point of a body. Whatever nothing is known about is written and valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The parts that may not have been written.
    unset: Bits,
    /// The headers that may be invalid, and those that surely are.
    doubtful: Bits,
    invalid: Bits,
    /// The point is never reached.
    pub dead: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    Valid,
    Doubtful,
    Invalid,
}

impl Facts {
    /// Of a point that no way leads to.
    pub fn nowhere() -> Facts {
        Facts { dead: true, ..Facts::default() }
    }

    pub fn join(self, other: &Facts) -> Facts {
        if self.dead {
            return other.clone();
        }
        if other.dead {
            return self;
        }
        Facts {
            unset: self.unset.with(&other.unset),
            doubtful: self.doubtful.with(&other.doubtful),
            invalid: self.invalid.without_others(&other.invalid),
            dead: false,
        }
    }

    pub fn is_unset(&self, part: u32) -> bool {
        self.unset.get(part)
    }

    pub fn validity(&self, part: u32) -> Validity {
        match (self.invalid.get(part), self.doubtful.get(part)) {
            (true, _) => Validity::Invalid,
            (false, true) => Validity::Doubtful,
            (false, false) => Validity::Valid,
        }
    }

    /// The part and all within has been written; a member of a union takes the place of the others.
    pub fn write(&mut self, layout: &Layout, part: u32) {
        for at in layout.within(part) {
            self.unset.put(at, false);
            self.set_validity(at, Validity::Valid);
        }
        layout.siblings(part).into_iter().for_each(|other| self.invalidate(layout, other));
    }

    /// The part and all within has no value: headers are invalid.
    pub fn clear(&mut self, layout: &Layout, part: u32) {
        for at in layout.within(part).filter(|at| matches!(layout.kind(*at), Kind::Scalar | Kind::Field)) {
            self.unset.put(at, true);
        }
        self.invalidate(layout, part);
    }

    pub fn invalidate(&mut self, layout: &Layout, part: u32) {
        for at in layout.within(part).filter(|at| layout.kind(*at) == Kind::Header) {
            self.set_validity(at, Validity::Invalid);
        }
    }

    fn set_validity(&mut self, part: u32, validity: Validity) {
        self.doubtful.put(part, validity != Validity::Valid);
        self.invalid.put(part, validity == Validity::Invalid);
    }

    /// `h.setValid()`: the fields are what they were.
    pub fn set_valid(&mut self, layout: &Layout, part: u32) {
        self.set_validity(part, Validity::Valid);
        layout.siblings(part).into_iter().for_each(|other| self.invalidate(layout, other));
    }

    /// `h.setInvalid()`: if it is a member of a union, the union holds nothing any more.
    pub fn set_invalid(&mut self, layout: &Layout, part: u32) {
        self.invalidate(layout, part);
        layout.siblings(part).into_iter().for_each(|other| self.invalidate(layout, other));
    }

    /// `if (h.isValid())`: inside, it is.
    pub fn learn_valid(&mut self, layout: &Layout, part: u32) {
        if layout.kind(part) == Kind::Header {
            self.set_validity(part, Validity::Valid);
        }
    }

    /// `to` is written with what `source` is: its headers are as valid as those there.
    pub fn copy(&mut self, layout: &Layout, to: u32, from: &Facts, source: u32) {
        self.unset.put(to, false);
        if layout.kind(to) == Kind::Header {
            let validity = if layout.kind(source) == Kind::Header { from.validity(source) } else { Validity::Valid };
            self.set_validity(to, validity);
            if validity != Validity::Doubtful {
                layout.siblings(to).into_iter().for_each(|other| self.invalidate(layout, other));
            }
        }
        for (at, (_, child)) in layout.parts[to as usize].children.iter().enumerate() {
            match layout.parts[source as usize].children.get(at) {
                Some((_, from_child)) => self.copy_part(layout, *child, from, *from_child),
                None => self.unset.put(*child, false),
            }
        }
    }

    /// As `copy`, but members of a union are taken as they are.
    fn copy_part(&mut self, layout: &Layout, to: u32, from: &Facts, source: u32) {
        let siblings = layout.siblings(to);
        let before: Vec<(u32, Validity)> = siblings.iter().map(|other| (*other, self.validity(*other))).collect();
        self.copy(layout, to, from, source);
        before.into_iter().for_each(|(other, validity)| self.set_validity(other, validity));
    }

    /// Of headers that may be valid or not nothing is reported any more: what one control leaves to another is agreed upon between them.
    pub fn trust(&mut self, layout: &Layout, part: u32) {
        let doubtful =
            |facts: &Facts, at: u32| layout.kind(at) == Kind::Header && facts.validity(at) == Validity::Doubtful;
        for at in layout.within(part) {
            if doubtful(self, at) {
                self.set_validity(at, Validity::Valid);
            }
        }
    }

    /// Whether a part has headers, and all of them are surely invalid.
    pub fn all_invalid(&self, layout: &Layout, part: u32) -> bool {
        let mut headers = layout.within(part).filter(|at| layout.kind(*at) == Kind::Header).peekable();
        headers.peek().is_some() && headers.all(|at| self.invalid.get(at))
    }

    /// The fields of a header, and how many of them are unset. One unset field makes the header a value that must not be read: it counts as all.
    pub fn unset_fields(&self, layout: &Layout, part: u32) -> (usize, usize) {
        let mut fields = layout.within(part).filter(|at| layout.kind(*at) == Kind::Field);
        (1, usize::from(fields.any(|at| self.is_unset(at))))
    }

    /// Whether nothing has ever been written to the headers of a part: not even that they are invalid.
    pub fn never_written(&self, layout: &Layout, part: u32) -> bool {
        let mut fields = layout.within(part).filter(|at| layout.kind(*at) == Kind::Field).peekable();
        fields.peek().is_some() && fields.all(|at| self.is_unset(at)) && self.all_invalid(layout, part)
    }

    /// The scalars of a part that are in no header, and how many of them are unset.
    pub fn unset_within(&self, layout: &Layout, part: u32) -> (usize, usize) {
        let scalars = layout.within(part).filter(|at| layout.kind(*at) == Kind::Scalar);
        scalars.fold((0, 0), |(all, unset), at| (all + 1, unset + usize::from(self.is_unset(at))))
    }
}
