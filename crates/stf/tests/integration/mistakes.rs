//! Messages when a line of STF is wrong, or a switch refuses it.

use expect_test::expect;
use hlir::Program;
use interp::random::Draws;
use interp::{PORTS, Switch};

fn program() -> Program {
    hlir::text::parse_program(include_str!("../stf/tables.hlir")).expect("the program is well formed")
}

/// All messages about a text: mistakes in it, or failures in running it.
fn messages(text: &str) -> String {
    let program = program();
    let mut switch = Switch::new(&program, 0, PORTS);
    let commands = stf::parse(text);
    let mistakes = match commands.and_then(|commands| stf::run(&program, &commands, &mut switch, 1)) {
        Ok(report) => report.failures,
        Err(mistakes) => mistakes,
    };
    mistakes.iter().map(|mistake| format!("{mistake}\n")).collect()
}

#[test]
fn lines_that_are_no_stf() {
    let text = r#"
ad exact a:1 set(value:1)
add
add exact a 1
add exact a:b set(value:1)
add exact a:1 set(value)
add exact a:1 set(value:1
add exact a:1 set(value:1) x
add exact a:1 set(value:1) =
add exact a:1/ set(value:1)
packet 1 012
packet 1 01g2
packet x 01
packet
expect 1 01 $ 02
check_counter c(1) bits == 3
check_counter c(1) packets ~ 3
clock 5ms
clock +5 ms
clock +5d
meter_set_rates m 1 0.5:3 fast:4
mc_node_create
seed x
"#;
    expect![[r#"
        2:1: `ad` is no command; did you mean `add`?
        3:4: expected a table, the line ends
        4:13: expected `:` and a value if this is a key, or `(` and the action's arguments, found `1`
        5:13: expected a number, found `b`
        6:24: expected `:`, found `)`
        7:26: expected `,`, the line ends
        8:28: expected the end of the line, found `x`
        9:29: expected a name for the entry, the line ends
        10:16: expected a number, found `set`
        11:12: the last byte has one digit only
        12:12: `g` is no hexadecimal digit
        13:8: expected a port behind `packet`, from 0 to 65535
        14:7: expected a port behind `packet`, from 0 to 65535
        15:13: `$` is neither a hexadecimal digit nor `*`
        16:20: expected `packets` or `bytes`
        17:28: unexpected `~`
        18:7: expected `+`, found `5ms`
        19:8: expected a duration such as `10ms`, in ns, us, ms or s
        20:8: expected a duration such as `10ms`, in ns, us, ms or s
        21:27: expected a number, found `fast`
        22:15: expected a number, the line ends
        23:6: expected a number, found `x`
    "#]]
    .assert_eq(&messages(text));
}

#[test]
fn names_and_values_that_the_program_does_not_have() {
    let text = r#"
add exat a:1 set(value:1)
add exact bb:1 set(value:1)
add exact a:1 a:2 set(value:1)
add exact a:1 sett(value:1)
add exact a:1 set(valu:1)
add exact a:1 set()
add exact a:1 set(value:256)
add exact a:0x200 set(value:1)
add exact a:1..2 set(value:1)
add exact a:0x1* set(value:1)
add lpm c:0x0a000000/33 set(value:1)
add ternary d:0x12** set(value:1)
add ternary 1 d:17 set(value:1)
add range 1 d:5..4 set(value:1)
add none set(value:1)
setdefault exact set(value:300)
check_counter missing packets == 1
check_counter hits(absent) packets == 1
check_counter nothing(1) packets == 1
register_read r 1
member profile 1 set(value:1)
mc_node_associate 1 0
value_set v 1
expect_digest d a:1
"#;
    expect![[r#"
        2:5: there is no table `exat`; did you mean `exact`?
        3:11: there is no key `bb`; there is `h.keys.a`, `h.keys.$valid$`
        4:15: key `h.keys.a` is given twice
        5:15: there is no action of table `exact` called `sett`; did you mean `set`?
        6:19: there is no parameter `valu`; did you mean `value`?
        7:15: parameter `value` has no value
        8:25: 256 does not fit parameter `value`, which is 8 bits wide
        9:13: 0x200 does not fit key `h.keys.a`, which is 9 bits wide
        10:13: key `h.keys.a` is exact: it takes one value
        11:13: key `h.keys.a` is matched as exact, which takes no `*`
        12:22: prefix /33 is longer than key `h.keys.c`, which is 32 bits wide
        13:5: table `ternary` has a ternary key: write a priority behind its name
        14:17: key `h.keys.d` is ternary: write it as 0x or 0b digits, or as VALUE&&&MASK
        15:15: the range ends before it begins
        17:28: 300 does not fit parameter `value`, which is 8 bits wide
        18:15: there is no entry named `missing`
        19:20: there is no entry named `absent`
        20:15: there is no counter `nothing`; there is `hits`, `asked`
        21:15: there is no register `r`
        22:8: there is no action profile `profile`
        23:21: there is no node 0: 0 were created so far
        24:11: there is no value set `v`
        25:15: there is no digest `d`
    "#]]
    .assert_eq(&messages(text));
}

#[test]
fn what_a_switch_refuses() {
    let text = r#"
add exact a:1 set(value:1)
add exact a:2 set(value:1)
add exact a:1 set(value:2)
remove exact a:3
add exact a:3 set(value:1)
add exact a:4 set(value:1)
add exact a:5 set(value:1)
remove exact a:1
add exact a:5 set(value:1)
add none set(value:1)
add wide wide:5 set(value:1)
remove wide wide:0x0/0
add ternary 1 d:0x1 set(value:1)
add ternary 2 d:0x1 set(value:1)
add ternary 1 d:0x1 set(value:2)
add lpm c:5 member=7
check_counter asked(9) packets == 1
add ternary 1 d:0x2 set(value:1) = two
check_counter asked(two) packets == 1
mirroring_add 1 5
mc_node_create 0 1
mc_node_associate 0 0
add none set2()
remove range 7 d:0xfff0..0xfffe e:0
remove range 8 d:0xfffd..0xfffe e:0
"#;
    expect![[r#"
        4:1: table `exact` has such an entry already
        5:1: table `exact` has no such entry
        8:1: table `exact` is full: it has room for 4 entries
        11:1: table `none` has no keys, so it has no entries
        12:1: table `wide` has constant entries
        13:1: table `wide` has constant entries
        16:1: table `ternary` has such an entry already
        17:1: table `lpm` has no action profile that an entry could refer to
        18:1: counter `asked` has no such index: its size is 0
        20:1: counter `asked` belongs to another table
        23:1: multicast group 0 means no group
        24:1: table `none` has no keys, so it has no entries
        25:1: table `range` has this entry for good
    "#]]
    .assert_eq(&messages(text));
}

#[test]
fn entries_files_have_no_packets() {
    let program = program();
    let mut switch = Switch::new(&program, 0, PORTS);
    let commands = stf::parse("add exact a:1 set(value:1)\npacket 1 00\n").expect("the text is STF");
    let mistakes = stf::configure(&program, &commands, &mut switch).expect_err("a packet is no entry");
    assert_eq!(mistakes[0].to_string(), "2:1: packets and expectations do not belong here");
    let commands = stf::parse("add exact a:2 set(value:1)\nadd exact a:3 set(value:1)").expect("the text is STF");
    assert_eq!(stf::configure(&program, &commands, &mut switch).map(|done| done.steps), Ok(2));
}

/// Lines of all programs' files with characters changed, left out or doubled: each is STF or is explained, at a place within the text.
#[test]
fn no_text_makes_the_reader_fail() {
    let program = program();
    let texts =
        [include_str!("../stf/tables.stf"), include_str!("../stf/packets.stf"), include_str!("../stf/state.stf")];
    let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
    let mut draws = Draws::new(11, 0);
    let mut messages = 0;
    for line in lines.iter().cycle().take(20_000) {
        let mut characters: Vec<char> = line.chars().collect();
        for _ in 0..=draws.draw() % 3 {
            let at = draws.draw() as usize % (characters.len() + 1);
            let other = ['"', '$', '*', '.', ':', '/', '(', '[', ']', '0', 'x', '\u{e9}', ' ', '&', '='];
            let other = other[draws.draw() as usize % other.len()];
            match draws.draw() % 3 {
                0 => characters.insert(at, other),
                1 => characters.truncate(at),
                _ => characters.iter_mut().skip(at).take(1).for_each(|character| *character = other),
            }
        }
        let text: String = characters.into_iter().collect();
        let mistakes = match stf::parse(&text) {
            Ok(commands) => stf::bind::bind(&program, &commands).err().unwrap_or_default(),
            Err(mistakes) => mistakes,
        };
        let last = text.chars().count() as u32 + 1;
        for mistake in mistakes {
            messages += 1;
            assert!(mistake.place.line == 1 && (1..=last).contains(&mistake.place.column), "{text:?}: {mistake}");
        }
    }
    assert!(messages > 5000, "{messages}");
}

/// A switch reads the conditions of its clients on a thread with a small stack.
#[test]
fn conditions_are_nested_to_a_bound() {
    let program = hlir::text::parse_file(include_str!("../stf/packets.hlir")).unwrap().program;
    let read =
        |text: String| stf::filter::Filter::parse(&program, &text).map(drop).map_err(|mistake| mistake.to_string());
    let parentheses = |levels: usize| "(".repeat(levels) + "dropped" + &")".repeat(levels);
    assert_eq!((read(parentheses(64)), read("!".repeat(64) + "dropped")), (Ok(()), Ok(())));
    assert_eq!(read(vec!["!(dropped)"; 1000].join(" && ")), Ok(()));
    for deep in [parentheses(100_000), "!".repeat(100_000) + "dropped", "!(".repeat(65)] {
        let mistake = read(deep).unwrap_err();
        assert!(mistake.contains("filter:65: conditions are nested deeper than 64 levels"), "{mistake}");
        assert!(mistake.len() < 500, "{mistake}");
    }
}

/// As by P4Runtime and Thrift: no rates that a meter could not colour with.
#[test]
fn a_peak_rate_below_the_committed_one() {
    let program = hlir::text::parse_program(include_str!("../stf/state.hlir")).expect("the program is well formed");
    let commands = stf::parse("meter_set_rates rate 0 0.002:4 0.001:2\nmeter_array_set_rates rate 0.5:4 0.25:2\n");
    let bound = stf::bind(&program, &commands.expect("these are commands"));
    let mistakes: String = bound.err().into_iter().flatten().map(|mistake| format!("{mistake}\n")).collect();
    expect![[r#"
        1:32: the peak rate of a meter is at least the committed rate
        2:34: the peak rate of a meter is at least the committed rate
    "#]]
    .assert_eq(&mistakes);
}
