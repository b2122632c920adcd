//! docs/packet_accesses.md: its example with each mode of accesses, and what stays apart.

use crate::page::block_of;
use crate::router::with_schedule;
use hlir::ResolvedPlan;
use hlir::plan::AccessMode;
use schedule::Planned;
use schedule::text::{Places, parse, print};
use schedule::verify::verify;

const PAGE: &str = "packet_accesses.md";
const MODES: [(&str, AccessMode); 3] =
    [("base", AccessMode::Base), ("pac", AccessMode::Combined), ("cgpc", AccessMode::Cached)];

#[test]
fn the_example_has_the_accesses_that_the_page_shows() {
    let text = format!("{}\n{}", block_of(PAGE, "hlir"), block_of(PAGE, "plan"));
    let parsed = hlir::text::parse_file(&text).expect("the program can be read");
    assert!(parsed.verify().is_empty(), "{:?}", parsed.verify());
    let mut plan = parsed.plan.expect("the text has a plan");
    for (name, mode) in MODES {
        plan.accesses = Some(mode);
        let planned = Planned::of(&parsed.program, &ResolvedPlan::of(&parsed.program, &plan));
        let planned = planned.expect("the plan has a path").expect("the path has a schedule");
        let printed = print(&parsed.program, &planned.schedule);
        assert_eq!(printed, block_of(PAGE, &format!("schedule {name}")), "{name}: the schedule is now\n{printed}");
        let broken = verify(&parsed.program, &planned.schedule, &Places::default());
        assert!(broken.is_empty(), "{name}: {broken:?}");
        let read = parse(&parsed.program, &printed).expect("the text can be read");
        assert_eq!(print(&parsed.program, &read.schedule), printed);
        let all = planned.accesses().into_iter().map(|(_, accesses)| accesses).reduce(|all, one| all + one);
        let all = all.expect("the path has parts");
        let counted =
            format!("{} reads of {} bytes, {} stores of {}", all.reads, all.bytes_read, all.stores, all.bytes_stored);
        let expected = match mode {
            // In the stage: ttl, version, label. In the commit phase: ttl, diffserv, and the bits beside the label.
            AccessMode::Base => "6 reads of 10 bytes, 4 stores of 6",
            AccessMode::Combined => "2 reads of 16 bytes, 2 stores of 7",
            // A packet has 24 bytes, which no instruction has at once.
            AccessMode::Cached => "4 reads of 48 bytes, 1 stores of 16",
        };
        assert_eq!(counted, expected, "{name}");
    }
}

/// The schedule of packets that store `h`'s fields by these statements.
fn combined(mode: AccessMode, fields: &str, statements: &str, emitted: &str) -> String {
    let program = format!(
        "program stores for none

header g: g_t {{ tag: 16, kind: 16 }}
header h: h_t {{ {fields} }}
variable port: 9
variable error: 32
table t {{
  key h.a: exact
  action run(to: 9, mac: 48, byte: 8) {{
    port = to
    {statements}
  }}
  action none() {{ port = 511 }}
  default none()
}}
parser p {{ start start, accept all, reject all, error error }}
entry start
node start: state of p {{ extract h }} -> all
node all: apply t -> queue
node queue: buffer {{
  when port == 511: drop \"refused\"
  otherwise -> deparser
}}
node deparser: deparse {{ {emitted} }} -> gone
node gone: buffer {{ send u32(port) }}
"
    );
    with_schedule(&program, "start, all", |program, schedule| {
        let mut schedule = schedule.expect("the path has a schedule");
        schedule.combine_accesses(mode, 0, &[]);
        let broken = verify(program, &schedule, &Places::default());
        assert!(broken.is_empty(), "{broken:?}");
        print(program, &schedule)
    })
}

/// The places of these stores.
fn stored(mode: AccessMode, fields: &str, statements: &str, emitted: &str) -> Vec<String> {
    let text = combined(mode, fields, statements, emitted);
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with("store "));
    lines.map(|line| line.split(" =").next().unwrap_or(line).to_string()).collect()
}

const FIELDS: &str = "a: 16, b: 8, c: 8, mac: 48, d: 8, e: 8";

#[test]
fn nothing_is_stored_over_a_store_with_another_condition() {
    let text = format!("{}\n{}", block_of(PAGE, "hlir"), block_of(PAGE, "plan"));
    let program = hlir::text::parse_file(&text).expect("the program can be read").program;
    let ttl = "store hdr.label.ttl at packet[3..4] = %hdr.label.ttl.2 at deparser";
    let under = block_of(PAGE, "schedule base").replace(ttl, &format!("{ttl} when %0"));
    let mut schedule = parse(&program, &under).expect("the text can be read").schedule;
    schedule.combine_accesses(AccessMode::Combined, 0, &[]);
    let text = print(&program, &schedule);
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with("store "));
    let stores: Vec<&str> = lines.map(|line| line.split(" =").next().unwrap_or(line)).collect();
    // One store of the label and of what is behind would write the byte between them, too.
    let each = [
        "store hdr.label.label at packet.bits[0..20]",
        "store hdr.label.ttl at packet[3..4]",
        "store hdr.ipv4.diffserv at packet[5..13]",
    ];
    assert_eq!(stores, [each, each].concat());
}

#[test]
fn parameters_that_are_copied_are_combined_in_windows_alone() {
    let statements = "h.c = 8w1\n h.mac = mac\n h.d = byte";
    let combined = stored(AccessMode::Combined, FIELDS, statements, "emit h");
    assert_eq!(combined, ["store h.c at packet[3..4]", "store h.mac at packet[4..10]", "store h.d at packet[10..11]"]);
    let cached = stored(AccessMode::Cached, FIELDS, statements, "emit h");
    assert_eq!(cached, ["store h.c at packet[3..11]"]);
}

/// Behind a header that is new, gaps are bits that lay four bytes before.
#[test]
fn a_new_header_and_what_is_behind_it_are_one_store() {
    let statements = "validate g\n g.tag = 16w1\n h.b = 8w7";
    assert_eq!(stored(AccessMode::Cached, FIELDS, statements, "emit g\n emit h"), ["store g.tag at packet[0..8]"]);
    let text = combined(AccessMode::Cached, FIELDS, statements, "emit g\n emit h");
    // `a` and `c`, which arrived in the bytes 0, 1 and 3 of twelve.
    assert!(["= packet[0..12]", "[95:80]", "[71:64]"].iter().all(|read| text.contains(read)), "{text}");
}
