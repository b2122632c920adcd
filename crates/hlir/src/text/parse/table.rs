//! Reads tables.

use super::Reader;
use super::cursor::Read;
use crate::entry::{ActionSet, EntryAction, WeightedCall};
use crate::text::lex::TokenKind;
use crate::text::names::id;
use crate::text::words::{MATCH_KINDS, SCOPES, value_of};
use crate::verify::{Body, Site};
use crate::{Action, ActionCall, Entry, Expression, IdleTimeout, Key, Match, Notes, Parameter, Scope, Table, TableId};
use std::sync::Arc;

const MEMBERS: &str = "`key`, `action`, `default`, `size`, `profile`, `selector`, `empty_group`, `idle_timeout`, `add_on_miss`, `punt_on_miss` or `entries`";

impl Reader {
    pub(super) fn table(&mut self) -> Read<()> {
        let start = self.at;
        let (mut notes, name) = self.beginning("the table's name")?;
        self.origin(&mut notes);
        let table: TableId = id(self.program.tables.len() as u32);
        self.places.set(Site::Table(table), self.since(start));
        self.expect("{")?;
        let mut value = Table {
            name,
            keys: Vec::new(),
            actions: Vec::new(),
            default: ActionCall { action: 0, arguments: Vec::new() },
            default_constant: false,
            size: None,
            entries: Arc::default(),
            entries_constant: false,
            profile: None,
            selector: Vec::new(),
            empty_group: None,
            idle_timeout: None,
            add_on_miss: false,
            punt_on_miss: false,
            notes,
        };
        let (mut has_default, errors_before) = (false, self.errors.len());
        self.members(|reader| reader.member(table, &mut value, &mut has_default))?;
        if !has_default && self.errors.len() == errors_before {
            let span = self.places.get(Site::Table(table));
            self.complain(span, format!("table `{}` has no default action", value.name), "write `default NoAction()`");
        }
        self.program.tables.alloc(value);
        Ok(())
    }

    fn member(&mut self, table: TableId, value: &mut Table, has_default: &mut bool) -> Read<()> {
        let start = self.at;
        let notes = self.notes();
        let constant = self.eat_word("const");
        let scope = self.word().and_then(|word| value_of(SCOPES, word));
        if scope.is_some() {
            self.advance();
        }
        match (self.word().unwrap_or(""), constant, scope) {
            ("action", false, _) => return self.action_member(table, value, notes, scope.unwrap_or_default()),
            ("key", false, None) => return self.key(table, value, notes),
            _ if self.at > start + usize::from(constant) => return Err(self.fail("`action` or `key`")),
            ("default", _, None) => {
                self.advance();
                *has_default = true;
                value.default_constant = constant;
                value.default = self.action_call(table)?;
                self.places.set(Site::Default(table), self.head_since(start));
            }
            ("empty_group", false, None) => {
                self.advance();
                value.empty_group = Some(self.action_call(table)?);
            }
            ("entries", _, None) => {
                self.advance();
                value.entries_constant = constant;
                self.entries(table, value)?;
            }
            _ if constant => return Err(self.fail("`default` or `entries`")),
            (word, _, _) => {
                let word = word.to_string();
                return self.plain_member(&word, value);
            }
        }
        Ok(())
    }

    /// Members that have neither notes nor `const`.
    fn plain_member(&mut self, word: &str, value: &mut Table) -> Read<()> {
        let known = ["size", "profile", "selector", "idle_timeout", "add_on_miss", "punt_on_miss"];
        if !known.contains(&word) {
            return Err(self.fail(MEMBERS));
        }
        self.advance();
        match word {
            "size" => value.size = Some(self.number("a number of entries")?),
            "profile" => value.profile = Some(self.reference("a profile", |names| &names.profiles)?),
            "selector" => {
                value.selector.push(self.expression(None)?);
                while self.eat(",") {
                    value.selector.push(self.expression(None)?);
                }
            }
            "idle_timeout" => {
                let deletes = self.eat_word("delete");
                value.idle_timeout = Some(if deletes { IdleTimeout::Delete } else { IdleTimeout::Notify });
            }
            "add_on_miss" => value.add_on_miss = true,
            _ => value.punt_on_miss = true,
        }
        Ok(())
    }

    /// `key VALUE: KIND as NAME`
    fn key(&mut self, table: TableId, value: &mut Table, mut notes: Notes) -> Read<()> {
        let start = self.at;
        self.advance();
        let expression = self.expression(None)?;
        self.expect(":")?;
        let kind = self.one_of(MATCH_KINDS)?;
        let name = if self.eat_word("as") { Some(self.name("the key's name")?) } else { None };
        self.origin(&mut notes);
        let number = value.keys.len();
        self.places.set(Site::Key(table, number as u32), self.head_since(start));
        if name.is_none() {
            self.unnamed_keys.push((self.program.tables.len(), number));
        }
        value.keys.push(Key { name: name.unwrap_or_default(), value: expression, kind, notes });
        Ok(())
    }

    fn action_member(&mut self, table: TableId, value: &mut Table, mut notes: Notes, scope: Scope) -> Read<()> {
        let start = self.at;
        self.advance();
        let name = self.name("the action's name")?;
        self.expect("(")?;
        let parameters = self.list(")", Reader::parameter)?;
        self.origin(&mut notes);
        let number = value.actions.len() as u32;
        self.places.set(Site::Action(table, number), self.head_since(start));
        self.parameters = parameters.clone();
        let body = self.body(Body::Action(table, number));
        self.parameters.clear();
        value.actions.push(Action { name, parameters, body: body?, scope, notes });
        Ok(())
    }

    fn parameter(&mut self) -> Read<Parameter> {
        let mut notes = self.notes();
        let name = self.name("a parameter")?;
        self.expect(":")?;
        let width = self.number("a width in bits")?;
        self.origin(&mut notes);
        Ok(Parameter { name, width, notes })
    }

    pub(super) fn action_call(&mut self, table: TableId) -> Read<ActionCall> {
        let action = self.action(table)?;
        self.expect("(")?;
        let arguments = self.list(")", |reader| reader.value("an argument"))?;
        Ok(ActionCall { action, arguments })
    }

    fn entries(&mut self, table: TableId, value: &mut Table) -> Read<()> {
        self.expect("{")?;
        self.members(|reader| {
            let start = reader.at;
            let entry = reader.table_entry(table)?;
            reader.places.set(Site::Entry(table, value.entries.len() as u32), reader.since(start));
            Arc::make_mut(&mut value.entries).push(entry);
            Ok(())
        })
    }

    /// `const priority 10: 0x0a000000/8, _ => forward(1)`
    pub(super) fn table_entry(&mut self, table: TableId) -> Read<Entry> {
        let constant = self.eat_word("const");
        let mut priority = 0;
        if self.eat_word("priority") {
            priority = self.number("a priority")?;
            self.expect(":")?;
        }
        let matches = self.list("=>", Reader::key_match)?;
        let named = matches!(self.peek_behind(1).kind, TokenKind::Number { .. });
        let action = if named && self.eat_word("member") {
            EntryAction::Member(self.number("a member")?)
        } else if named && self.eat_word("group") {
            EntryAction::Group(self.number("a group")?)
        } else if !matches!(self.peek_behind(1).kind, TokenKind::Symbol("(")) && self.eat_word("choose") {
            EntryAction::Set(self.action_set(table)?)
        } else {
            EntryAction::Call(self.action_call(table)?)
        };
        Ok(Entry { matches, priority, action, constant })
    }

    /// `sum_of_members { to(1) * 2, to(3) * 1 watch 3 }`
    fn action_set(&mut self, table: TableId) -> Read<ActionSet> {
        let semantics = self.size_semantics("{")?;
        self.expect("{")?;
        let actions = self.list("}", |reader| {
            let call = reader.action_call(table)?;
            reader.expect("*")?;
            let weight = reader.number("a weight")?;
            let watch = if reader.eat_word("watch") { Some(reader.number("a port")?) } else { None };
            Ok(WeightedCall { call, weight, watch })
        })?;
        Ok(ActionSet { actions, semantics, note: Vec::new() })
    }

    fn key_match(&mut self) -> Read<Match> {
        if self.eat_word("_") {
            return Ok(Match::Any);
        }
        let value = self.value("a value, or `_`")?;
        if self.eat("/") {
            return Ok(Match::Lpm { value, prefix: self.number("the length of a prefix")? });
        }
        if self.eat("&&&") {
            return Ok(Match::Ternary { value, mask: self.value("a mask")? });
        }
        if self.eat("..") {
            return Ok(Match::Range { low: value, high: self.value("the end of a range")? });
        }
        Ok(Match::Exact(value))
    }

    /// The values that a list `select` or `selector` is about.
    pub(super) fn keys_until(&mut self, end: &str) -> Read<Vec<Expression>> {
        let mut keys = Vec::new();
        while !self.eat(end) {
            keys.push(self.expression(None)?);
            if !self.eat(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(keys)
    }
}
