//! How often the hot path accesses a packet's bytes: a line for each stage, and one for the commit phase.

use super::explanation::{Decision, Group};
use hlir::{Plan, Program, ResolvedPlan};
use schedule::Planned;
use schedule::access::Accesses;
use schedule::text::Part;

/// None without a hot path that has a schedule.
pub fn decisions(program: &Program, plan: &Plan) -> Vec<Decision> {
    let Some(Ok(planned)) = Planned::of(program, &ResolvedPlan::of(program, plan)) else { return Vec::new() };
    let mode = hlir::text::written_accesses(plan.accesses.unwrap_or_default());
    let line = |(part, accesses): (Part, Accesses)| Decision {
        what: match part {
            Part::Stage(number) => format!("bytes of packets, stage {number}"),
            Part::Commit | Part::Expected => "bytes of packets, commit".to_string(),
        },
        chosen: format!("{mode}: {}", counted(accesses)),
        reason: None,
        group: Group::Stage,
    };
    planned.accesses().into_iter().map(line).collect()
}

fn counted(Accesses { reads, stores, bytes_read, bytes_stored }: Accesses) -> String {
    let number = |count: u32, one: &str, bytes: u32| match count {
        0 => format!("no {one}"),
        1 => format!("1 {one} of {bytes} bytes"),
        _ => format!("{count} {one}s of {bytes} bytes"),
    };
    format!("{}, {}", number(reads, "read", bytes_read), number(stores, "store", bytes_stored))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_counted_in_words() {
        let accesses = Accesses { reads: 2, stores: 1, bytes_read: 32, bytes_stored: 4 };
        assert_eq!(counted(accesses), "2 reads of 32 bytes, 1 store of 4 bytes");
        assert_eq!(counted(Accesses { stores: 0, bytes_stored: 0, ..accesses }), "2 reads of 32 bytes, no store");
    }
}
