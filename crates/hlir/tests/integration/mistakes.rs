//! Every rule of the verifier, by a change to a correct program that breaks this rule only.

use expect_test::expect;
use hlir::source::SourceMap;
use hlir::text::{parse_file, parse_program};
use hlir::verify::{verify, verify_plan};

const IPV4: &str = include_str!("../programs/ipv4.hlir");

/// Errors of the router after replacing `from`, which it contains once.
fn after(from: &str, to: &str) -> Vec<String> {
    assert_eq!(IPV4.matches(from).count(), 1, "`{from}` occurs once in the program");
    messages(&IPV4.replace(from, to))
}

fn messages(text: &str) -> Vec<String> {
    let errors = parse_file(text).map_or_else(|errors| errors, |parsed| parsed.verify());
    assert!(errors.iter().all(|error| !error.span().is_none()), "each error has a place: {errors:?}");
    errors.iter().map(|error| error.message().to_string()).collect()
}

/// Errors of the router with these declarations before its interface.
fn with(items: &str) -> Vec<String> {
    messages(&IPV4.replace("\ninterface {", &format!("\n{items}\ninterface {{")))
}

fn statement(statement: &str) -> Vec<String> {
    with(&format!("node n: block {{ {statement} }} -> deparser\n"))
}

fn in_state(statement: &str) -> Vec<String> {
    after("extract hdr.tcp }", &format!("{statement} }}"))
}

#[track_caller]
fn finds(found: Vec<String>, expected: &str) {
    assert_eq!(found, [expected]);
}

#[test]
fn types_and_widths() {
    finds(statement("meta.colour = hdr.ipv4.src"), "node `n`: 32 bits cannot be assigned to 8 bits");
    finds(statement("meta.colour = meta.rejected"), "node `n`: a boolean cannot be assigned to 8 bits");
    finds(
        statement("meta.colour = meta.colour + hdr.ipv4.src"),
        "node `n`: the operands of `+` differ: 8 bits and 32 bits",
    );
    finds(
        statement("meta.rejected = meta.colour && true"),
        "node `n`: an operand of `&&` must be a boolean, and has 8 bits",
    );
    finds(statement("meta.colour = !meta.colour"), "node `n`: the operand of `!` must be a boolean, and has 8 bits");
    finds(statement("meta.colour = ~meta.rejected"), "node `n`: the operand of `~` must be bits, and is a boolean");
    finds(
        statement("meta.colour = meta.colour << meta.rejected"),
        "node `n`: an operand of `<<` must be bits, and is a boolean",
    );
    finds(statement("meta.colour = 256"), "node `n`: constant 256 does not fit 8 bits, or these are more than 1048576");
    finds(statement("meta.colour = hdr.ipv4.src[32:25]"), "node `n`: slice [32:25] does not lie within 32 bits");
    finds(statement("meta.colour = u8(hdr.ipv4.src)"), "node `n`: 32 bits cannot be extended to 8");
    finds(
        statement("meta.colour = meta.rejected ? 8w1 : 9w1"),
        "node `n`: the two sides of a choice differ: 8 bits and 9 bits",
    );
    finds(
        statement("meta.colour = copy.port[7:0]"),
        "node `n`: `copy.…` has a value only in the `set` list of a replicated or cloned packet",
    );
    finds(statement("meta.colour = hdr.ipv4_options.data"), "node `n`: varbit field `data` is used as a value");
    finds(
        statement("meta.rejected = same(hdr.ipv4.src, hdr.ipv4_options.data)"),
        "node `n`: field `src` is not a varbit",
    );
    finds(
        statement("meta.colour = bit(meta.colour) ++ 7w0"),
        "node `n`: the operand of `bit` must be a boolean, and has 8 bits",
    );
    finds(statement("if meta.colour { truncate 32w1 }"), "node `n`: a condition must be a boolean, and has 8 bits");
}

#[test]
fn statements_and_their_places() {
    finds(statement("emit hdr.ipv4"), "node `n`: `emit` is allowed in deparser nodes only");
    finds(
        statement("advance 32w8"),
        "node `n`: `extract`, `advance`, `lookahead` and `verify` are allowed in parser states only",
    );
    finds(statement("leave l"), "node `n`: no scope or loop around it is labelled `l`");
    finds(statement("scope l { loop l { leave l } }"), "node `n`: label `l` names what encloses it already");
    finds(statement("copy hdr.ipv4 = hdr.tcp"), "node `n`: the two headers have different fields");
    finds(statement("copy hdr.ipv4_options.data = hdr.ipv4.src"), "node `n`: field `src` is not a varbit");
    finds(statement("truncate 16w5"), "node `n`: the length must have 32 bits, and has 16 bits");
    finds(statement("exit"), "node `n`: it has an `exit` statement, but no `exit` edge");
    finds(
        with("header h: t { a: 4 }\nnode x: deparse { emit h } -> departure\n"),
        "node `x`: the header has 4 bits, which are no whole bytes",
    );
    finds(in_state("exit"), "node `parser.tcp`: `exit` is not allowed in a parser state");
    finds(
        in_state("extract hdr.ipv4_options"),
        "node `parser.tcp`: the header has a varbit field: `varbit LENGTH` is missing",
    );
    finds(in_state("extract hdr.tcp varbit 32w8"), "node `parser.tcp`: the header has no varbit field");
    finds(in_state("advance 16w8"), "node `parser.tcp`: the number of bits must have 32 bits, and has 16 bits");
    finds(in_state("lookahead meta.rejected"), "node `parser.tcp`: what is looked at must be bits, and is a boolean");
    finds(
        in_state("verify true else 8w3"),
        "node `parser.tcp`: the error, as its parser's variable, must have 32 bits, and has 8 bits",
    );
}

#[test]
fn calls() {
    finds(statement("count ingress.acl_hits"), "node `n`: a direct counter is used in actions of its table only");
    finds(statement("count ingress.acl_hits at 8w1"), "node `n`: the counter is direct, and takes no index");
    finds(statement("count egress.ports"), "node `n`: the counter is not direct: `at INDEX` is missing");
    finds(
        statement("meter ingress.acl_meter into meta.colour"),
        "node `n`: a direct meter is used in actions of its table only",
    );
    finds(
        statement("read egress.packets at 8w1 into meta.colour"),
        "node `n`: a register of 32 bits is read into 8 bits",
    );
    finds(
        statement("write egress.packets at 8w1 = 8w1"),
        "node `n`: what is written to the register must have 32 bits, and has 8 bits",
    );
    finds(statement("checksum add {} into meta.colour"), "node `n`: a checksum has 16 bits");
    finds(statement("hash crc16 {} into meta.rejected"), "node `n`: a hash must be bits, and is a boolean");
    finds(
        statement("random 9w1..8w2 into meta.colour"),
        "node `n`: the lowest number must have 8 bits, and has 9 bits",
    );
    finds(statement("assert meta.colour else \"no\""), "node `n`: what is asserted must be a boolean, and has 8 bits");
    finds(
        statement("restart_timer"),
        "node `n`: `restart_timer` is allowed in actions only: it is about the entry that was hit",
    );
    finds(
        statement("insert ingress.acl => ingress.permit()"),
        "node `n`: `insert` into `ingress.acl` is allowed in its default action only, and needs `add_on_miss`",
    );
    let digest = "digest d { a: 8 }\nnode n: block { digest d(8w1, 8w2) } -> deparser\n";
    finds(with(digest), "node `n`: digest `d` has 1 fields, and is given 2");
    let digest = "digest d { a: 8 }\nnode n: block { digest d(9w1) } -> deparser\n";
    finds(with(digest), "node `n`: field `a` must have 8 bits, and has 9 bits");
}

#[test]
fn names_and_storage() {
    finds(with("header hdr.ipv4: t { a: 8 }\n"), "two variables, headers or fields are named `hdr.ipv4`");
    finds(with("variable hdr.ipv4.src: 8\n"), "two variables, headers or fields are named `hdr.ipv4.src`");
    finds(with("node departure: block {} -> deparser\n"), "two nodes are named `departure`");
    finds(with("counter egress.packets: bytes [1]\n"), "two registers, counters or meters are named `egress.packets`");
    finds(with("header h: t { a: varbit 8, b: varbit 8 }\n"), "header `h`: a header has at most one varbit field");
    finds(with("variable v: 1048577\n"), "variable `v`: 1048577 bits are more than 1048576");
    finds(with("register r: 8 [4] = 256\n"), "register `r`: 256 does not fit 8 bits");
    finds(with("counter c: bytes [1] automatic\n"), "counter `c`: only a direct counter can be automatic");
    finds(
        with("counter c: bytes [1] of ingress.acl\n"),
        "counter `c`: a direct counter or meter has no size: it has an index for each entry",
    );
    finds(
        with("meter m: bytes of ingress.acl into meta.rejected\n"),
        "meter `m`: the colour must be bits, and is a boolean",
    );
    finds(after("program ipv4", "program `ipv 4`"), "the program's name `ipv 4` must be letters, digits and `_`");
    finds(after("errors {", "errors only {"), "the first seven errors must be those of core.p4");
}

#[test]
fn tables() {
    let table = |members: &str| with(&format!("table t {{\n{members}\naction a() {{}}\naction b(x: 8) {{}}\n}}\n"));
    finds(table("key meta.rejected: exact\ndefault a()"), "key 1 of table `t`: a key must be bits, and is a boolean");
    finds(table("default b()"), "table `t`: action `b` takes 1 arguments, and is given 0");
    finds(table("default b(256)"), "table `t`: argument 0x100 does not fit the 8 bits of `x`");
    finds(table("default a()\naction a() {}"), "two actions of table `t` are named `a`");
    finds(table("default a()\naction c(x: 8, x: 8) {}"), "two parameters of action `c` are named `x`");
    finds(table("default c()\ntable_only action c() {}"), "table `t`: the default action is `table_only`");
    finds(
        table("default a()\nselector meta.colour"),
        "table `t`: it has selector inputs, but no profile with a selector",
    );
    let keyed =
        |kind: &str, entry: &str| table(&format!("key meta.colour: {kind}\ndefault a()\nentries {{ {entry} }}"));
    let form = "entry 1 of table `t`: a value does not have the form of its key's kind";
    let fit = "entry 1 of table `t`: a value does not fit its key of 8 bits";
    for (kind, entry) in
        [("exact", "_"), ("exact", "1/8"), ("lpm", "1"), ("ternary", "1"), ("range", "1"), ("optional", "1 &&& 1")]
    {
        finds(keyed(kind, &format!("{entry} => a()")), form);
    }
    let wrong = [
        ("exact", "256"),
        ("lpm", "0/9"),
        ("lpm", "3/7"),
        ("ternary", "1 &&& 256"),
        ("range", "2..1"),
        ("optional", "256"),
    ];
    for (kind, entry) in wrong {
        finds(keyed(kind, &format!("{entry} => a()")), fit);
    }
    for (kind, entry) in
        [("exact", "255"), ("lpm", "2/7"), ("ternary", "256 &&& 1"), ("range", "1..1"), ("optional", "_")]
    {
        let expected: &[&str] = if entry == "256 &&& 1" { &[fit] } else { &[] };
        assert_eq!(keyed(kind, &format!("{entry} => a()")), expected);
    }
    finds(keyed("exact", "priority 1: 1 => a()"), "entry 1 of table `t`: the table has no priorities");
    finds(keyed("exact", "1, 2 => a()"), "entry 1 of table `t`: the table has 1 keys, and the entry 2 values");
    finds(keyed("exact", "1 => member 1"), "entry 1 of table `t`: the table has no action profile");
    finds(keyed("exact", "1 => group 1"), "entry 1 of table `t`: the table has no action selector");
    for (selector, missing) in [("", "member 1"), (" selector crc16 width 14 largest_group 32", "group 7")] {
        let members =
            format!("key meta.colour: exact\naction a() {{}}\ndefault a()\nprofile p\nentries {{ 1 => {missing} }}");
        let found = with(&format!("profile p [4]{selector}\ntable t {{\n{members}\n}}\n"));
        finds(found, &format!("entry 1 of table `t`: there is no {missing} when the program starts"));
    }
    let lpm = "key meta.colour: lpm\ndefault a()\nadd_on_miss";
    finds(table(lpm), "table `t`: `add_on_miss` is for tables whose keys are all exact");
}

#[test]
fn nodes_and_edges() {
    finds(
        with("node n: block {} -> deparser exit deparser\n"),
        "node `n`: it has an `exit` edge, but no `exit` statement",
    );
    finds(
        with("node n: branch meta.colour -> deparser else deparser\n"),
        "node `n`: a condition must be a boolean, and has 8 bits",
    );
    let twice =
        "node n: apply ingress.routes -> { ingress.via -> deparser, ingress.via -> deparser, otherwise -> deparser }\n";
    finds(with(twice), "node `n`: action `ingress.via` leads to two nodes");
    finds(after("exit ingress.end\n", "\n"), "node `ingress.acl`: it has an `exit` statement, but no `exit` edge");
    finds(with("node n: block {} -> #999\n"), "node `n`: there is no node number 999");
    finds(with("node n: apply #99 -> deparser\n"), "node `n`: there is no table number 99");
    finds(with("node a: block {} -> b\nnode b: block {} -> a\n"), "node `b`: its edge to `a` closes a cycle");
    let buffers = "node a: buffer { otherwise -> b }\nnode b: buffer { unicast -> a }\n";
    finds(with(buffers), "node `b`: its edge to `a` closes a cycle");
    finds(after("0, 17 -> parser.tcp", "0, 17 -> departure"), &beyond("departure"));
    finds(after("0, 17 -> parser.tcp", "0 -> parser.tcp"), "node `parser.ipv4`: a case has 1 values for 2 keys");
    finds(
        after("0, 17 -> parser.tcp", "0, 256 -> parser.tcp"),
        "node `parser.ipv4`: a value does not fit its key of 8 bits",
    );
    finds(
        after("0, 17 -> parser.tcp", "0, 2..1 -> parser.tcp"),
        "node `parser.ipv4`: a value does not fit its key of 8 bits",
    );
    finds(
        after("start parser.start, accept", "start arrival, accept"),
        "parser `parser`: `start` is `arrival`, which is not a state of it",
    );
    finds(
        with("node n: buffer { when meta.rejected: drop \"x\" }\n"),
        "node `n`: a packet that no rule takes has nowhere to go",
    );
    finds(with("node n: buffer { send 9w1 }\n"), "rule 1 of node `n`: the port must have 32 bits, and has 9 bits");
    finds(
        with("node n: buffer { resubmit original keep all set { meta.colour = copy.port[7:0] } -> arrival }\n"),
        "rule 1 of node `n`: `copy.…` has a value only in the `set` list of a replicated or cloned packet",
    );
}

#[test]
fn budgets() {
    let copies = |copies: &str, node: &str| {
        let budget = format!("budget reentries 64 copies {copies} states 4096 iterations 65536");
        messages(&format!(
            "program p for none\n{budget}\nnode n: buffer {{ {node} }}\nnode end: buffer {{ drop \"\" }}\n"
        ))
    };
    let groups = "replicate 32w1 current keep all -> end";
    let sessions = "clone 32w1 deparsed keep all -> n\n otherwise -> end";
    for copying in [groups, sessions] {
        finds(copies("0", copying), "the budget: no copies, and node `n` makes some");
        assert_eq!(copies("1", copying), [""; 0]);
    }
    assert_eq!(copies("0", "recirculate deparsed keep all -> n"), [""; 0], "the packet itself comes again");
    assert_eq!(copies("1048576", groups), [""; 0]);
    finds(copies("1048577", groups), "the budget: 1048577 copies of one packet are no limit");
}

fn beyond(node: &str) -> String {
    format!("node `parser.ipv4`: `{node}` is no state of parser `parser`, nor where it ends")
}

#[test]
fn value_sets_have_the_widths_of_the_keys() {
    let set = |fields: &str, case: &str| {
        let changed = IPV4.replace("0, 17 -> parser.tcp", &format!("{case} -> parser.tcp"));
        messages(&changed.replace("\ninterface {", &format!("\nvalue_set v [4] {{ {fields} }}\n\ninterface {{")))
    };
    let wrong = "node `parser.ipv4`: value set `v` does not have the widths of the keys";
    assert_eq!(set("a: 13 exact, b: 8 exact", "in v"), [""; 0]);
    assert_eq!(set("b: 8 exact", "0, in v"), [""; 0]);
    finds(set("a: 13 exact, b: 9 exact", "in v"), wrong);
    finds(set("a: 13 exact, b: 8 exact", "0, in v"), wrong);
    finds(set("b: 8 exact", "in v"), wrong);
}

#[test]
fn interfaces() {
    finds(
        after("action 0x01d4e5f6\n", "action 0x01000000\n"),
        "interface table `ingress.routes`: no action has the id 0x01000000",
    );
    finds(after("counter 0x12c0ffee", "counter 0x02e8a3c1"), "the interface: two objects have the id 0x02e8a3c1");
}

#[test]
fn plans() {
    let plan = |line: &str| after("  instrument edges\n", &format!("  {line}\n"));
    finds(plan("loop nowhere: batch 8 group 8"), "the plan: the program has no node `nowhere`");
    finds(
        plan("loop deparser: batch 8 group 9"),
        "the plan: a group of 9 packets in a batch of 8: it must be at least 1, at most the batch",
    );
    finds(plan("loop deparser: batch 8 group 8 vector 0"), "the plan: a loop has at least 1 packet per vector");
    finds(plan("loop ingress.acl: batch 8 group 8"), "two loops are named `ingress.acl`");
    finds(
        plan("loop deparser: batch 8 group 8 { prefetch table x ahead 8 in own_loop to t0 }"),
        "the plan: the program has no table `x`",
    );
    finds(
        plan("loop deparser: batch 8 group 8 { prefetch packet ahead 4 in own_loop to t0 }"),
        "the plan: prefetches `in own_loop` are one group ahead, not 4",
    );
    finds(plan("accesses pac"), "the plan: no stage combines its accesses: the plan has none");
    finds(plan("accesses base accesses base"), "expected no second `accesses`, found `accesses`");
    finds(plan("accesses all"), "expected `base`, `pac` or `cgpc`, found `all`");
    finds(plan("table x: list"), "the plan: the program has no table `x`");
    finds(plan("burst 16"), "expected no second `burst`, found `burst`");
    finds(
        plan("queue deparser: capacity 0 timeout 1"),
        "the plan: the queue at `deparser`: the capacity must be at least 1 packet",
    );
    for (table, structure, legal) in [
        ("ingress.routes", "dir24_8", true),
        ("ingress.routes", "lpm_trie", true),
        ("ingress.routes", "exact", false),
        ("ingress.routes", "dir24_8_u8", true),
        ("ingress.routes", "exact48", false),
        ("ingress.neighbours", "exact", true),
        ("ingress.neighbours", "exact60", false),
        ("ingress.neighbours", "dir24_8_u16", false),
        ("ingress.neighbours", "dir24_8", false),
        ("ingress.neighbours", "lpm_trie", false),
        ("ingress.acl", "list", true),
        ("ingress.acl", "exact", false),
    ] {
        let (head, _) = IPV4.split_once("\nplan {").expect("the program has a plan");
        let found = messages(&format!("{head}\nplan {{\n  table {table}: {structure}\n}}\n"));
        let wrong = format!("the plan: `{structure}` does not suit table `{table}`");
        assert_eq!(found, if legal { vec![] } else { vec![wrong] });
    }
}

/// Packets that insert entries see when a table is full, so a structure needs room for the declared size.
#[test]
fn structures_have_room_for_insertions_by_packets() {
    let (head, _) = IPV4.split_once("\nplan {").expect("the program has a plan");
    let sized = |size: &str| {
        head.replace("  const default NoAction()\n  size 1024\n", &format!("  default NoAction()\n{size}"))
    };
    let found = |size: &str, structure: &str| {
        messages(&format!("{}\nplan {{\n  table ingress.neighbours: {structure}\n}}\n", sized(size)))
    };
    let wrong = |structure: &str| {
        format!(
            "the plan: packets may insert more entries into table `ingress.neighbours` than `{structure}` has room for"
        )
    };
    let (small, large) = ("  size 32\n  add_on_miss\n", "  size 65535\n  add_on_miss\n");
    for (size, structure, has_room) in [
        (small, "compare", true),
        (large, "compare", false),
        (large, "exact48", false),
        (large, "exact", true),
        ("  size 65534\n  add_on_miss\n", "exact48", true),
        ("  add_on_miss\n", "exact48", false),
        ("  add_on_miss\n", "exact", true),
        ("", "exact48", true),
        ("  size 1024\n", "compare", true),
    ] {
        assert_eq!(found(size, structure), if has_room { vec![] } else { vec![wrong(structure)] }, "{size}");
    }
}

/// Entries of an action profile name members, so a hot path cannot expect an action.
#[test]
fn hot_paths_do_not_expect_actions_of_members() {
    let (head, _) = IPV4.split_once("\nplan {").expect("the program has a plan");
    let path =
        "arrival, parser.start, parser.ipv4, verify_checksum, ingress.is_routed, ingress.routes, ingress.neighbours";
    let found = |head: &str| messages(&format!("{head}\nplan {{\n  hot_path {{ {path} runs ingress.rewrite }}\n}}\n"));
    assert_eq!(found(head), [""; 0]);
    let mut with_members = head.replace("\ninterface {", "\nprofile state.members [4]\n\ninterface {");
    with_members = with_members.replace("  size 1024\n", "  size 1024\n  profile state.members\n");
    let expected =
        "the plan: the action of `ingress.neighbours` comes from members of an action profile, not from entries";
    finds(found(&with_members), expected);
}

/// A group's member is chosen again at commit, and its members may have changed: keys computed from it cannot
/// be pipelined.
#[test]
fn packets_are_not_pipelined_after_a_selector() {
    let (head, _) = IPV4.split_once("\nplan {").expect("the program has a plan");
    let path =
        "arrival, parser.start, parser.ipv4, verify_checksum, ingress.is_routed, ingress.routes, ingress.neighbours";
    let found = |head: &str, placement: &str| {
        let request = format!("prefetch table ingress.neighbours ahead {placement} to t0");
        let staged = format!("loop ingress.neighbours: batch 8 group 8 {{ {request} }}");
        messages(&format!("{head}\nplan {{\n  hot_path {{ {path} }}\n  {staged}\n}}\n"))
    };
    assert_eq!(found(head, "1 interleaved commit"), [""; 0], "what was found waits");
    let (before, routes) = head.split_once("  size 65536\n").expect("a table of that size");
    let (_, behind) = routes.split_once("\n}\n").expect("its end");
    let profile = "profile state.members [4] selector crc16 width 14 largest_group 4\n";
    let (first, last) = before.rsplit_once("table ingress.routes").expect("the table");
    let selects = "  profile state.members\n  selector hdr.ipv4.src\n}\n";
    let with_groups = format!("{first}\n{profile}\ntable ingress.routes{last}{selects}{behind}");
    assert_eq!(found(&with_groups, "8 in own_loop"), [""; 0]);
    finds(
        found(&with_groups, "1 interleaved commit"),
        "the plan: packets cannot be pipelined after `ingress.routes`, which selects from a group",
    );
}

/// A worker's own insertions do not wait for it to release what a pipelined group has found.
#[test]
fn packets_are_not_pipelined_where_they_insert_entries() {
    let (head, _) = IPV4.split_once("\nplan {").expect("the program has a plan");
    let (before, neighbours) = head.split_once("table ingress.neighbours").expect("the table");
    let (table, behind) = neighbours.split_once("\n}\n").expect("its end");
    let head = format!("{before}table ingress.neighbours{table}\n  add_on_miss\n}}\n{behind}");
    let path =
        "arrival, parser.start, parser.ipv4, verify_checksum, ingress.is_routed, ingress.routes, ingress.neighbours";
    let found = |placement: &str| {
        let request = format!("prefetch table ingress.neighbours ahead {placement} to t0");
        let staged = format!("loop ingress.neighbours: batch 8 group 8 {{ {request} }}");
        messages(&format!("{head}\nplan {{\n  hot_path {{ {path} }}\n  {staged}\n}}\n"))
    };
    assert_eq!(found("8 in own_loop"), [""; 0]);
    finds(
        found("1 interleaved commit"),
        "the plan: packets cannot be pipelined: others insert entries into the table of `ingress.neighbours`",
    );
}

/// A register that two loops use would show a packet the writes of later ones.
#[test]
fn batching_keeps_the_order_of_state() {
    let (head, _) = IPV4.split_once("\nplan {").expect("the program has a plan");
    let text = format!(
        "{head}\nvariable seen: 32\nnode a: block {{ read egress.packets at 8w1 into seen }} -> ingress.routes\n"
    );
    let text = text.replace(
        "&& standard_metadata.checksum_error == 0 -> ingress.routes",
        "&& standard_metadata.checksum_error == 0 -> a",
    );
    let plan = |loops: &[(&str, u32)]| {
        let lines: String =
            loops.iter().map(|(node, batch)| format!("  loop {node}: batch {batch} group 1\n")).collect();
        messages(&format!("{text}\nplan {{\n{lines}}}\n"))
    };
    assert_eq!(plan(&[]), [""; 0]);
    assert_eq!(plan(&[("arrival", 32)]), [""; 0], "one loop for all");
    assert_eq!(plan(&[("arrival", 1), ("ingress.acl", 1)]), [""; 0], "packet by packet after all");
    let broken = plan(&[("arrival", 32), ("ingress.end", 32)]);
    finds(
        broken,
        "the plan: register `egress.packets` is touched in the loop of `arrival`, and in the loop of `ingress.end`",
    );
    let before = plan(&[("ingress.end", 32)]);
    finds(
        before,
        "the plan: register `egress.packets` is touched in what runs before the first loop, and in the loop of `ingress.end`",
    );
}

/// Two paths to a register, one of them with a lookup; marks that the parser reads, and the nodes between,
/// are given.
fn numbered(states: &str, between: &str, loops: &str) -> Vec<String> {
    let text = format!(
        "program numbered for none\n\nheader hdr.mark: mark_t {{ last: 8 }}\n\nvariable meta.turn: 32\nvariable meta.error: 32\n
register turns: 32 [1]\n\ntable known {{\n  key hdr.mark.last: exact\n  action nothing() {{}}\n  default nothing()\n}}\n
parser parser {{ start start, accept kind, reject kind, error meta.error }}\n\nentry start\n\n{states}
node kind: branch hdr.mark.last == 1 -> known else between\n\nnode known: apply known -> between\n\n{between}
node number: block {{\n  read turns at 32w0 into meta.turn\n  write turns at 32w0 = meta.turn + 1\n}} -> deparser\n
node deparser: deparse {{ emit hdr.mark }} -> departure\n\nnode departure: buffer {{ send 32w1 }}\n\nplan {{\n{loops}}}\n"
    );
    messages(&text)
}

const ONE_MARK: &str = "node start: state of parser { extract hdr.mark } -> kind\n";

/// Copies of a group run at once to their end, so no loop may begin after a replication.
#[test]
fn no_loop_begins_after_a_replication() {
    let loops = "  loop known: batch 8 group 8\n  loop number: batch 8 group 8\n";
    let copies = "node between: buffer {\n  when hdr.mark.last == 2: replicate 32w1 current keep all -> number\n  unicast -> number\n}\n";
    assert_eq!(numbered(ONE_MARK, "node between: block {} -> number\n", loops), [""; 0]);
    finds(
        numbered(ONE_MARK, copies, loops),
        "the plan: register `turns` is touched in what runs before the first loop, and in the loop of `known`",
    );
}

/// Packets with one mark would overtake those with two.
#[test]
fn no_state_is_used_after_a_loop_in_a_cycle() {
    let states = "node start: state of parser { extract hdr.mark } select hdr.mark.last {\n  0 -> start\n  otherwise -> kind\n}\n";
    let between = "node between: block {} -> number\n";
    let cyclic = "  loop start: batch 8 group 8\n  loop number: batch 8 group 8\n";
    assert_eq!(numbered(states, between, "  loop number: batch 8 group 8\n"), [""; 0]);
    assert_eq!(numbered(ONE_MARK, between, cyclic), [""; 0]);
    finds(
        numbered(states, between, cyclic),
        "the plan: register `turns` is used where packets have visited the loop of `start` once or more",
    );
}

#[test]
fn all_mistakes_are_found_in_one_run_and_shown_where_they_are() {
    let text = "\
program l2fwd for v1model
header hdr.ethernet: ethernet_t { dst: 48, src: 48, type: 16 }
variable meta.port: 9
table dmac {
  key hdr.ethernet.dts: exact
  action forward(port: 9) { meta.port = prot }
  defualt forward(1)
}
node a: block {
  meta.port = 5 +
  meta.port = 5 + 6 == 7
  meta.port = (9w1 < 9w2) < 3
} -> b
";
    let errors = parse_file(text).expect_err("the text is wrong");
    let map = SourceMap::new("dmac.hlir", text);
    let shown: String = errors.iter().map(|error| error.render(&map)).collect();
    expect![[r#"
        dmac.hlir(5): error: `hdr.ethernet.dts` is not the name of a variable or field
         --> dmac.hlir:5:7
          |
        5 |   key hdr.ethernet.dts: exact
          |       ^^^^^^^^^^^^^^^^
        hint: did you mean `hdr.ethernet.dst`?
        dmac.hlir(6): error: `prot` is not the name of a variable or field
         --> dmac.hlir:6:41
          |
        6 |   action forward(port: 9) { meta.port = prot }
          |                                         ^^^^
        hint: did you mean `port`?
        dmac.hlir(7): error: expected `key`, `action`, `default`, `size`, `profile`, `selector`, `empty_group`, `idle_timeout`, `add_on_miss`, `punt_on_miss` or `entries`, found `defualt`
         --> dmac.hlir:7:3
          |
        7 |   defualt forward(1)
          |   ^^^^^^^
        dmac.hlir(11): error: expected a statement, found `=`
          --> dmac.hlir:11:13
           |
        11 |   meta.port = 5 + 6 == 7
           |             ^
        dmac.hlir(13): error: `b` is not the name of a node
          --> dmac.hlir:13:6
           |
        13 | } -> b
           |      ^
    "#]].assert_eq(&shown);
}

#[test]
fn a_program_in_memory_is_judged_by_names() {
    let mut program = parse_program(
        "program p for v1model\nvariable v: 8\nnode n: block { v = 1 } -> m\nnode m: buffer { drop \"\" }\n",
    )
    .expect("the program is right");
    assert_eq!(verify(&program), []);
    program.variables.values_mut().for_each(|variable| variable.kind = hlir::Type::Bits(9));
    let errors = verify(&program);
    let messages: Vec<&str> = errors.iter().map(|error| error.message()).collect();
    assert_eq!(messages, ["node `n`: 8 bits cannot be assigned to 9 bits"]);
    assert!(errors.iter().all(|error| error.span().is_none()));
    assert_eq!(verify_plan(&program, &hlir::Plan::default()), []);
}
