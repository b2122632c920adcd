//! Subscriptions to digests: how many records a list has, how long the switch gathers them, and how long it waits until the list is acknowledged.

use super::Session;
use super::input::{Input, option, seconds, unknown_option};
use super::write::{entity, kind, update};
use crate::failure::Failure;
use crate::names::{self, Named as _, Names};
use control::message::runtime::{DigestEntry, digest_entry::Config, entity::Entity};
use stf::command::Word;
use stf::{Line, Mistake};

impl Session {
    /// `add`, `modify` and `delete`.
    pub(super) fn write_subscription(&mut self, names: &Names, verb: &Word, input: &Input) -> Result<(), Failure> {
        let mut line = input.line()?;
        let digest = names::find(&line.name("a digest")?, "digest", &names.info.digests)?;
        let is_deleted = verb.text == "delete";
        let config = if is_deleted { None } else { Some(read_config(&mut line)?) };
        line.finish()?;
        let written = DigestEntry { digest_id: digest.id(), config };
        let label = format!("digest {}", digest.name());
        self.write_one(label, update(kind(&verb.text), Entity::DigestEntry(written)))
    }

    /// All that there are.
    pub(super) fn subscriptions(&mut self) -> Result<Vec<DigestEntry>, Failure> {
        let found = self.client.read(vec![entity(Entity::DigestEntry(DigestEntry::default()))])?;
        let of = |found| if let Some(Entity::DigestEntry(entry)) = found { Some(entry) } else { None };
        Ok(found.into_iter().filter_map(|found| of(found.entity)).collect())
    }

    pub(super) fn dump_subscriptions(&mut self, names: &Names, lines: &mut Vec<String>) -> Result<(), Failure> {
        // Without digests there is nothing to ask other switches.
        if names.info.digests.is_empty() {
            return Ok(());
        }
        for DigestEntry { digest_id, config } in self.subscriptions()? {
            let name = names::name_of(digest_id, &names.info.digests);
            lines.push(format!("digests add {name}{}", show_config(&config.unwrap_or_default())));
        }
        Ok(())
    }
}

/// What is left out is 0: a list for each record, at once, and none that is not acknowledged is sent again.
fn read_config(line: &mut Line) -> Result<Config, Mistake> {
    const EXPECTED: &str = "`list RECORDS`, `timeout SECONDS` or `ack SECONDS`";
    let mut config = Config::default();
    while line.goes_on() {
        let name = line.name(EXPECTED)?;
        match name.text.as_str() {
            "list" => config.max_list_size = option(line, &name)?,
            "timeout" => config.max_timeout_ns = nanoseconds(seconds(line, &name)?),
            "ack" => config.ack_timeout_ns = nanoseconds(seconds(line, &name)?),
            _ => return Err(unknown_option(&name, EXPECTED)),
        }
    }
    Ok(config)
}

fn show_config(config: &Config) -> String {
    let list = if config.max_list_size == 0 { String::new() } else { format!(" list {}", config.max_list_size) };
    list + &show_seconds("timeout", config.max_timeout_ns) + &show_seconds("ack", config.ack_timeout_ns)
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

/// An option with its time, to the nanosecond; nothing if it is 0.
pub(super) fn show_seconds(option: &str, nanoseconds: i64) -> String {
    if nanoseconds == 0 {
        return String::new();
    }
    let text = format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    format!(" {option} {}", text.trim_end_matches('0').trim_end_matches('.'))
}
