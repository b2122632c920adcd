//! Ingress and egress: tables, conditions and calls of actions, each a node that names the next one.

use std::collections::{HashMap, HashSet};

use hlir::build::graph::{EndKind, has_exit};
use hlir::{Next, NodeId, Notes};

use crate::json::{At, Read};
use crate::reader::Reader;

/// What a node of a pipeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Table,
    Condition,
    Call,
}

/// The nodes of a pipeline by their names.
struct Nodes<'j> {
    blocks: HashMap<String, (NodeId, Kind, At<'j>)>,
    end: NodeId,
}

impl<'j> Reader<'j> {
    /// Lowers a pipeline, which ends in `end`; where it begins.
    pub fn read_pipeline(&mut self, name: &str, end: NodeId) -> Read<NodeId> {
        let pipelines = self.root.field("pipelines")?.items()?;
        let Some(pipeline) = pipelines.iter().find(|pipeline| pipeline.name().is_ok_and(|known| known == name)) else {
            return Err(self.root.error(format!("the program has no pipeline `{name}`")));
        };
        let mut nodes = Nodes { blocks: HashMap::new(), end };
        let kinds = [("tables", Kind::Table), ("conditionals", Kind::Condition), ("action_calls", Kind::Call)];
        let mut order = Vec::new();
        for (list, kind) in kinds {
            for at in pipeline.list(list)? {
                let own = at.name()?;
                let block = self.builder.plain_block(&format!("{name}.{own}"));
                if nodes.blocks.insert(own.to_string(), (block, kind, at.clone())).is_some() {
                    return Err(at.error(format!("another node of the pipeline is called `{own}`, too")));
                }
                order.push((block, kind, at));
            }
        }
        for (block, kind, at) in order {
            let done = match kind {
                Kind::Table => self.table_node(block, &at, &nodes),
                Kind::Condition => self.condition_node(name, block, &at, &nodes),
                Kind::Call => self.call_node(block, &at, &nodes),
            };
            self.note(done);
        }
        no_cycles(&nodes)?;
        self.next(&nodes, pipeline.get("init_table").as_ref())
    }

    /// The node of a name; the end of the pipeline without one.
    fn next(&self, nodes: &Nodes<'_>, name: Option<&At<'_>>) -> Read<NodeId> {
        let Some(name) = name else { return Ok(nodes.end) };
        let found = nodes.blocks.get(name.text()?);
        let found = found.ok_or_else(|| name.error(format!("no node of the pipeline is called {}", name.value)))?;
        Ok(found.0)
    }

    fn condition_node(&mut self, pipeline: &str, block: NodeId, at: &At<'j>, nodes: &Nodes<'j>) -> Read<()> {
        let expression = at.field("expression")?;
        let condition = self.boolean(&expression)?;
        let then = self.next(nodes, at.get("true_next").as_ref())?;
        let otherwise = self.next(nodes, at.get("false_next").as_ref())?;
        match condition {
            hlir::Expression::Bool(known) => self.builder.graph.goto(block, if known { then } else { otherwise }),
            condition => {
                let kind = EndKind::Branch { condition, then, otherwise };
                self.builder.graph.end(block, format!("{pipeline}.{}", at.name()?), notes(at), kind);
            }
        }
        Ok(())
    }

    fn call_node(&mut self, block: NodeId, at: &At<'j>, nodes: &Nodes<'j>) -> Read<()> {
        let action = self.action(&at.field("action_id")?)?;
        let next = self.next(nodes, at.get("next_node").as_ref())?;
        self.inline(block, &action, next, nodes.end)
    }

    /// Runs an action in a block of its own.
    fn inline(&mut self, block: NodeId, action: &crate::reader::Action<'j>, next: NodeId, end: NodeId) -> Read<()> {
        let body = self.action_body(action)?;
        let made = self.builder.graph.block_mut(block);
        made.exit = has_exit(&body).then_some(end);
        made.notes = notes(&action.at);
        made.body.extend(body);
        self.builder.graph.goto(block, next);
        Ok(())
    }

    fn table_node(&mut self, block: NodeId, at: &At<'j>, nodes: &Nodes<'j>) -> Read<()> {
        if let Some(action) = self.dummy_action(at)? {
            let next = at.get("next_tables").and_then(|next| next.get(action.name_in(at)));
            let miss = at.get("next_tables").and_then(|next| next.get("__MISS__"));
            let next = self.next(nodes, next.or(miss).or(at.get("base_default_next")).as_ref())?;
            return self.inline(block, &action, next, nodes.end);
        }
        let id = self.read_table(at)?;
        let table = &self.builder.program.tables[id];
        let exits = table.actions.iter().any(|action| has_exit(&action.body));
        let names: Vec<String> = table.actions.iter().map(|action| action.name.clone()).collect();
        let name = table.name.clone();
        let next = self.successors(at, &names, nodes)?;
        let kind = EndKind::Apply { table: id, next, exit: exits.then_some(nodes.end) };
        self.builder.graph.end(block, name, notes(at), kind);
        Ok(())
    }

    /// Where a table leads: by whether it hits, or by the action that ran.
    fn successors(&mut self, at: &At<'j>, names: &[String], nodes: &Nodes<'j>) -> Read<Next> {
        let default = at.get("base_default_next");
        let otherwise = self.next(nodes, default.as_ref())?;
        let Some(given) = at.get("next_tables") else { return Ok(Next::Always(otherwise)) };
        let Some(map) = given.value.as_object() else { return Err(given.error("expected an object")) };
        if map.contains_key("__HIT__") || map.contains_key("__MISS__") {
            let side = |name: &'static str| {
                if map.contains_key(name) { self.next(nodes, given.get(name).as_ref()) } else { Ok(otherwise) }
            };
            return Ok(Next::Hit { hit: side("__HIT__")?, miss: side("__MISS__")? });
        }
        let mut cases = Vec::new();
        for name in map.keys() {
            let to = self.next(nodes, given.get(name).as_ref())?;
            match names.iter().position(|known| known == name) {
                Some(action) => cases.push((action as u32, to)),
                None => return Err(given.error(format!("the table has no action `{name}`"))),
            }
        }
        cases.sort_by_key(|(action, _)| *action);
        Ok(Next::Actions { cases, otherwise })
    }
}

/// Where a part is in the P4 source.
pub fn notes(at: &At<'_>) -> Notes {
    let Some(info) = at.get("source_info") else { return Notes::default() };
    let number = |name: &'static str| info.get(name).and_then(|number| number.small().ok());
    let file = info.get("filename").and_then(|file| file.value.as_str()).unwrap_or_default().to_string();
    let (Some(line), Some(column)) = (number("line"), number("column")) else { return Notes::default() };
    let length = info.get("source_fragment").and_then(|text| text.value.as_str()).map_or(1, |text| text.len().max(1));
    let fragment = u32::try_from(length).unwrap_or(1);
    let origin = hlir::Origin { file, line, column: column + 1, end_line: line, end_column: column + 1 + fragment };
    Notes { origin: Some(origin), ..Notes::default() }
}

/// Pipelines have no loops: tables and conditions lead on.
fn no_cycles(nodes: &Nodes<'_>) -> Read<()> {
    let mut done: HashSet<&str> = HashSet::new();
    for start in nodes.blocks.keys() {
        let mut path: Vec<(&str, Vec<&str>)> = vec![(start, followers(nodes, start))];
        let mut around: HashSet<&str> = HashSet::from([start.as_str()]);
        if done.contains(start.as_str()) {
            continue;
        }
        while let Some((node, rest)) = path.last_mut() {
            let Some(next) = rest.pop() else {
                around.remove(*node);
                done.insert(node);
                path.pop();
                continue;
            };
            if around.contains(next) {
                let at = &nodes.blocks[next].2;
                return Err(at.error(format!("the pipeline leads from `{next}` back to it: it has no end")));
            }
            if !done.contains(next) && nodes.blocks.contains_key(next) {
                around.insert(next);
                path.push((next, followers(nodes, next)));
            }
        }
    }
    Ok(())
}

/// The names of the nodes that follow one.
fn followers<'n>(nodes: &'n Nodes<'_>, name: &str) -> Vec<&'n str> {
    let Some((_, _, at)) = nodes.blocks.get(name) else { return Vec::new() };
    let direct = ["base_default_next", "true_next", "false_next", "next_node"];
    let direct = direct.iter().filter_map(|key| at.value.get(*key)?.as_str());
    let by_action = at.value.get("next_tables").and_then(|next| next.as_object());
    let by_action = by_action.into_iter().flat_map(|next| next.values()).filter_map(|next| next.as_str());
    direct.chain(by_action).collect()
}
