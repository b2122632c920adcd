//! Entries and packets for a generated program, as lines of STF.

use super::Generator;
use super::controls::{Filled, Key};
use super::random::{Random, hex};
use crate::architecture::Architecture;

/// The port that leads back to ingress in PSA.
const RECIRCULATE: usize = 0xffff_fffa;

/// Sessions to which packets are cloned, and a group of replicas: for one half of the programs of v1model, and most others. Each has its ports, above 7.
pub fn sessions(architecture: Architecture, seed: u64) -> Vec<String> {
    // Numbers of its own, so that the rest of a program does not depend on them.
    let mut random = Random::new(!seed);
    let none = if architecture == Architecture::V1model { 50 } else { 20 };
    if random.chance(none) {
        return Vec::new();
    }
    let mut lines: Vec<String> = Vec::new();
    if architecture == Architecture::Pna {
        // Some ports belong to a host.
        lines.extend((0..8).filter(|_| random.chance(40)).map(|port| format!("register_write direction {port} 1")));
    }
    if architecture == Architecture::Psa && random.chance(30) {
        // One that goes to the group.
        lines.push(format!("mirroring_add_mc {} 1", random.between(1, 7)));
    }
    for session in 1..8 {
        if random.chance(70) {
            let port = match architecture {
                Architecture::Psa if random.chance(10) => RECIRCULATE,
                Architecture::V1model | Architecture::Psa | Architecture::Pna => 7 + session,
            };
            lines.push(format!("mirroring_add {session} {port}"));
        }
    }
    if random.chance(70) {
        lines.push("mc_mgrp_create 1".into());
        for node in 0..random.between(1, 2) {
            let (replica, port) = (random.between(0, 9), 15 + 2 * node);
            lines.push(format!("mc_node_create {replica} {port} {}", port + 1));
            lines.push(format!("mc_node_associate 1 {node}"));
        }
    }
    lines
}

impl Generator {
    pub fn lines(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for (set, widths) in self.value_sets.clone() {
            let mut members = Vec::new();
            for _ in 0..self.random.between(1, 3) {
                let parts: Vec<String> = widths.iter().map(|width| hex(&self.random.bits(*width))).collect();
                members.push(parts.join(","));
            }
            let members = members.join(" ");
            lines.push(format!("value_set {set} {members}"));
        }
        let contents = std::mem::take(&mut self.contents);
        let mut waiting = vec![("I".to_string(), "I".to_string()), ("E".to_string(), "E".to_string())];
        while let Some((path, control)) = waiting.pop() {
            for content in contents.iter().filter(|content| content.control == control) {
                content.tables.iter().for_each(|table| self.entries(&path, table, &mut lines));
                waiting.extend(content.children.iter().map(|(child, of)| (format!("{path}.{child}"), of.clone())));
            }
        }
        lines.append(&mut self.form_lines);
        self.packets(&mut lines);
        lines
    }

    fn entries(&mut self, path: &str, table: &Filled, lines: &mut Vec<String>) {
        if table.keys.is_empty() {
            return;
        }
        let by_priority = table.keys.iter().any(|key| !matches!(key.kind, "exact" | "lpm"));
        let mut known: Vec<String> = Vec::new();
        for at in 0..self.random.below(6) {
            let keys: Vec<String> = table.keys.iter().filter_map(|key| self.added_set(key)).collect();
            let keys = keys.join(" ");
            if known.contains(&keys) {
                continue;
            }
            let (action, data) = self.random.pick(&table.actions).clone();
            let values = data.iter().map(|parameter| {
                format!("{}:{}", parameter.name, hex(&self.random.bits(self.types.width(&parameter.ty))))
            });
            let values = values.collect::<Vec<_>>().join(", ");
            let priority = if by_priority { format!(" {}", 10 * at + 1 + self.random.below(9)) } else { String::new() };
            lines.push(format!("add {path}.{}{priority} {keys} {action}({values})", table.name));
            known.push(keys);
        }
    }

    /// A key of an entry; an optional one may be left out.
    fn added_set(&mut self, key: &Key) -> Option<String> {
        let width = self.types.width(&key.ty);
        let value = self.random.bits(width);
        let masked = |mask: &[bool]| value.iter().zip(mask).map(|(bit, mask)| *bit && *mask).collect::<Vec<bool>>();
        let text = match key.kind {
            "ternary" => {
                let mask = self.sparse(width);
                format!("{}&&&{}", hex(&masked(&mask)), hex(&mask))
            }
            "lpm" => {
                let length = self.random.below(width.min(4) + 1);
                let mask: Vec<bool> = (0..width).map(|at| at < length).collect();
                format!("{}/{length}", hex(&masked(&mask)))
            }
            "range" => {
                let (low, high) = self.ends(width);
                format!("{}..{}", hex(&low), hex(&high))
            }
            "optional" if self.random.chance(30) => return None,
            _ => hex(&value),
        };
        Some(format!("{}:{text}", key.name))
    }

    fn packets(&mut self, lines: &mut Vec<String>) {
        let base: usize = self.types.width(&self.types.named("base_t")) / 8;
        for _ in 0..self.random.between(4, 8) {
            let length = base + if self.random.chance(30) { self.random.below(8) } else { self.random.below(70) };
            let mut bits = Vec::new();
            for at in 0..length {
                let byte = if at < 2 && self.random.chance(60) {
                    u64::from(self.random.below(8) as u8)
                } else {
                    self.random.next()
                };
                bits.extend((0..8).rev().map(|bit| byte >> bit & 1 == 1));
            }
            let ones = self.random.chance(20);
            if ones {
                bits[16..].iter_mut().for_each(|bit| *bit = true);
            }
            lines.push(format!("packet {} {}", self.random.below(8), &hex(&bits)[2..]));
        }
    }
}
