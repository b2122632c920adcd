//! Prints what a program declares before its tables: storage, stateful objects, parsers.

use super::lines::{Lines, in_braces};
use super::{Printer, number_text};
use crate::text::words::{ALGORITHMS, COUNTER_UNITS, MATCH_KINDS, METER_UNITS, word_of, written};
use crate::{Counter, Extern, Header, Meter, Parser, Profile, Type, ValueSet};
use num_bigint::BigUint;

/// A header with more characters than this has a line for each field.
const LONG_HEADER: usize = 120;

impl Printer<'_> {
    pub(super) fn objects(&self, lines: &mut Lines) {
        let program = self.program;
        lines.gap();
        program.headers.values().for_each(|header| self.print_header(lines, header));
        lines.gap();
        for variable in program.variables.values() {
            lines.notes(&variable.notes);
            let kind = match variable.kind {
                Type::Bool => "bool".to_string(),
                Type::Bits(width) => width.to_string(),
            };
            lines.add(format!("variable {}: {kind}{}", written(&variable.name), self.origin(&variable.notes)));
        }
        lines.gap();
        for crc in program.crcs.values() {
            lines.notes(&crc.notes);
            lines.add(format!("crc {}: {}{}", written(&crc.name), crc.width, self.origin(&crc.notes)));
        }
        for digest in program.digests.values() {
            lines.notes(&digest.notes);
            let fields = digest.fields.iter().map(|(name, width)| format!("{}: {width}", written(name)));
            let name = written(&digest.name);
            lines.add(format!(
                "digest {name} {}{}",
                in_braces(&fields.collect::<Vec<_>>()),
                self.origin(&digest.notes)
            ));
        }
        for register in program.registers.values() {
            lines.notes(&register.notes);
            let initial = match &register.initial {
                zero if *zero == BigUint::ZERO => String::new(),
                value => format!(" = {}", number_text(value, Some(register.width))),
            };
            let (name, from) = (written(&register.name), self.origin(&register.notes));
            lines.add(format!("register {name}: {} [{}]{initial}{from}", register.width, register.size));
        }
        program.counters.values().for_each(|counter| self.counter(lines, counter));
        program.meters.values().for_each(|meter| self.meter(lines, meter));
        program.value_sets.values().for_each(|set| self.value_set(lines, set));
        program.profiles.values().for_each(|profile| self.profile(lines, profile));
        program.externs.values().for_each(|custom| self.custom_extern(lines, custom));
    }

    fn counter(&self, lines: &mut Lines, counter: &Counter) {
        lines.notes(&counter.notes);
        let unit = word_of(COUNTER_UNITS, &counter.unit).unwrap_or_default();
        let indices = self.indices(counter.size, counter.table);
        let automatic = if counter.automatic { " automatic" } else { "" };
        lines.add(format!(
            "counter {}: {unit}{indices}{automatic}{}",
            written(&counter.name),
            self.origin(&counter.notes)
        ));
    }

    fn meter(&self, lines: &mut Lines, meter: &Meter) {
        lines.notes(&meter.notes);
        let unit = word_of(METER_UNITS, &meter.unit).unwrap_or_default();
        let indices = self.indices(meter.size, meter.table);
        let automatic = meter.automatic.map_or(String::new(), |place| format!(" into {}", self.place(place, &[])));
        lines.add(format!("meter {}: {unit}{indices}{automatic}{}", written(&meter.name), self.origin(&meter.notes)));
    }

    fn indices(&self, size: u64, table: Option<crate::TableId>) -> String {
        let of = table.map_or(String::new(), |table| format!(" of {}", self.table_name(table)));
        if size == 0 && table.is_some() { of } else { format!(" [{size}]{of}") }
    }

    fn custom_extern(&self, lines: &mut Lines, custom: &Extern) {
        lines.notes(&custom.notes);
        let object = custom.object.as_ref().map_or(String::new(), |object| {
            let value = |(value, width): &(BigUint, u32)| format!("{width}w{}", number_text(value, Some(*width)));
            let arguments: Vec<String> = object.arguments.iter().map(value).collect();
            format!(": {}({})", written(&object.of_type), arguments.join(", "))
        });
        lines.add(format!("extern {}{object}{}", written(&custom.name), self.origin(&custom.notes)));
    }

    pub(super) fn parser(&self, lines: &mut Lines, parser: &Parser) {
        let [start, accept, reject] = [parser.start, parser.accept, parser.reject].map(|node| self.node_name(node));
        let error = self.variable(parser.error, &[]);
        let name = written(&parser.name);
        lines.add(format!("parser {name} {{ start {start}, accept {accept}, reject {reject}, error {error} }}"));
    }

    fn print_header(&self, lines: &mut Lines, header: &Header) {
        lines.notes(&header.notes);
        let field = |field: &crate::Field| {
            let varbit = if field.varbit { "varbit " } else { "" };
            format!("{}: {varbit}{}", written(&field.name), field.width)
        };
        let fields: Vec<String> = header.fields.iter().map(field).collect();
        let head = format!("header {}: {}", written(&header.name), written(&header.type_name));
        let from = self.origin(&header.notes);
        let line = format!("{head} {}{from}", in_braces(&fields));
        if line.len() <= LONG_HEADER {
            return lines.add(line);
        }
        lines.block(&head, from.trim_start(), |lines| fields.iter().for_each(|field| lines.add(format!("{field},"))));
    }

    fn value_set(&self, lines: &mut Lines, set: &ValueSet) {
        lines.notes(&set.notes);
        let field = |(name, width, kind): &(String, u32, crate::MatchKind)| {
            format!("{}: {width} {}", written(name), word_of(MATCH_KINDS, kind).unwrap_or_default())
        };
        let fields = in_braces(&set.fields.iter().map(field).collect::<Vec<_>>());
        lines.add(format!("value_set {} [{}] {fields}{}", written(&set.name), set.size, self.origin(&set.notes)));
    }

    fn profile(&self, lines: &mut Lines, profile: &Profile) {
        lines.notes(&profile.notes);
        let selector = profile.selector.as_ref().map_or(String::new(), |selector| {
            let algorithm = word_of(ALGORITHMS, &selector.algorithm).unwrap_or_default();
            format!(" selector {algorithm} width {} largest_group {}", selector.width, selector.largest_group)
        });
        lines.add(format!(
            "profile {} [{}]{selector}{}",
            written(&profile.name),
            profile.size,
            self.origin(&profile.notes)
        ));
    }
}
