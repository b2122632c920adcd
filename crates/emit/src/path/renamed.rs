//! Names of a next path's functions and types. All paths define the same ones, so those of a next path get its number:
//! `path_2_stage_0`, `struct path_2`.

use crate::c::{Expr, Item, Member, Stmt};
use std::collections::BTreeSet;

pub struct Renaming {
    number: usize,
    functions: BTreeSet<String>,
    types: BTreeSet<String>,
}

impl Renaming {
    /// Of the names that items define.
    pub fn new(number: usize, items: &[Item]) -> Renaming {
        let mut renaming = Renaming { number, functions: BTreeSet::new(), types: BTreeSet::new() };
        for item in items {
            match item {
                Item::Function { name, .. } | Item::Defined { name, .. } | Item::Variable { name, .. } => {
                    renaming.functions.insert(name.clone());
                }
                Item::Struct(defined) => {
                    renaming.types.insert(defined.name.clone());
                }
                Item::Comment(_) | Item::Directive(_) | Item::Enum { .. } | Item::Blank => {}
            }
        }
        renaming
    }

    pub fn apply(&self, items: &mut [Item]) {
        for item in items {
            match item {
                Item::Function { of, name, parameters, body } => {
                    [of, name].into_iter().chain(parameters).for_each(|text| self.text(text));
                    body.iter_mut().for_each(|statement| self.statement(statement));
                }
                Item::Struct(defined) => {
                    if self.types.contains(&defined.name) {
                        defined.name = self.renamed(&defined.name);
                    }
                    defined.members.iter_mut().for_each(|member| self.member(member));
                }
                Item::Defined { name, arguments, .. } => {
                    self.text(name);
                    arguments.iter_mut().for_each(|argument| self.expression(argument));
                }
                Item::Variable { of, name, value } => {
                    [of, name].into_iter().for_each(|text| self.text(text));
                    value.iter_mut().for_each(|value| self.expression(value));
                }
                Item::Comment(_) | Item::Directive(_) | Item::Enum { .. } | Item::Blank => {}
            }
        }
    }

    /// Only types of members: their names are in no common space.
    fn member(&self, member: &mut Member) {
        match member {
            Member::Plain { of, .. } => self.text(of),
            Member::Union(members) | Member::Inner { members, .. } => {
                members.iter_mut().for_each(|member| self.member(member));
            }
        }
    }

    fn statement(&self, statement: &mut Stmt) {
        if let Stmt::Declare { of, .. } = statement {
            self.text(of);
        }
        if let Stmt::Switch { cases, .. } = statement {
            cases.iter_mut().flat_map(|(values, _)| values).for_each(|value| self.expression(value));
        }
        statement.expressions_mut().into_iter().for_each(|value| self.expression(value));
        statement.bodies_mut().into_iter().flatten().for_each(|inner| self.statement(inner));
    }

    fn expression(&self, value: &mut Expr) {
        if let Expr::Name(text) | Expr::Call(text, _) | Expr::Cast(text, _) = value {
            self.text(text);
        }
        value.operands_mut().into_iter().for_each(|operand| self.expression(operand));
    }

    /// Renames what a text names. Members are left as they are.
    fn text(&self, text: &mut String) {
        let is_letter = |character: char| character.is_alphanumeric() || character == '_';
        let mut made = String::new();
        let mut rest = text.as_str();
        while let Some(start) = rest.find(is_letter) {
            let (before, word) = rest.split_at(start);
            let (word, behind) = word.split_at(word.find(|next| !is_letter(next)).unwrap_or(word.len()));
            made.push_str(before);
            let is_member = ["->", "."].iter().any(|mark| made.ends_with(mark));
            let names = if made.ends_with("struct ") { &self.types } else { &self.functions };
            match names.contains(word) && !is_member {
                true => made.push_str(&self.renamed(word)),
                false => made.push_str(word),
            }
            rest = behind;
        }
        made.push_str(rest);
        *text = made;
    }

    fn renamed(&self, name: &str) -> String {
        match name.strip_prefix("path") {
            Some(rest) => format!("path_{}{rest}", self.number),
            None => format!("{name}_on_path_{}", self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_local_variables_keep_their_names() {
        let defined = [
            Item::Struct(crate::c::Struct { name: "path".to_string(), members: Vec::new() }),
            Item::Function {
                of: "INLINE void".to_string(),
                name: "path_stage_0".to_string(),
                parameters: vec!["struct path *path".to_string()],
                body: vec![Stmt::call("key_of", [Expr::name("&path->path_stage_0"), Expr::name("(struct path *)key")])],
            },
        ];
        let mut items = defined.clone();
        Renaming::new(2, &defined).apply(&mut items);
        assert!(matches!(&items[0], Item::Struct(defined) if defined.name == "path_2"));
        let Item::Function { name, parameters, body, .. } = &items[1] else { panic!("it is a function") };
        assert_eq!((name.as_str(), parameters[0].as_str()), ("path_2_stage_0", "struct path_2 *path"));
        let arguments = [Expr::name("&path->path_stage_0"), Expr::name("(struct path_2 *)key")];
        assert_eq!(body[0], Stmt::call("key_of", arguments));
    }
}
