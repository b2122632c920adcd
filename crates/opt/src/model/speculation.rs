//! Speculation along the hot path: the packets for which a node can run before the in-order commit phase. The
//! others take a side exit.
//! The share is `y` of the term `S`, node by node along the path: a packet stays on it if it follows the path
//! and all that it ran can be run again (`hlir::effects`). Packets that exit cost `e · (c_br + 60 · c_op)`.

use super::Model;
use crate::analyze::branch_probabilities::LookupOutcomes;
use crate::analyze::drops::node_index;
use hlir::effects::{self, Speculable, Speculation};
use hlir::{Next, NodeId, NodeKind, Statement};

impl Model<'_> {
    /// Of the packets that go from `from` to `to`, the share for which `from` can run speculatively.
    /// A product with the share of the edge is the packets that stay. Of a lookup, weighted by action: the plan
    /// cannot know which action a packet's entry runs, the model knows how often each one is run.
    pub(super) fn speculable_share(&self, from: NodeId, to: NodeId) -> f64 {
        if effects::never_speculable(self.program, from) {
            return 0.0;
        }
        match &self.program.nodes[from].kind {
            NodeKind::State { body, .. } | NodeKind::Deparse { body, .. } => {
                Executions::of(body, self.speculable(from)).speculable(End::Through)
            }
            NodeKind::Block { body, next, exit } => {
                let end = End::of(*next == to, *exit == Some(to));
                Executions::of(body, self.speculable(from)).speculable(end)
            }
            NodeKind::Apply { table, next, exit } => {
                let Some(lookup) = self.traffic.lookup(from) else { return 1.0 };
                let table = &self.program.tables[*table];
                let default = self.inputs.occupancy.default_action(table);
                let node = self.speculable(from);
                let shares: Vec<f64> =
                    (0..table.actions.len()).map(|at| share_to(lookup, next, at, default, to)).collect();
                let all: f64 = shares.iter().sum();
                let end = End::of(all > 0.0, *exit == Some(to));
                let part = |body: &[Statement]| Executions::of(body, node).speculable(end);
                let speculated = table.actions.iter().zip(&shares).map(|(action, share)| share * part(&action.body));
                if all > 0.0 { speculated.sum::<f64>() / all } else { 1.0 }
            }
            NodeKind::Branch { .. } | NodeKind::Buffer { .. } => 1.0,
        }
    }

    fn speculable(&self, node: NodeId) -> &Speculable {
        self.speculable_cache[node_index(node)].get_or_init(|| Speculable::of(self.program, node))
    }
}

/// Share of a lookup's packets that run this action and go on at `to`.
/// Where hit and miss part, the default action runs for misses and, if entries have it, for hits as well:
/// `missed` is the part of its share that misses are.
fn share_to(lookup: &LookupOutcomes, next: &Next, action: usize, default: usize, to: NodeId) -> f64 {
    let share = lookup.actions.get(action).copied().unwrap_or(0.0);
    match next {
        Next::Always(_) => share,
        Next::Hit { hit, miss } => {
            let missed = if action == default { (1.0 - lookup.hit).clamp(0.0, share) } else { 0.0 };
            (if *hit == to { share - missed } else { 0.0 }) + (if *miss == to { missed } else { 0.0 })
        }
        Next::Actions { cases, otherwise } => {
            let case = cases.iter().find(|(case, _)| *case as usize == action);
            if case.map_or(*otherwise, |(_, node)| *node) == to { share } else { 0.0 }
        }
    }
}

/// Where an execution of statements ends.
#[derive(Clone, Copy)]
enum End {
    Through,
    Exit,
}

impl End {
    /// That of packets that go on to a node: by `exit` only where nothing else leads there.
    fn of(through: bool, exit: bool) -> End {
        if exit && !through { End::Exit } else { End::Through }
    }
}

/// Of the executions of statements, those that end in one way, and those of them that can run speculatively.
#[derive(Clone, Copy, Default)]
struct Share {
    all: f64,
    speculable: f64,
}

impl Share {
    const WHOLE: Share = Share { all: 1.0, speculable: 1.0 };

    fn times(self, other: Share) -> Share {
        Share { all: self.all * other.all, speculable: self.speculable * other.speculable }
    }

    fn plus(self, other: Share) -> Share {
        Share { all: self.all + other.all, speculable: self.speculable + other.speculable }
    }

    fn half(self) -> Share {
        self.times(Share { all: 0.5, speculable: 0.5 })
    }
}

/// The executions of statements by their ends; both arms of an `if` count as equally likely. An arm that ends with
/// `exit`, as one that drops, does not count for packets that go on: none of them has run it.
#[derive(Clone, Copy)]
struct Executions {
    through: Share,
    exit: Share,
}

impl Executions {
    fn of(body: &[Statement], node: &Speculable) -> Executions {
        let mut ends = Executions { through: Share::WHOLE, exit: Share::default() };
        for statement in body {
            let inner = Executions::of_one(statement, node);
            ends.exit = ends.exit.plus(ends.through.times(inner.exit));
            ends.through = ends.through.times(inner.through);
        }
        ends
    }

    fn of_one(statement: &Statement, node: &Speculable) -> Executions {
        let through = |through| Executions { through, exit: Share::default() };
        if effects::speculation(statement, node) == Speculation::SideEffect {
            through(Share { all: 1.0, speculable: 0.0 })
        } else if let Statement::If { then, otherwise, .. } = statement {
            let arms = [Executions::of(then, node), Executions::of(otherwise, node)];
            let both = |end: fn(&Executions) -> Share| end(&arms[0]).plus(end(&arms[1])).half();
            Executions { through: both(|arm| arm.through), exit: both(|arm| arm.exit) }
        } else if let Statement::Scope { body, .. } = statement {
            Executions::of(body, node)
        } else if matches!(statement, Statement::Exit) {
            Executions { through: Share::default(), exit: Share::WHOLE }
        } else {
            through(Share::WHOLE)
        }
    }

    /// Of the executions that end so, the share that can run speculatively; none, if none ends so.
    fn speculable(&self, end: End) -> f64 {
        let Share { all, speculable } = match end {
            End::Through => self.through,
            End::Exit => self.exit,
        };
        if all > 0.0 { speculable / all } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inputs;
    use crate::analyze::Traffic;
    use hlir::text::parse_file;

    /// A label is swapped, popped, or kept. Swap and pop change the packet, and pop leads elsewhere.
    const LABELS: &str = "\
program labels for none

header h: label_t { label: 20, rest: 12 }
variable x: 8

table labels {
  key h.label: exact
  action swap(label: 20) { h.label = label }
  action pop() { invalidate h }
  action same() { x = 1 }
  default same()
}

entry arms

node arms: block {
  x = 1
  if x == 2 { h.label = 3 }
} -> labels

node labels: apply labels -> { pop -> popped, otherwise -> queue }

node popped: block { h.rest = 4 } -> last

node last: block { h.label = u20(h.rest) } -> queue

node queue: buffer { send 32w1 }
";

    #[test]
    fn writes_that_the_packet_reads_again_are_not_speculated() {
        let parsed = parse_file(LABELS).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let inputs = Inputs::default();
        let traffic = Traffic::estimate(&parsed.program, &inputs);
        let model = Model::new(&parsed.program, &inputs, &traffic);
        let node = |name: &str| parsed.program.nodes.iter().find(|(_, node)| node.name == name).expect("it is there").0;
        let share = |from: &str, to: &str| model.speculable_share(node(from), node(to));
        assert_eq!((share("arms", "labels"), share("labels", "popped"), share("popped", "last")), (0.5, 0.0, 0.0));
        assert_eq!(share("last", "queue"), 1.0, "nothing reads the label that it writes");
        assert_eq!(share("labels", "queue"), 1.0, "nothing reads the label that an action writes");
        // By hit and miss: some packets of the default action have missed.
        let lookup = LookupOutcomes { hit: 0.75, actions: vec![0.5, 0.5] };
        let next = Next::Hit { hit: node("popped"), miss: node("queue") };
        let share_to = |action, to| share_to(&lookup, &next, action, 1, node(to));
        assert_eq!(
            (share_to(0, "popped"), share_to(0, "queue"), share_to(1, "popped"), share_to(1, "queue")),
            (0.5, 0.0, 0.25, 0.25)
        );
    }

    /// Packets that are wrong go to the host, behind a header of its own; the others go on.
    const CHECKS: &str = "\
program checks for none

header h: label_t { label: 20, rest: 12 }
header host: host_t { reason: 8 }
variable x: 8

entry checks

node checks: block {
  if h.label == 1 {
    validate host
    exit
  }
  if h.rest == 0 {
    x = 1
    if h.label == 2 {
      validate host
      exit
    }
  }
} -> queue exit gone

node gone: buffer { }

node queue: buffer { send 32w1 }
";

    #[test]
    fn packets_that_go_on_have_run_no_arm_that_ends_with_exit() {
        let parsed = parse_file(CHECKS).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let inputs = Inputs::default();
        let traffic = Traffic::estimate(&parsed.program, &inputs);
        let model = Model::new(&parsed.program, &inputs, &traffic);
        let node = |name: &str| parsed.program.nodes.iter().find(|(_, node)| node.name == name).expect("it is there").0;
        let share = |to: &str| model.speculable_share(node("checks"), node(to));
        assert_eq!((share("queue"), share("gone")), (1.0, 0.0));
    }
}
