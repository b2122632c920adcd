//! Checks of joint tables: their recipes are those of the graph, so that a hit does what both lookups would do.

use super::{Site, Verifier};
use crate::join::{Join, derive, derive_of, derive_places, node_of, refusal};
use crate::plan::{JoinChoice, JoinKind};
use crate::text::get;
use crate::{CounterUnit, NodeKind, Plan, Table, TableId};
use num_bigint::BigUint;
use std::collections::HashSet;

impl Verifier<'_> {
    /// Only of programs that are right otherwise: their graphs can be followed.
    pub(super) fn joins(&mut self) {
        if self.program.joins.is_empty() || !self.errors.is_empty() {
            return;
        }
        let mut made: HashSet<TableId> = HashSet::new();
        let mut used: HashSet<TableId> = HashSet::new();
        for (index, join) in self.program.joins.iter().enumerate() {
            let site = Site::Join(index as u32);
            let tables = [join.table, join.first, join.second];
            if tables.iter().any(|table| get(&self.program.tables, *table).is_none()) {
                self.error(site, "one of its tables does not exist");
                continue;
            }
            if !made.insert(join.table) {
                self.error(site, "its joint table has a recipe already");
            }
            for source in [join.first, join.second] {
                if !used.insert(source) {
                    let name = &self.program.tables[source].name;
                    self.error(site, format!("`{name}` is a source of another join already"));
                }
            }
            if let Err(message) = self.join(join) {
                self.error(site, message);
            }
        }
    }

    /// Whether the program has the joins of its plan, and none that the plan rules out.
    pub(super) fn join_choices(&mut self, plan: &Plan) {
        let program = self.program;
        let name = |table: TableId| program.tables[table].name.as_str();
        for (index, choice) in plan.joins.iter().enumerate() {
            let is_it = |join: &&Join| {
                (name(join.first), name(join.second)) == (&choice.first, &choice.second)
                    && join.place.is_some() == (choice.kind == JoinKind::Value)
            };
            let is_made = program.joins.iter().any(|join| is_it(&join));
            let site = Site::JoinChoice(index as u32);
            if is_made && !choice.made {
                self.error(site, format!("`{}` and `{}` are joined", choice.first, choice.second));
            } else if !is_made && choice.made {
                let why = self.why_not_joined(choice);
                self.report(site, format!("`{}` and `{}` are not joined", choice.first, choice.second), &why);
            }
        }
    }

    fn why_not_joined(&self, choice: &JoinChoice) -> String {
        let program = self.program;
        let find = |name: &str| program.tables.iter().find(|(_, table)| table.name == name).map(|(table, _)| table);
        let [Some(first), Some(second)] = [&choice.first, &choice.second].map(|name| find(name)) else {
            return "the program has no such tables; `bacus explain` lists the pairs that follow each other"
                .to_string();
        };
        if let Some(join) = program.joins.iter().find(|join| [join.first, join.second].contains(&first)) {
            return format!("`{}` is joined already, in `{}`", choice.first, program.tables[join.table].name);
        }
        if choice.kind == JoinKind::Value {
            let derived =
                node_of(program, second).map(|entered| derive_places(program, [first, second], entered, None));
            return match derived {
                Some(Err(why)) => why,
                Some(Ok(_)) => "the pass `join` did not run".to_string(),
                None => format!("`{}` is not looked up at exactly one node", choice.second),
            };
        }
        match node_of(program, first).ok_or("it is not looked up at exactly one node".to_string()) {
            Ok(node) => match derive(program, node) {
                Err(why) => why,
                Ok(derived) if derived.second != second => {
                    format!("the lookup behind `{}` is `{}`", choice.first, program.tables[derived.second].name)
                }
                Ok(_) => "the pass `join` did not run".to_string(),
            },
            Err(why) => why,
        }
    }

    fn join(&self, join: &Join) -> Result<(), String> {
        if let Some(place) = join.place {
            return self.value_join(join, place);
        }
        let program = self.program;
        let name = &program.tables[join.table].name;
        if let Some(why) = refusal(program, join.table) {
            return Err(format!("`{name}` is no joint table: {why}"));
        }
        let [Some(node), Some(first)] = [join.table, join.first].map(|table| node_of(program, table)) else {
            return Err("its first table is not looked up at exactly one node".to_string());
        };
        let firsts: Vec<u32> = join.firsts.iter().map(|first| first.action).collect();
        let derived = derive_of(program, first, &firsts, Some(join.objects))?;
        if (derived.first, derived.second) != (join.first, join.second) {
            return Err("its second table is not looked up behind the first".to_string());
        }
        let actions = (&derived.firsts, &derived.seconds, &derived.missed);
        if derived.keys != join.keys || actions != (&join.firsts, &join.seconds, &join.missed) {
            return Err("its keys or actions are not those that the program makes of it".to_string());
        }
        self.objects_of_sources(join)?;
        self.joint_table(join, &derived.table(program, join.limit))?;
        let NodeKind::Apply { next, exit, .. } = &program.nodes[node].kind else { return Ok(()) };
        let NodeKind::Apply { exit: second_exit, .. } = &program.nodes[derived.second_node].kind else { return Ok(()) };
        if *next != derived.next(first) {
            return Err(format!("a hit in `{name}` does not lead where both lookups do, or a miss not to the first"));
        }
        if exit != second_exit {
            return Err(format!("an exit in `{name}` does not lead where one in the second table does"));
        }
        Ok(())
    }

    /// Whether there is a counter of misses where there are some, and times of hits where entries are aged.
    pub(super) fn objects_of_sources(&self, join: &Join) -> Result<(), String> {
        let program = self.program;
        let counter = join.objects.misses.and_then(|misses| get(&program.counters, misses));
        match (join.missed.is_empty(), counter.map(|it| (it.table, it.size, it.unit))) {
            (true, None) | (false, Some((None, 1, CounterUnit::Packets))) => {}
            (true, Some(_)) => return Err("it has no misses to count".to_string()),
            (false, _) => {
                return Err("its misses are not counted by a counter of packets with one index".to_string());
            }
        }
        let is_placed = join.place.is_some();
        for (source, timer) in [join.first, join.second].into_iter().zip(join.objects.timers).skip(is_placed.into()) {
            let table = &program.tables[source];
            let register = timer.and_then(|timer| get(&program.registers, timer));
            let is_right = register.is_some_and(|register| {
                (register.width, register.size) == (Join::TIME_BITS, Join::times(table, join.limit))
                    && register.initial == BigUint::ZERO
            });
            if table.idle_timeout.is_some() && !is_right {
                let times = Join::times(table, join.limit);
                return Err(format!("`{}` has no register of {times} times for its idle timeouts", table.name));
            }
            if table.idle_timeout.is_none() && timer.is_some() {
                return Err(format!("entries of `{}` have no idle timeouts", table.name));
            }
        }
        Ok(())
    }

    /// Whether the table is the one of the recipe.
    pub(super) fn joint_table(&self, join: &Join, made: &Table) -> Result<(), String> {
        let table = &self.program.tables[join.table];
        if !table.entries.is_empty() || table.default != made.default || !table.default_constant {
            return Err(format!("`{}` has entries of its own, or does something on a miss", table.name));
        }
        if table.size != made.size {
            return Err(format!("`{}` has not the size of the limit {}", table.name, join.limit));
        }
        let values = |table: &crate::Table| table.keys.iter().map(|key| key.value.clone()).collect::<Vec<_>>();
        if values(table) != values(made) {
            return Err(format!("the keys of `{}` are not those of both tables", table.name));
        }
        if table.actions.len() != made.actions.len() {
            return Err(format!("`{}` has {} actions, not {}", table.name, table.actions.len(), made.actions.len()));
        }
        for (action, made) in table.actions.iter().zip(&made.actions) {
            let widths = |action: &crate::Action| action.parameters.iter().map(|it| it.width).collect::<Vec<u32>>();
            if action.body != made.body || widths(action) != widths(made) {
                return Err(format!("action `{}` of `{}` is not both actions in sequence", action.name, table.name));
            }
        }
        Ok(())
    }
}
