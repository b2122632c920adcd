//! Reads nodes.

use super::Reader;
use super::cursor::Read;
use crate::text::lex::TokenKind;
use crate::text::names::id;
use crate::text::words::BYTES;
use crate::verify::{Body, Site};
use crate::{
    Case, Effect, Expression, Keep, KeySet, Next, Node, NodeId, NodeKind, Notes, Place, Reentry, Rule, Select, TableId,
};

impl Reader {
    pub(super) fn node(&mut self) -> Read<()> {
        let start = self.at;
        let (mut notes, name) = self.beginning("the node's name")?;
        self.expect(":")?;
        let node = id(self.program.nodes.len() as u32);
        self.places.set(Site::Node(node), self.head_since(start));
        let word = self.word().unwrap_or("").to_string();
        let kinds = ["state", "block", "branch", "apply", "deparse", "buffer"];
        if !kinds.contains(&word.as_str()) {
            return Err(self.fail("`state of PARSER`, `block`, `branch`, `apply`, `deparse` or `buffer`"));
        }
        self.advance();
        let kind = match word.as_str() {
            "state" => self.state(node, &mut notes)?,
            "block" => {
                self.origin(&mut notes);
                let body = self.body(Body::Node(node))?;
                self.expect("->")?;
                NodeKind::Block { body, next: self.node_reference()?, exit: self.exit()? }
            }
            "branch" => {
                let condition = self.expression(None)?;
                self.expect("->")?;
                let then = self.node_reference()?;
                self.expect_word("else")?;
                NodeKind::Branch { condition, then, otherwise: self.node_reference()? }
            }
            "apply" => {
                let table = self.reference("a table", |names| &names.tables)?;
                self.expect("->")?;
                NodeKind::Apply { table, next: self.next(table)?, exit: self.exit()? }
            }
            "deparse" => {
                self.origin(&mut notes);
                let body = self.body(Body::Node(node))?;
                self.expect("->")?;
                NodeKind::Deparse { body, next: self.node_reference()? }
            }
            _ => self.buffer(node, &mut notes)?,
        };
        if notes.origin.is_none() && matches!(kind, NodeKind::Branch { .. } | NodeKind::Apply { .. }) {
            self.origin(&mut notes);
        }
        self.program.nodes.alloc(Node { name, kind, notes });
        Ok(())
    }

    fn exit(&mut self) -> Read<Option<NodeId>> {
        if self.eat_word("exit") { self.node_reference().map(Some) } else { Ok(None) }
    }

    fn next(&mut self, table: TableId) -> Read<Next> {
        if self.eat_word("hit") {
            let hit = self.node_reference()?;
            self.eat(",");
            self.expect_word("miss")?;
            return Ok(Next::Hit { hit, miss: self.node_reference()? });
        }
        if !self.eat("{") {
            return Ok(Next::Always(self.node_reference()?));
        }
        let mut cases = Vec::new();
        while !self.eat_word("otherwise") {
            let action = self.action(table)?;
            self.expect("->")?;
            cases.push((action, self.node_reference()?));
            self.eat(",");
        }
        self.expect("->")?;
        let otherwise = self.node_reference()?;
        self.eat(",");
        self.expect("}")?;
        Ok(Next::Actions { cases, otherwise })
    }

    fn state(&mut self, node: NodeId, notes: &mut Notes) -> Read<NodeKind> {
        self.expect_word("of")?;
        let parser = self.reference("a parser", |names| &names.parsers)?;
        self.origin(notes);
        let body = self.body(Body::Node(node))?;
        if self.eat("->") {
            let otherwise = Some(self.node_reference()?);
            return Ok(NodeKind::State {
                parser,
                body,
                select: Select { keys: Vec::new(), cases: Vec::new(), otherwise },
            });
        }
        if !self.eat_word("select") {
            return Err(self.fail("`-> NODE` or `select KEYS { … }`"));
        }
        let keys = self.keys_until("{")?;
        let mut select = Select { keys, cases: Vec::new(), otherwise: None };
        self.members(|reader| {
            let start = reader.at;
            if reader.eat_word("otherwise") {
                reader.expect("->")?;
                select.otherwise = Some(reader.node_reference()?);
                return Ok(());
            }
            if select.otherwise.is_some() {
                return Err(reader.fail_with_hint("`}`", "`otherwise` comes last"));
            }
            let sets = reader.list("->", Reader::key_set)?;
            let case = Case { sets, to: reader.node_reference()? };
            reader.places.set(Site::Case(node, select.cases.len() as u32), reader.since(start));
            select.cases.push(case);
            Ok(())
        })?;
        Ok(NodeKind::State { parser, body, select })
    }

    fn key_set(&mut self) -> Read<KeySet> {
        if self.eat_word("_") {
            return Ok(KeySet::Any);
        }
        if self.eat_word("in") {
            return Ok(KeySet::Set(self.reference("a value set", |names| &names.value_sets)?));
        }
        let value = self.value("a value, `_`, `in VALUE_SET` or `otherwise`")?;
        if self.eat("&&&") {
            return Ok(KeySet::Mask { value, mask: self.value("a mask")? });
        }
        if self.eat("..") {
            return Ok(KeySet::Range { low: value, high: self.value("the end of a range")? });
        }
        Ok(KeySet::Value(value))
    }

    fn buffer(&mut self, node: NodeId, notes: &mut Notes) -> Read<NodeKind> {
        self.origin(notes);
        self.expect("{")?;
        let mut rules = Vec::new();
        let mut otherwise = None;
        self.members(|reader| {
            let start = reader.at;
            if otherwise.is_some() {
                return Err(reader.fail_with_hint("`}`", "`otherwise` comes last"));
            }
            if reader.eat_word("otherwise") {
                reader.expect("->")?;
                otherwise = Some(reader.node_reference()?);
                return Ok(());
            }
            let mut condition = Expression::Bool(true);
            if reader.eat_word("when") {
                condition = reader.expression(None)?;
                reader.expect(":")?;
            }
            let effect = reader.effect()?;
            reader.places.set(Site::Rule(node, rules.len() as u32), reader.head_since(start));
            rules.push(Rule { condition, effect });
            Ok(())
        })?;
        Ok(NodeKind::Buffer { rules, otherwise })
    }

    fn effect(&mut self) -> Read<Effect> {
        let word = self.word().unwrap_or("").to_string();
        let known = ["drop", "send", "unicast", "replicate", "clone", "resubmit", "recirculate", "punt"];
        if !known.contains(&word.as_str()) {
            let expected =
                "`drop`, `send`, `unicast`, `replicate`, `clone`, `resubmit`, `recirculate`, `punt` or `otherwise`";
            return Err(self.fail_with_hint(expected, "write a condition before it: `when CONDITION: EFFECT`"));
        }
        self.advance();
        match word.as_str() {
            "drop" => Ok(Effect::Drop { reason: self.text("the reason, as a string")? }),
            "send" => Ok(Effect::Send { port: self.expression(None)? }),
            "unicast" => Ok(Effect::Unicast { set: self.set()?, to: self.target()? }),
            "replicate" => Ok(Effect::Replicate { group: self.expression(None)?, copy: self.reentry()? }),
            "clone" => Ok(Effect::Clone { session: self.expression(None)?, copy: self.reentry()? }),
            "resubmit" => Ok(Effect::Resubmit { copy: self.reentry()? }),
            "recirculate" => Ok(Effect::Recirculate { copy: self.reentry()? }),
            _ => Ok(Effect::Punt { reason: self.text("the reason, as a string")?, resume: self.target()? }),
        }
    }

    fn target(&mut self) -> Read<NodeId> {
        self.expect("->")?;
        self.node_reference()
    }

    fn reentry(&mut self) -> Read<Reentry> {
        let bytes = self.one_of(BYTES)?;
        self.expect_word("keep")?;
        let keep = if self.eat_word("all") {
            Keep::All
        } else {
            self.expect("{")?;
            Keep::Only(self.list("}", Reader::variable_name)?)
        };
        Ok(Reentry { bytes, keep, set: self.set()?, to: self.target()? })
    }

    /// `set { place = value … }`, which may be left out.
    fn set(&mut self) -> Read<Vec<(Place, Expression)>> {
        let mut set = Vec::new();
        if self.eat_word("set") {
            self.expect("{")?;
            self.members(|reader| {
                if !matches!(reader.peek().kind, TokenKind::Name { .. } | TokenKind::Ordinal(_)) {
                    return Err(reader.fail("an assignment"));
                }
                set.push(reader.assignment()?);
                Ok(())
            })?;
        }
        Ok(set)
    }
}
