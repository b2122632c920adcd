//! From the steps of a file to the compact form, which has entries with actions and nothing else.

use control::{Record, Update};
use hlir::entry::EntryAction;
use hlir::{Entry, Match, Program, TableId};
use stf::Mistake;
use stf::bind::{Act, Bound, Control};

/// What is there in the end of the entries that the steps write.
pub fn keep(program: &Program, bound: &Bound, kept: &mut Vec<(TableId, Entry)>) -> Result<(), Vec<Mistake>> {
    let mut mistakes = Vec::new();
    for step in &bound.steps {
        let Act::Control(control) = &step.act else { continue };
        if let Err(what) = keep_one(program, control, kept) {
            let way_out = "for which the compact form has no place: keep it in a file of its own";
            mistakes.push(Mistake::new(step.place, format!("this {what}, {way_out}")));
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// What one step makes of the entries; or what it does instead.
fn keep_one(program: &Program, control: &Control, kept: &mut Vec<(TableId, Entry)>) -> Result<(), String> {
    let at = |table: TableId, matches: &[Match], priority: u32| {
        let is_same =
            |(of, entry): &(TableId, Entry)| *of == table && entry.matches == matches && entry.priority == priority;
        kept.iter().rposition(is_same)
    };
    if let Control::Insert(table, entry) | Control::Modify(table, entry) = control {
        if !matches!(entry.action, EntryAction::Call(_)) {
            return Err("refers to an action profile".to_string());
        }
        match (control, at(*table, &entry.matches, entry.priority)) {
            (Control::Modify(..), Some(at)) => kept[at].1 = entry.clone(),
            (Control::Modify(..), None) => return Err("changes an entry of the program".to_string()),
            (_, _) => kept.push((*table, entry.clone())),
        }
        return Ok(());
    }
    if let Control::Delete(key) = control {
        let at = at(key.table, &key.matches, key.priority).ok_or("deletes an entry of the program")?;
        kept.remove(at);
        return Ok(());
    }
    if let Control::SetDefault(table, _) = control {
        return Err(format!("sets the default action of `{}`", program.tables[*table].name));
    }
    if let Control::Attach(attached) = control
        && is_nothing(attached)
    {
        return Ok(());
    }
    // Entries with a timeout have no place, so none here has one to lose.
    if matches!(control, Control::Nothing | Control::IdleTimeout(_, 0)) {
        Ok(())
    } else {
        Err("is no entry".to_string())
    }
}

/// Whether this is what an entry or a default action has to which nothing is attached. Each MODIFY of P4Runtime writes it.
fn is_nothing(attached: &Update) -> bool {
    if let Update::Record(Record::Metadata { metadata, .. } | Record::DefaultMetadata { metadata, .. }) = attached {
        metadata.is_empty()
    } else {
        matches!(attached, Update::SetMeter { rates: None, .. })
    }
}
