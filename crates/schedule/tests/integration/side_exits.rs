//! The outcome of side exits from the first stage.

use crate::router::{FRONT, ROUTER, routed, seal, steps, with_schedule};
use schedule::{BulkDrop, Lanes, LanesExits};

/// The exits of a first stage, if some are bulk drops; what becomes of misses; and its vector code.
type SideExits = (Option<LanesExits>, Option<BulkDrop>, Lanes);

fn side_exits_of(program: &str, path: &str) -> SideExits {
    with_schedule(program, path, |_, schedule| {
        let schedule = schedule.expect("the path has a schedule");
        let lanes = schedule.lanes(&[]).expect("the front is in lanes");
        let missed = schedule.commit.as_ref().ok().and_then(|commit| commit.missed.clone());
        (schedule.lanes_exits(&lanes), missed, lanes)
    })
}

/// The counter indices of an exit, and the reason of its drop; none if it must run.
fn bulk_drop_of((exits, _, lanes): &SideExits, packet: &[u8]) -> Option<(Vec<u64>, String)> {
    let exits = exits.as_ref()?;
    let side_by_side = steps(&lanes.steps, &lanes.rows, packet);
    assert_ne!(side_by_side[lanes.exits as usize], 0);
    let values = steps(&exits.steps, &exits.rows, packet);
    let (_, end) = exits.kinds.iter().find(|(mask, _)| values[*mask as usize] != 0).expect("the packet leaves");
    let drops = if end.is_some() { u32::MAX } else { 0 };
    assert_eq!(side_by_side[lanes.drops as usize], drops, "the first stage has the same");
    let end = end.as_ref()?;
    Some((end.counted.iter().map(|index| index.index).collect(), end.reason.clone()))
}

/// What becomes of a packet that begins with 2; none if no exit is a bulk drop.
fn of_packet_of_two(exits: &SideExits) -> Option<Option<(Vec<u64>, String)>> {
    let packet = [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    exits.0.as_ref().map(|_| bulk_drop_of(exits, &packet))
}

/// If several checks fail, the first match counts.
#[test]
fn exits_of_a_router_are_bulk_drops() {
    let exits = side_exits_of(ROUTER, FRONT);
    let dropped = |change: fn(&mut [u8]), sealed: bool| {
        let mut packet = routed();
        change(&mut packet);
        if sealed {
            seal(&mut packet);
        }
        bulk_drop_of(&exits, &packet).map(|(indices, reason)| (indices, reason == "ingress drop"))
    };
    let counted = |index: u64| Some((vec![index], true));
    assert_eq!(dropped(|packet| packet[13] = 6, true), counted(1), "no IPv4");
    assert_eq!(dropped(|packet| packet[14] = 0x46, true), counted(2), "options");
    assert_eq!(dropped(|packet| packet[25] ^= 1, false), counted(3), "another checksum");
    assert_eq!(dropped(|packet| packet[22] = 1, true), counted(4), "the last hop");
    assert_eq!(dropped(|packet| packet[22] = 1, false), counted(3), "another checksum, and the last hop");
    let missed = exits.1.expect("its default action drops");
    assert_eq!((missed.counted[0].index, missed.counted.len(), missed.reason.as_str()), (5, 1, "ingress drop"));
}

/// The outcome of misses in the router, if its table has another object before it.
fn missed_with(object: &str) -> Option<BulkDrop> {
    let text = ROUTER.replacen("table Router.routes ", &format!("{object}\n\ntable Router.routes "), 1);
    assert_ne!(text, ROUTER);
    side_exits_of(&text, FRONT).1
}

/// An automatic direct counter counts all misses at the index of the default action. One that actions count by themselves has nothing to do with misses here.
#[test]
fn misses_count_in_bulk_at_the_default_action() {
    let indices = |missed: BulkDrop| missed.counted.iter().map(|counted| counted.index).collect::<Vec<_>>();
    let missed = |object: &str| missed_with(object).map(indices);
    assert_eq!(missed("counter lookups: packets of Router.routes automatic"), Some(vec![5, 0]));
    assert_eq!(missed("counter lookups: packets of Router.routes"), Some(vec![5]));
}

/// A direct meter takes tokens for each miss.
#[test]
fn misses_of_a_table_with_a_direct_meter_commit_one_by_one() {
    assert_eq!(missed_with("meter rates: packets of Router.routes"), None);
}

/// A switch that drops packets with `v` = 7, without its tables and the nodes before them.
const BEGIN: &str = "program checks for none
header h: h_t { a: 8, b: 24, c: 32 }
variable v: 20
variable error: 32
counter seen: packets [4]
parser p { start start, accept before, reject before, error error }
entry start
node start: state of p { extract h } -> before
node queue: buffer {
  when v == 7: drop \"bad\"
  otherwise -> out
}
node out: deparse { emit h } -> leave
node leave: buffer { send u32(v) }";

/// The outcome of misses.
#[test]
fn a_default_action_may_drop() {
    let missed = |default: &str, next: &str| {
        let program = format!(
            "{BEGIN}
table t {{
  key h.b: exact
  action none() {{ v = 7 }}
  action seen(index: 32) {{ count seen at index  v = 7 }}
  action sent() {{ v = 3 }}
  default {default}
}}
node before: block {{ count seen at 32w2 }} -> t
node t: apply t -> {next}"
        );
        side_exits_of(&program, "start, before, t")
            .1
            .map(|end| (end.counted.iter().map(|index| index.index).collect(), end.reason))
    };
    let dropped = Some((vec![2], "bad".to_string()));
    assert_eq!(missed("none()", "queue"), dropped);
    assert_eq!(missed("none()", "hit out, miss queue"), dropped);
    assert_eq!(missed("none()", "{ none -> queue, sent -> out, otherwise -> out }"), dropped);
    assert_eq!(missed("none()", "hit queue, miss out"), None, "it is sent");
    assert_eq!(missed("sent()", "queue"), None, "it is sent");
    assert_eq!(missed("seen(1)", "queue"), None, "a controller may give it another index");
}

/// Programs whose exits are more than a count and a drop.
#[test]
fn exits_that_must_run() {
    let front = |check: &str, before: &str| {
        let program = format!(
            "{BEGIN}
register last: 32 [2]
table t {{ key h.b: exact  action none() {{}}  default none() }}
table u {{ key h.a: exact  action none() {{}}  default none() }}
{before}
node check: branch h.a == 1 -> t else bad
{check}
node t: apply t -> queue"
        );
        of_packet_of_two(&side_exits_of(&program, "start, before, check, t"))
    };
    let plain = "node before: block {} -> check";
    let bad = |body: &str| format!("node bad: block {{ {body} }} -> queue");
    let dropped = |indices: &[u64]| Some(Some((indices.to_vec(), "bad".to_string())));
    assert_eq!(front(&bad("v = 7"), plain), dropped(&[]));
    assert_eq!(front(&bad("count seen at 32w3  v = 7"), plain), dropped(&[3]));
    assert_eq!(front(&bad("count seen at 32w4  v = 7"), plain), dropped(&[]), "the counter has no such index");
    assert_eq!(front(&bad("v = 7"), "node before: block { count seen at 32w2 } -> check"), dropped(&[2]));
    assert_eq!(front(&bad("v = 20w3  if v == 3 { v = 7 } else {}"), plain), dropped(&[]));
    assert_eq!(front(&bad("v = 6"), plain), None, "it is sent");
    assert_eq!(front(&bad("v = h.c[19:0]"), plain), None, "some may be sent");
    assert_eq!(front(&bad("count seen at h.c  v = 7"), plain), None, "the index is each packet's own");
    assert_eq!(front(&bad("write last at 32w1 = 32w7  v = 7"), plain), None, "state is written");
    let written = "node before: block { write last at 32w1 = 32w7 } -> check";
    assert_eq!(front(&bad("v = 7"), written), None, "state was written");
    assert_eq!(front(&bad("v = 7"), "node before: apply u -> check"), None, "a table was looked up");
    assert_eq!(front("node bad: apply u -> queue", plain), None, "a table is looked up");
}

/// A block that a check leaves early, by `exit`.
#[test]
fn exits_of_blocks() {
    let front = |check: &str| {
        let program = format!(
            "{BEGIN}
table t {{ key h.b: exact  action none() {{}}  default none() }}
node before: block {{ if h.a == 2 {{ {check} }} }} -> t exit queue
node t: apply t -> queue"
        );
        of_packet_of_two(&side_exits_of(&program, "start, before, t"))
    };
    let dropped = |indices: &[u64]| Some(Some((indices.to_vec(), "bad".to_string())));
    assert_eq!(front("v = 7  exit"), dropped(&[]));
    assert_eq!(front("count seen at 32w3  v = 7  exit"), dropped(&[3]));
    assert_eq!(front("v = 6  exit"), None, "it is sent");
    assert_eq!(front("if h.c == 1 { v = 7  exit } else { v = 6  exit }"), Some(None), "it is sent");
    assert_eq!(front("if h.c == 0 { v = 7  exit } else { v = 6  exit }"), dropped(&[]));
    assert_eq!(front("invalidate h  v = 7  exit"), None, "the packet changes");
}

/// Some side exits end in a drop. If several apply, the first match wins.
#[test]
fn some_side_exits_are_bulk_drops() {
    let program = format!(
        "{BEGIN}
table t {{ key h.b: exact  action none() {{}}  default none() }}
node before: block {{}} -> first
node first: branch h.a[0:0] == 0 -> second else bad
node second: branch h.a[1:1] == 0 -> third else fine
node third: branch h.a[2:2] == 0 -> t else bad
node bad: block {{ v = 7 }} -> queue
node fine: block {{ v = 6 }} -> queue
node t: apply t -> queue"
    );
    let exits = side_exits_of(&program, "start, before, first, second, third, t");
    for fails in 1..8u8 {
        let is_dropped = fails & 1 != 0 || fails & 2 == 0;
        assert_eq!(
            bulk_drop_of(&exits, &[fails, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_some(),
            is_dropped,
            "{fails}"
        );
    }
    let side_by_side = steps(&exits.2.steps, &exits.2.rows, &[0; 16]);
    assert_eq!([exits.2.exits, exits.2.drops].map(|mask| side_by_side[mask as usize]), [0, 0]);
}

/// Rows with fewer steps are not used if packets may lack their bytes.
#[test]
fn exits_have_the_bytes_of_the_loaded_rows() {
    let program = format!(
        "{}
table t {{ key h.c: exact  action none() {{}}  default none() }}
node before: block {{}} -> check
node check: branch h.b != 0 -> t else bad
node bad: block {{ v = 7 }} -> queue
node t: apply t -> queue",
        BEGIN.replace("h_t { a: 8, b: 24, c: 32 }", "h_t { a: 8, b: 8, c: 16, rest: 96 }")
    );
    let exits = side_exits_of(&program, "start, before, check, t");
    let rows_end = exits.0.as_ref().and_then(|exits| exits.rows.last()).map(|row| row + 16);
    assert_eq!((exits.2.bytes, rows_end), (16, Some(16)), "the packets need not be longer");
    assert_eq!(
        bulk_drop_of(&exits, &[1, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        Some((vec![], "bad".to_string()))
    );
}
