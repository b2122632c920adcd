//! What brackets are: blocks of statements, lists of type arguments, arguments of macros.

use super::scan::{Kind, Piece};

/// What is known of each piece beside its text.
#[derive(Clone, Copy, Default)]
pub(super) struct Role {
    /// A brace around statements or declarations that are on several lines, or its partner.
    pub is_block: bool,
    /// The same on one line.
    pub is_inline: bool,
    /// An angle bracket around type arguments or a width.
    pub is_angle: bool,
    /// Inside the arguments of a macro: a macro may make a string of them, so their blanks stay.
    pub is_argument: bool,
    /// Of a `:`, whether it is the second half of `a ? b : c`.
    pub is_choice: bool,
}

pub(super) fn roles(pieces: &[Piece<'_>]) -> Vec<Role> {
    let mut roles = vec![Role::default(); pieces.len()];
    angles(pieces, &mut roles);
    arguments(pieces, &mut roles);
    let mut open: Vec<Open> = vec![Open::at(0)];
    for (at, piece) in pieces.iter().enumerate() {
        if let Some(inside) = open.last_mut() {
            inside.has_lines |= piece.newlines > 0;
        }
        if piece.opens() {
            open.push(Open::at(at));
        } else if piece.closes() {
            close(pieces, &mut roles, &mut open, at);
        } else if piece.is(";") {
            open.last_mut().into_iter().for_each(|inside| inside.has_statements = true);
        } else if piece.is("?") {
            open.last_mut().into_iter().for_each(|inside| inside.choices += 1);
        } else if piece.is(":") {
            let inside = open.last_mut().filter(|inside| inside.choices > 0);
            roles[at].is_choice = inside.is_some();
            inside.into_iter().for_each(|inside| inside.choices -= 1);
        }
    }
    roles
}

struct Open {
    at: usize,
    has_lines: bool,
    has_statements: bool,
    /// Question marks whose colons are to come.
    choices: usize,
}

impl Open {
    fn at(at: usize) -> Open {
        Open { at, has_lines: false, has_statements: false, choices: 0 }
    }
}

fn close(pieces: &[Piece<'_>], roles: &mut [Role], open: &mut Vec<Open>, at: usize) {
    if open.len() < 2 {
        return;
    }
    let Some(inside) = open.pop() else { return };
    let is_block = inside.has_lines && inside.has_statements && pieces[inside.at].is("{") && pieces[at].is("}");
    roles[inside.at].is_block = is_block;
    roles[at].is_block = is_block;
    let is_inline = inside.has_statements && !inside.has_lines && pieces[at].is("}");
    roles[inside.at].is_inline = is_inline;
    roles[at].is_inline = is_inline;
    if let Some(outside) = open.last_mut() {
        outside.has_lines |= inside.has_lines;
        outside.has_statements |= inside.has_statements && pieces[at].is("}");
    }
}

/// Words before a width.
const WIDE: [&str; 3] = ["bit", "int", "varbit"];

/// Marks `<` after a word and its `>` if what is between can be type arguments, and what follows can follow them.
fn angles(pieces: &[Piece<'_>], roles: &mut [Role]) {
    for at in 1..pieces.len() {
        if pieces[at].is("<") && pieces[at - 1].kind == Kind::Word && !starts_with_digit(pieces[at - 1].text) {
            let is_wide = WIDE.contains(&pieces[at - 1].text);
            if let Some(end) = angle_end(pieces, at).filter(|end| is_wide || may_follow(pieces.get(end + 1))) {
                roles[at].is_angle = true;
                roles[end].is_angle = true;
            }
        }
    }
}

/// Type arguments within one another, at most: each `<` looks for its own end.
const DEEPEST_ANGLES: u32 = 64;

fn angle_end(pieces: &[Piece<'_>], at: usize) -> Option<usize> {
    const INSIDE: [&str; 14] = ["<", ">", ",", ".", "(", ")", "+", "-", "*", "/", "[", "]", "_", "@"];
    let (mut angles, mut others) = (0_u32, 0_u32);
    for (index, piece) in pieces.iter().enumerate().skip(at) {
        match piece.text {
            "<" if angles == DEEPEST_ANGLES => return None,
            "<" => angles += 1,
            ">" if others == 0 => angles -= 1,
            "(" | "[" => others += 1,
            ")" | "]" if others == 0 => return None,
            ")" | "]" => others -= 1,
            _ if piece.kind == Kind::Word || piece.is_comment() || INSIDE.contains(&piece.text) => {}
            _ => return None,
        }
        if angles == 0 {
            return Some(index);
        }
    }
    None
}

fn may_follow(next: Option<&Piece<'_>>) -> bool {
    next.is_some_and(|next| {
        let is_name = next.kind == Kind::Word && !starts_with_digit(next.text);
        is_name || ["(", ")", ",", ";", ">", "{", "[", "@"].contains(&next.text)
    })
}

/// The arguments of macros, whose names have no small letters, and the bodies of annotations, which are given to
/// controllers as they are written.
fn arguments(pieces: &[Piece<'_>], roles: &mut [Role]) {
    let mut depth = 0;
    for at in 1..pieces.len() {
        let piece = &pieces[at];
        let is_inside = depth > 0;
        if piece.opens() && (is_inside || !piece.is("{") && has_arguments(pieces, at)) {
            depth += 1;
        } else if is_inside && piece.closes() {
            depth -= 1;
        }
        roles[at].is_argument = is_inside;
    }
}

/// Whether the bracket at an index is behind the name of a macro or of an annotation.
fn has_arguments(pieces: &[Piece<'_>], at: usize) -> bool {
    let name = &pieces[at - 1];
    let is_annotation = at > 1 && pieces[at - 2].is("@");
    name.kind == Kind::Word && (is_annotation || pieces[at].is("(") && is_macro(name.text))
}

fn is_macro(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_uppercase() || first == '_');
    name.len() > 1 && begins && !name.contains(|letter: char| letter.is_ascii_lowercase())
}

pub(super) fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}
