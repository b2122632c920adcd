//! Checks of value joins: a record's place is that of the key which its action gives, and nothing else has one.

use super::Verifier;
use crate::join::{Accesses, Join, SecondKey, derive_places, node_of, set_place};
use crate::text::get;
use crate::{Effect, Expression, NodeKind, Place, Rule, Statement, Table, TableId, Type, VariableId, visit};

impl Verifier<'_> {
    pub(super) fn value_join(&self, join: &Join, place: VariableId) -> Result<(), String> {
        let program = self.program;
        let name = &program.tables[join.table].name;
        let [Some(node), Some(_)] = [join.table, join.first].map(|table| node_of(program, table)) else {
            return Err(format!("`{name}` is not looked up at exactly one node"));
        };
        let width = self.place_width(join, place)?;
        if join.objects.timers[0].is_some() {
            return Err("hits of its first table are those of the table itself".to_string());
        }
        let derived = derive_places(program, [join.first, join.second], node, Some(join.objects))?;
        let is_determined = join.keys.iter().all(|key| *key == SecondKey::Determined);
        let keys = program.tables[join.second].keys.len();
        if !is_determined
            || join.keys.len() != keys
            || (&derived.seconds, &derived.missed) != (&join.seconds, &join.missed)
        {
            return Err("its keys or actions are not those that the program makes of it".to_string());
        }
        // The first table's actions have a place as data now, which is none of their own.
        if derived.firsts != join.firsts {
            return Err("its first actions are not those that give the key".to_string());
        }
        self.objects_of_sources(join)?;
        self.joint_table(join, &derived.table(program, place, join.limit))?;
        self.placed_actions(join, place, width)?;
        self.only_use(join, place)?;
        let NodeKind::Apply { next, exit, .. } = &program.nodes[node].kind else { return Ok(()) };
        let NodeKind::Apply { exit: second_exit, .. } = &program.nodes[derived.second_node].kind else { return Ok(()) };
        if *next != derived.next() {
            return Err(format!("a hit in `{name}` does not lead where the second lookup does, or a miss not to it"));
        }
        if exit != second_exit {
            return Err(format!("an exit in `{name}` does not lead where one in the second table does"));
        }
        Ok(())
    }

    /// The width of the variable, if it has room for all places.
    fn place_width(&self, join: &Join, place: VariableId) -> Result<u32, String> {
        let Some(variable) = get(&self.program.variables, place) else {
            return Err("its place is a variable that does not exist".to_string());
        };
        let Type::Bits(width) = variable.kind else { return Err("its place is a boolean".to_string()) };
        let needed = u64::BITS - join.limit.leading_zeros();
        if width > Join::MOST_PLACE_BITS || width < needed {
            let most = Join::MOST_PLACE_BITS;
            return Err(format!(
                "its place has {width} bits; {} places need {needed}, and {most} are possible",
                join.limit
            ));
        }
        Ok(width)
    }

    /// Whether each action of the first table begins with its place, which is its last parameter, or none.
    fn placed_actions(&self, join: &Join, place: VariableId, width: u32) -> Result<(), String> {
        let first = &self.program.tables[join.first];
        for (number, action) in (0..).zip(&first.actions) {
            let is_placed = join.firsts.iter().any(|first| first.action == number);
            let parameter = is_placed.then(|| action.parameters.len().wrapping_sub(1) as u32);
            let has_width = parameter.is_none() || action.parameters.last().is_some_and(|last| last.width == width);
            if !has_width || action.body.first() != Some(&set_place(place, width, parameter)) {
                return Err(format!("action `{}` of `{}` does not begin with its place", action.name, first.name));
            }
            let mut is_used = false;
            let mut body = action.body[1..].to_vec();
            visit::statements(&mut body, &mut |expression| {
                let mut is_read =
                    |inner: &Expression| is_used |= parameter.map(Expression::Parameter).as_ref() == Some(inner);
                expression.walk(&mut is_read);
            });
            if is_used {
                return Err(format!("action `{}` of `{}` uses its place otherwise", action.name, first.name));
            }
        }
        Ok(())
    }

    /// Whether the place is written by the first table's actions alone, and read by the table of the join.
    fn only_use(&self, join: &Join, place: VariableId) -> Result<(), String> {
        let program = self.program;
        let mut written = Accesses::default();
        written.add(&Accesses::of_statements(program, &[set_place(place, 1, None)]));
        let uses =
            |accesses: &Accesses| accesses.written(Place::Variable(place)) || written.writes_what_is_read_by(accesses);
        let of_table = |(id, table): (TableId, &Table)| {
            let mut table = table.clone();
            if id == join.first {
                table.actions.iter_mut().for_each(|action| drop(action.body.remove(0)));
            }
            if id == join.table {
                table.keys.clear();
            }
            let bodies = table.actions.iter().map(|action| Accesses::of_statements(program, &action.body));
            let keys = table.keys.iter().map(|key| Accesses::of_expression(&key.value));
            let selector = table.selector.iter().map(Accesses::of_expression);
            bodies.chain(keys).chain(selector).any(|accesses| uses(&accesses))
        };
        let meters = program.meters.values().any(|meter| meter.automatic == Some(Place::Variable(place)));
        let of_body = |body: &[Statement]| uses(&Accesses::of_statements(program, body));
        let of_node = |kind: &NodeKind| match kind {
            NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => of_body(body),
            NodeKind::State { body, select, .. } => {
                of_body(body) || select.keys.iter().any(|key| uses(&Accesses::of_expression(key)))
            }
            NodeKind::Branch { condition, .. } => uses(&Accesses::of_expression(condition)),
            NodeKind::Buffer { rules, .. } => {
                let sets =
                    |effect: &Effect| effect.assignments().iter().any(|(target, _)| *target == Place::Variable(place));
                let reads = |rule: &Rule| {
                    let mut all = rule.effect.expressions().into_iter().chain([&rule.condition]);
                    all.any(|value| uses(&Accesses::of_expression(value)))
                };
                rules.iter().any(|rule| reads(rule) || sets(&rule.effect))
            }
            NodeKind::Apply { .. } => false,
        };
        if meters || program.tables.iter().any(of_table) || program.nodes.values().any(|node| of_node(&node.kind)) {
            let name = &program.variables[place].name;
            return Err(format!("`{name}` is used otherwise than as the place of a value join"));
        }
        Ok(())
    }
}
