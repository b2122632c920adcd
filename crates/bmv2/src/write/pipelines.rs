//! Ingress and egress: the parts of the graph between the parser, the buffering managers and the deparser.

use super::checksums::{self, Checksum};
use super::parser::last;
use super::writer::{Writer, Written, placed};
use hlir::{Effect, Expression, Intrinsic, Next, NodeId, NodeKind, ProfileId, Statement};
use num_bigint::BigUint;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// A pipeline while it is written.
struct Pipeline {
    /// The block of egress that begins as v1model has it; statements of the program may follow.
    begin: Option<NodeId>,
    /// The node that the pipeline ends in front of.
    end: NodeId,
    /// Names of the nodes: of what is first done there.
    names: HashMap<NodeId, String>,
    tables: Vec<Value>,
    conditionals: Vec<Value>,
    profiles: Vec<Value>,
}

/// Numbers of tables, conditions and profiles, which go through both pipelines.
#[derive(Default)]
struct Numbers {
    tables: usize,
    conditions: usize,
    /// Names of nodes: BMv2 looks them up without their pipeline.
    names: HashSet<String>,
    profiles: HashSet<ProfileId>,
    applied: HashSet<hlir::TableId>,
}

/// A node, and the checksums that it computes.
type Checksums<'p> = (NodeId, Vec<Checksum<'p>>);

impl<'p> Writer<'p> {
    pub(super) fn pipelines(&mut self) -> Written<Value> {
        let Some(parser) = self.program.parsers.values().next() else {
            return self.unsayable("a program without a parser");
        };
        let mut ingress = self.behind_clones(parser.accept);
        let mut verified = None;
        if let NodeKind::Block { body, next, exit: None } = &self.node(ingress).kind
            && let Some(found) = self.verifications(body)
        {
            verified = Some((ingress, found));
            ingress = *next;
        }
        let Some(manager) = self.manager(ingress) else {
            return self.unsayable("a program without a buffering manager behind ingress");
        };
        let egress = self.node(manager).effects().find_map(|effect| match effect {
            Effect::Unicast { to, .. } => Some(*to),
            _ => None,
        });
        let mut numbers = Numbers::default();
        let first = self.pipeline(("ingress", 0), ingress, manager, &mut numbers)?;
        let mut updated = None;
        // Where no packet is ever sent, egress has nothing to do.
        let second = match egress {
            Some(egress) => {
                let end;
                (end, updated) = self.end_of_egress(egress)?;
                let first = self.begin_of_egress(egress);
                self.pipeline(("egress", 1), first, end, &mut numbers)?
            }
            None => json!({
                "name": "egress", "id": 1, "init_table": null, "tables": [], "action_profiles": [], "conditionals": [],
                "source_info": self.control("egress", &[]),
            }),
        };
        // Calculations are numbered as p4c does: hashes, then checksums that are updated, then those that are verified.
        for (checksums, verify) in [(updated, false), (verified, true)] {
            if let Some(checksums) = checksums {
                self.write_checksums(&checksums, verify)?;
            }
        }
        Ok(json!([first, second]))
    }

    fn write_checksums(&mut self, (node, found): &Checksums<'p>, verify: bool) -> Written {
        self.origin = self.node(*node).notes.origin.clone();
        found.iter().try_for_each(|checksum| self.checksum(checksum, verify))
    }

    /// Where packets that are no clones go on behind the parser.
    fn behind_clones(&self, accept: NodeId) -> NodeId {
        match &self.node(accept).kind {
            NodeKind::Branch { otherwise, .. } if self.node(accept).name == "v1model.is_clone" => *otherwise,
            _ => accept,
        }
    }

    /// The first buffering manager behind a node.
    fn manager(&self, from: NodeId) -> Option<NodeId> {
        let (mut seen, mut waiting) = (HashSet::from([from]), vec![from]);
        while let Some(at) = waiting.pop() {
            if let NodeKind::Buffer { .. } = self.node(at).kind {
                return Some(at);
            }
            waiting.extend(self.node(at).successors().into_iter().filter(|next| seen.insert(*next)));
        }
        None
    }

    /// Where egress begins to do what BMv2 does not do itself.
    fn begin_of_egress(&self, egress: NodeId) -> NodeId {
        match &self.node(egress).kind {
            NodeKind::Block { body, next, exit: None } if self.own_statements(body).is_empty() => *next,
            _ => egress,
        }
    }

    /// Where egress ends, and the checksums behind it with their node.
    fn end_of_egress(&mut self, egress: NodeId) -> Written<(NodeId, Option<Checksums<'p>>)> {
        let deparser = self.program.nodes.iter().find(|(_, node)| matches!(node.kind, NodeKind::Deparse { .. }));
        let Some((deparser, _)) = deparser else { return self.unsayable("a program without a deparser") };
        let buffer = self.manager(egress).filter(|at| self.node(*at).name == "v1model.egress_buffer");
        let before: Vec<NodeId> = {
            let nodes = self.program.nodes.iter();
            nodes.filter(|(_, node)| node.successors().contains(&deparser)).map(|(id, _)| id).collect()
        };
        if let [compute] = before[..]
            && let NodeKind::Block { body, exit: None, .. } = &self.node(compute).kind
            && let Some(found) = checksums::updates(body)
        {
            return Ok((buffer.unwrap_or(compute), Some((compute, found))));
        }
        let Some(buffer) = buffer else { return Ok((deparser, None)) };
        let behind = match &self.node(buffer).kind {
            NodeKind::Buffer { otherwise, .. } => *otherwise,
            _ => None,
        };
        if behind != Some(deparser) {
            self.origin = behind.and_then(|behind| self.node(behind).notes.origin.clone());
            return self.unsayable("a statement beside the checksums in front of the deparser");
        }
        Ok((buffer, None))
    }

    fn pipeline(
        &mut self,
        (name, id): (&str, usize),
        start: NodeId,
        end: NodeId,
        numbers: &mut Numbers,
    ) -> Written<Value> {
        let mut pipeline = Pipeline {
            begin: (name == "egress").then_some(start),
            end,
            names: HashMap::new(),
            tables: Vec::new(),
            conditionals: Vec::new(),
            profiles: Vec::new(),
        };
        let reached = self.reached(start, end)?;
        let mut order = Vec::new();
        for at in &reached {
            let name = match self.twin(*at, &reached) {
                Some(twin) => pipeline.names[&twin].clone(),
                None => {
                    order.push(*at);
                    self.name_of_node(*at, numbers)
                }
            };
            pipeline.names.insert(*at, name);
        }
        for at in order {
            self.origin = self.node(at).notes.origin.clone();
            self.pipeline_node(at, &mut pipeline, numbers)?;
        }
        let first = self.next(start, &pipeline);
        Ok(json!({
            "name": name,
            "id": id,
            "source_info": self.control(name, &reached),
            "init_table": first,
            "tables": pipeline.tables,
            "action_profiles": pipeline.profiles,
            "conditionals": pipeline.conditionals,
        }))
    }

    /// The name of a pipeline's control, by which its tables' names begin, where p4c has it: p4-utils looks there.
    fn control(&self, pipeline: &str, nodes: &[NodeId]) -> Value {
        let nodes: Vec<_> = nodes.iter().map(|id| self.node(*id)).collect();
        let section = nodes.iter().filter_map(|node| node.name.split('.').next()).find(|section| *section != "v1model");
        let origin = nodes.iter().find_map(|node| node.notes.origin.as_ref());
        let (file, line) = origin.map_or(("", 0), |origin| (origin.file.as_str(), origin.line));
        json!({ "filename": file, "line": line, "column": 0, "source_fragment": section.unwrap_or(pipeline) })
    }

    /// The nodes of a pipeline, in the order of the program.
    fn reached(&mut self, start: NodeId, end: NodeId) -> Written<Vec<NodeId>> {
        let (mut seen, mut waiting) = (HashSet::new(), vec![start]);
        while let Some(at) = waiting.pop() {
            if at == end || !seen.insert(at) {
                continue;
            }
            let node = self.node(at);
            match node.kind {
                NodeKind::Block { .. } | NodeKind::Branch { .. } | NodeKind::Apply { .. } => {
                    waiting.extend(node.successors());
                }
                NodeKind::State { .. } | NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => {
                    self.origin = node.notes.origin.clone();
                    return self.unsayable(format!("a control that leads to `{}` from within", node.name));
                }
            }
        }
        let mut order: Vec<NodeId> = seen.into_iter().collect();
        order.sort_by_key(|id| id.into_raw().into_u32());
        Ok(order)
    }

    /// The first of the nodes that apply the same table and lead to the same nodes: BMv2 has one for all of them.
    fn twin(&self, at: NodeId, reached: &[NodeId]) -> Option<NodeId> {
        let kind = &self.node(at).kind;
        let mut before = reached.iter().copied().take_while(|other| *other != at);
        matches!(kind, NodeKind::Apply { .. }).then(|| before.find(|other| self.node(*other).kind == *kind)).flatten()
    }

    /// What is known as the node: a table, a condition, or a table of statements.
    fn name_of_node(&self, at: NodeId, numbers: &mut Numbers) -> String {
        let node = self.node(at);
        let name = match &node.kind {
            NodeKind::Branch { .. } => format!("node_{}", numbers.names.len() + 2),
            NodeKind::Apply { table, .. } if self.is_ready(*table) => self.program.tables[*table].name.clone(),
            _ => format!("tbl_{}", statements_name(node)),
        };
        let others = (0..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.clone()).chain(others).find(|name| !numbers.names.contains(name));
        let free = free.unwrap_or(name);
        numbers.names.insert(free.clone());
        free
    }

    /// Whether all that a table reads is in fields.
    fn is_ready(&self, table: hlir::TableId) -> bool {
        let table = &self.program.tables[table];
        let keys = table.keys.iter().map(|key| &key.value);
        keys.chain(&table.selector).all(|value| self.plain(value).is_some())
    }

    fn next(&self, to: NodeId, pipeline: &Pipeline) -> Value {
        if to == pipeline.end { Value::Null } else { json!(pipeline.names[&to]) }
    }

    fn pipeline_node(&mut self, at: NodeId, pipeline: &mut Pipeline, numbers: &mut Numbers) -> Written {
        let node = self.node(at);
        let name = pipeline.names[&at].clone();
        match &node.kind {
            NodeKind::Block { body, next, exit } => {
                self.check_exit(*exit, pipeline)?;
                let own = pipeline.begin.filter(|begin| *begin == at).map(|_| self.own_statements(body));
                let primitives = self.body(own.as_deref().unwrap_or(body))?;
                let made = self.statements_table(&name, numbers.tables, primitives);
                numbers.tables += 1;
                let next = self.next(*next, pipeline);
                pipeline.tables.push(placed(with_next(made, &next), &node.notes, last(node)));
            }
            NodeKind::Branch { condition, then, otherwise } => {
                let made = json!({
                    "name": name,
                    "id": numbers.conditions,
                    "expression": self.condition(condition)?,
                    "true_next": self.next(*then, pipeline),
                    "false_next": self.next(*otherwise, pipeline),
                });
                numbers.conditions += 1;
                pipeline.conditionals.push(placed(made, &node.notes, last(node)));
            }
            NodeKind::Apply { table, next, exit } => {
                self.check_exit(*exit, pipeline)?;
                self.apply(*table, next, &name, pipeline, numbers)?;
            }
            NodeKind::State { .. } | NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => {}
        }
        Ok(())
    }

    /// `exit` ends the pipeline in BMv2.
    fn check_exit(&self, exit: Option<NodeId>, pipeline: &Pipeline) -> Written {
        match exit {
            Some(exit) if exit != pipeline.end => {
                let to = &self.node(exit).name;
                self.unsayable(format!("an `exit` with statements behind it (`{to}`)"))
            }
            _ => Ok(()),
        }
    }

    fn apply(
        &mut self,
        id: hlir::TableId,
        next: &Next,
        name: &str,
        pipeline: &mut Pipeline,
        numbers: &mut Numbers,
    ) -> Written {
        let table = &self.program.tables[id];
        if !numbers.applied.insert(id) {
            return self.unsayable(format!(
                "the table `{}`, which is applied at several places with different successors,",
                table.name
            ));
        }
        let made = self.table(id, numbers.tables)?;
        numbers.tables += 1;
        let mut before = made.before;
        if let Some(profile) = table.profile {
            let inputs = self.selector_inputs(id, &mut before)?;
            if numbers.profiles.insert(profile) {
                let number = numbers.profiles.len() - 1;
                pipeline.profiles.push(self.profile(profile, number, &inputs));
            } else if !before.is_empty() {
                return self.unsayable(format!("the selector of `{}`, which hashes computed values,", table.name));
            }
        }
        if *name != table.name {
            let first = self.statements_table(name, numbers.tables, before);
            numbers.tables += 1;
            pipeline.tables.push(with_next(first, &json!(table.name)));
        }
        let written = self.with_successors(made.table, id, next, pipeline);
        pipeline.tables.push(written);
        Ok(())
    }

    /// A table with the node that follows each of its actions, or a hit and a miss.
    fn with_successors(&self, mut table: Value, id: hlir::TableId, next: &Next, pipeline: &Pipeline) -> Value {
        let to = |node: NodeId| self.next(node, pipeline);
        let names = self.program.tables[id].actions.iter().map(|action| action.name.clone());
        let (mut successors, base) = (
            Map::new(),
            match next {
                Next::Always(always) => to(*always),
                Next::Hit { miss, .. } => to(*miss),
                Next::Actions { otherwise, .. } => to(*otherwise),
            },
        );
        match next {
            Next::Hit { hit, miss } => {
                successors.insert("__HIT__".to_string(), to(*hit));
                successors.insert("__MISS__".to_string(), to(*miss));
            }
            Next::Always(_) => successors.extend(names.map(|name| (name, base.clone()))),
            Next::Actions { cases, .. } => {
                for (number, name) in names.enumerate() {
                    let case = cases.iter().find(|(action, _)| *action as usize == number);
                    successors.insert(name, case.map_or(base.clone(), |(_, node)| to(*node)));
                }
            }
        }
        if let Some(object) = table.as_object_mut() {
            object.insert("next_tables".to_string(), Value::Object(successors));
            object.insert("base_default_next".to_string(), base);
        }
        table
    }

    /// The statements of the program in the block in front of egress: BMv2 itself does what v1model does there.
    fn own_statements(&self, body: &[Statement]) -> Vec<Statement> {
        let is_v1model = |statement: &Statement| match statement {
            Statement::Assign { target, value: Expression::Constant { value, .. } } => {
                *value == BigUint::ZERO && self.storage.is_standard(*target, "egress_spec")
            }
            Statement::Assign { value, .. } => {
                let mut is_time = false;
                value.walk(&mut |part| is_time |= *part == Expression::Intrinsic(Intrinsic::Clock));
                is_time
            }
            _ => false,
        };
        // Clones lose headers first, in BMv2 as well.
        let is_loss = |statement: &Statement| match statement {
            Statement::If { then, otherwise, .. } => {
                otherwise.is_empty() && then.iter().all(|inner| matches!(inner, Statement::SetInvalid(_)))
            }
            _ => false,
        };
        let first = body.iter().position(|statement| !is_v1model(statement) && !is_loss(statement));
        let (begin, rest) = body.split_at(first.unwrap_or(body.len()));
        begin.iter().filter(|statement| !is_v1model(statement)).chain(rest).cloned().collect()
    }
}

/// A table of statements, with what follows it.
fn with_next(mut table: Value, next: &Value) -> Value {
    let action = table["actions"][0].as_str().unwrap_or_default().to_string();
    if let Some(object) = table.as_object_mut() {
        object.insert("base_default_next".to_string(), next.clone());
        object.insert("next_tables".to_string(), json!({ action: next }));
    }
    table
}

/// What p4c calls the action of statements: by file and line. The name of no table ends so, for clients look tables up by the ends of their names.
fn statements_name(node: &hlir::Node) -> String {
    match &node.notes.origin {
        Some(origin) => {
            let file = origin.file.rsplit('/').next().unwrap_or_default();
            let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
            let stem: String = stem.chars().filter(char::is_ascii_alphanumeric).collect();
            format!("{stem}l{}", origin.line)
        }
        None => format!("{}_statements", node.name.replace(['.', '[', ']'], "_")),
    }
}
