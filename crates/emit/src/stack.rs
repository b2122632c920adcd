//! Headers that are kept as arrays: the elements of a long stack.
//!
//! In HLIR each element of a stack is a header of its own. Of a short stack each has its members in `struct state`, which become registers. Those of a long
//! one are elements of arrays, so that what is done to one after the other is a loop (`roll.rs`), and neither the C nor its compilation grows with the stack.

use crate::c::{Expr, Member, Stmt};
use crate::names::Names;
use crate::unit::{Unit, number};
use hlir::{Header, HeaderId, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Elements from which on a stack is kept as arrays. Shorter ones are common on hot paths, where registers are worth more than short code.
const LONG: usize = 9;

/// The index of a header in an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The array's name.
    pub of: String,
    pub at: u32,
    pub count: u32,
}

/// The headers of long stacks: the stack's name, and its elements in order. Of a stack of unions there is one for each member.
pub fn long_stacks(program: &Program) -> Vec<(String, Vec<HeaderId>)> {
    let mut found: BTreeMap<(&str, &str), Vec<(u32, HeaderId)>> = BTreeMap::new();
    for (id, header) in program.headers.iter() {
        if let Some((stack, at, member)) = element(&header.name) {
            found.entry((stack, member)).or_default().push((at, id));
        }
    }
    let whole = |elements: &[(u32, HeaderId)]| {
        let alike = |(place, (at, id)): (usize, &(u32, HeaderId))| {
            *at as usize == place && is_alike(&program.headers[*id], &program.headers[elements[0].1])
        };
        elements.len() >= LONG && elements.iter().enumerate().all(alike)
    };
    let stacks = found.into_iter().filter(|(_, elements)| whole(elements));
    let mut stacks: Vec<(String, Vec<HeaderId>)> = stacks
        .map(|((stack, member), elements)| {
            (format!("{stack}{member}"), elements.into_iter().map(|(_, id)| id).collect())
        })
        .collect();
    stacks.sort_by_key(|(_, elements)| number(elements[0]));
    stacks
}

fn is_alike(left: &Header, right: &Header) -> bool {
    left.type_name == right.type_name && left.fields == right.fields
}

/// `hdr.tags[3].inner` in its parts: the stack, the element's number, and the rest.
fn element(name: &str) -> Option<(&str, u32, &str)> {
    let (stack, rest) = name.rsplit_once('[')?;
    let (at, member) = rest.split_once(']')?;
    Some((stack, at.parse().ok()?, member))
}

impl Names {
    /// A member named after a header: with the suffix `_valid`, its validity.
    pub fn of_header(&self, index: usize, part: &str) -> String {
        match &self.elements[index] {
            None => format!("{}{part}", self.headers[index]),
            Some(element) => format!("{}{part}[{}]", element.of, element.at),
        }
    }

    /// The word by which code mentions such a member.
    pub fn word_of_header(&self, index: usize, part: &str) -> String {
        let name = self.elements[index].as_ref().map_or(&self.headers[index], |element| &element.of);
        format!("{name}{part}")
    }

    /// The declaration of such a member, with each suffix; nothing if the first element of an array has
    /// declared all.
    pub fn declared_of_header(&self, index: usize, part: &str, each: &str) -> Option<String> {
        match &self.elements[index] {
            None => Some(format!("{}{part}{each}", self.headers[index])),
            Some(element) => (element.at == 0).then(|| format!("{}{part}[{}]{each}", element.of, element.count)),
        }
    }

    /// All words of arrays.
    pub fn arrays(&self) -> BTreeSet<String> {
        let all = self.elements.iter().flatten();
        all.flat_map(|element| ["", "_valid", "_bits", "_place"].map(|part| format!("{}{part}", element.of))).collect()
    }
}

impl Unit<'_> {
    /// A member of a header that code mentions: `of name;`.
    pub fn header_member(&self, members: &mut Vec<Member>, of: &str, index: usize, part: &str, remark: &str) {
        let declared = self.names.declared_of_header(index, part, "");
        members.extend(declared.map(|name| Member::plain(of, name, remark)));
    }

    /// Bytes for a header.
    pub fn header_bytes(&self, members: &mut Vec<Member>, index: usize, size: u32, remark: &str) {
        let declared = self.names.declared_of_header(index, "", &format!("[{size}]"));
        members.extend(declared.map(|name| Member::plain("uint8_t", name, remark)));
    }
}

/// Takes a member of a struct to zero, `false` or NULL: `value` is that, of one that is no array.
pub fn zeroed(holder: &str, member: &str, value: Expr) -> Stmt {
    match member.split_once('[') {
        None => Stmt::set(Expr::Name(format!("{holder}{member}")), value),
        Some((array, _)) => {
            let place = format!("{holder}{array}");
            let size = Expr::Name(format!("sizeof({place})"));
            Stmt::call("memset", [Expr::Name(place), Expr::name("0"), size])
        }
    }
}
