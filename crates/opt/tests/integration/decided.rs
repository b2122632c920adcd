//! Mispredictions: a core that remembers earlier branches predicts what these have decided.

use hlir::text::parse_program;
use opt::Inputs;
use opt::analyze::Traffic;
use opt::inputs::{Machine, Profile};
use opt::model::Model;

/// Half of the packets have a tag. Three branches follow: on its validity, on a flag that is set with it, and on what it holds.
const PROGRAM: &str = "program tags for none
header h: h_t { kind: 8, a: 8 }
header tag: tag_t { id: 8 }
variable error: 32
variable flag: 8
variable copy: 8
parser parser { start start, accept valid, reject valid, error error }
entry start
node start: state of parser { extract h } select h.kind {
  1 -> tagged
  otherwise -> valid
}
node tagged: state of parser {
  extract tag
  flag = 1
  copy = tag.id
} -> valid
node valid: branch valid(tag) -> one else flagged
node one: block { h.a = 1 } -> flagged
node flagged: branch flag == 1 -> two else copied
node two: block { h.a = 2 } -> copied
node copied: branch copy == 7 -> three else out
node three: block { h.a = 3 } -> out
node out: buffer { send 32w1 }
";

#[test]
fn branches_that_earlier_ones_have_decided_are_predicted() {
    let program = parse_program(PROGRAM).unwrap_or_else(|errors| panic!("{errors:?}"));
    let half = |from: &str, one: &str, other: &str| format!("50 {from} -> {one}\n50 {from} -> {other}\n");
    let mut edges = half("start", "tagged", "valid");
    edges += "50 tagged -> valid\n50 one -> flagged\n50 two -> copied\n50 three -> out\n";
    for (from, one, other) in [("valid", "one", "flagged"), ("flagged", "two", "copied"), ("copied", "three", "out")] {
        edges += &half(from, one, other);
    }
    let profile = Some(Profile::parse(&edges).expect("the example is a profile"));
    let machine = Machine { mispredict_cycles: 20.0, ..Machine::default() };
    let inputs = Inputs { profile, machine, ..Inputs::default() };
    let traffic = Traffic::estimate(&program, &inputs);
    let prediction = Model::new(&program, &inputs, &traffic).predict(&hlir::Plan::default());
    let mispredicted = |name: &str| {
        let (node, _) = program.nodes.iter().find(|(_, node)| node.name == name).expect("it is declared");
        prediction.node(node).mispredicted
    };
    assert_eq!(["start", "valid", "flagged", "copied"].map(mispredicted), [10.0, 0.0, 0.0, 10.0]);
}
