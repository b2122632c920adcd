//! Prints the recipes of joint tables.

use super::Printer;
use super::lines::Lines;
use crate::join::{Join, SecondKey};

impl Printer<'_> {
    pub(super) fn join(&self, lines: &mut Lines, join: &Join) {
        let [table, first, second] = [join.table, join.first, join.second].map(|table| self.table_name(table));
        lines.block(&format!("join {table} of {first}, {second} limit {}", join.limit), "", |lines| {
            for key in &join.keys {
                match key {
                    SecondKey::Joint(index) => lines.add(format!("key {index}")),
                    SecondKey::Determined => lines.add("key determined"),
                }
            }
            let parameters = |action: u32| {
                let table = crate::text::get(&self.program.tables, join.first)?;
                table.actions.get(action as usize).map(|action| action.parameters.as_slice())
            };
            for action in &join.firsts {
                let parameters = parameters(action.action).unwrap_or_default();
                let values = action.determined.iter().map(|value| self.expression(value, parameters));
                let values: Vec<String> = values.collect();
                let of = if values.is_empty() { String::new() } else { format!(" determines {}", values.join(", ")) };
                lines.add(format!("first {}{of}", self.action_name(join.first, action.action)));
            }
            for (word, actions) in [("second", &join.seconds), ("missed", &join.missed)] {
                actions.iter().for_each(|action| {
                    lines.add(format!("{word} {}", self.action_name(join.second, *action)));
                });
            }
            join.place.iter().for_each(|place| lines.add(format!("place {}", self.variable(*place, &[]))));
            let objects = &join.objects;
            objects.misses.iter().for_each(|counter| lines.add(format!("misses {}", self.counter_name(*counter))));
            for (word, timer) in ["first", "second"].into_iter().zip(objects.timers) {
                timer.iter().for_each(|timer| lines.add(format!("timer {word} {}", self.register_name(*timer))));
            }
        });
    }
}
