//! The hot path: the trace that most packets follow.
//!
//! Traffic estimation merges facts at a join and forgets through which parser states a packet came. Along one
//! path the facts are certain: a packet has the headers of the states on the path and no others. This file
//! follows one path with its own facts.

use super::Traffic;
use super::branch_probabilities::{Estimator, LookupOutcomes, Outflow};
use super::drops::DropAnalysis;
use super::facts::{Atoms, Facts};
use super::flow::Mass;
use super::traffic::reverse_postorder;
use crate::Inputs;
use hlir::{NodeId, NodeKind, Program};
use std::collections::HashMap;

/// A share from here on counts as all packets, up to rounding.
const CERTAIN: f64 = 1.0 - 1e-9;

/// A share of the packets up to which none are left, up to rounding.
const LEAST_LEFT: f64 = 1e-6;

/// Follows the edge with most traffic from the entry, among the edges that the path's facts allow. Ends where
/// packets leave or the path would form a loop.
pub fn find(program: &Program, inputs: &Inputs, traffic: &Traffic) -> Vec<NodeId> {
    widest(program, inputs, &|from, to| traffic.edge(from, to))
}

/// The same for packets that leave all these paths.
pub fn next(program: &Program, inputs: &Inputs, traffic: &Traffic, before: &[Vec<NodeId>]) -> Vec<NodeId> {
    let mut taken: HashMap<(NodeId, NodeId), f64> = HashMap::new();
    for path in before {
        // What follows the path to its end, on each of its edges: others may share some of them.
        let whole: f64 = edge_shares(program, inputs, traffic, path).iter().product();
        path.windows(2).for_each(|pair| *taken.entry((pair[0], pair[1])).or_default() += whole);
    }
    let left = |from, to| {
        let rest = traffic.edge(from, to) - taken.get(&(from, to)).copied().unwrap_or(0.0);
        if rest > LEAST_LEFT { rest } else { 0.0 }
    };
    widest(program, inputs, &left)
}

fn widest(program: &Program, inputs: &Inputs, weight: &dyn Fn(NodeId, NodeId) -> f64) -> Vec<NodeId> {
    let mut path: Vec<NodeId> = program.entry.into_iter().collect();
    following(program, inputs, |follower| {
        while let Some(&here) = path.last() {
            let outflows = follower.outflows(here);
            let mut onward = program.nodes[here].own_successors();
            onward.retain(|next| !path.contains(next) && weight(here, *next) > 0.0);
            let is_possible = |next: &NodeId| share(&outflows, *next) > 0.0;
            if onward.iter().any(is_possible) {
                onward.retain(is_possible);
            }
            // The first of equals, so that equal programs have equal plans.
            let wider = |best, next| if weight(here, next) > weight(here, best) { next } else { best };
            let Some(next) = onward.into_iter().reduce(wider) else { break };
            follower.advance(&outflows, next);
            path.push(next);
        }
    });
    path
}

/// For each edge of a path, the share of the packets on the path that continue along it. It is 1 where the
/// facts decide a branch, else the share among all packets at the node.
pub fn edge_shares(program: &Program, inputs: &Inputs, traffic: &Traffic, path: &[NodeId]) -> Vec<f64> {
    let mut shares = Vec::new();
    following(program, inputs, |follower| {
        for pair in path.windows(2) {
            let outflows = follower.outflows(pair[0]);
            let of_all = traffic.edge(pair[0], pair[1]) / traffic.node(pair[0]).max(f64::MIN_POSITIVE);
            let is_test = matches!(program.nodes[pair[0]].kind, NodeKind::Branch { .. });
            let is_decided = is_test && share(&outflows, pair[1]) >= CERTAIN;
            shares.push(if is_decided { 1.0 } else { of_all.min(1.0) });
            follower.advance(&outflows, pair[1]);
        }
    });
    shares
}

fn share(outflows: &[Outflow], to: NodeId) -> f64 {
    outflows.iter().filter(|outflow| outflow.to == Some(to)).map(|outflow| outflow.mass.share).sum()
}

/// The packets that followed one path so far, with their facts.
struct Follower<'a, 'p> {
    estimator: Estimator<'a, 'p>,
    facts: Facts,
}

fn following(program: &Program, inputs: &Inputs, follow: impl FnOnce(&mut Follower)) {
    let Some(entry) = program.entry else { return };
    let (atoms, drops) = (Atoms::new(program), DropAnalysis::new(program, &reverse_postorder(program, entry)));
    // A profile counts single edges: like the estimate, it does not know by which path a packet came.
    let inputs = Inputs { profile: None, ..inputs.clone() };
    let estimator = Estimator { program, inputs: &inputs, atoms: &atoms, drops: &drops };
    follow(&mut Follower { facts: estimator.atoms.at_entry(), estimator });
}

impl Follower<'_, '_> {
    /// The outflows of these packets at a node.
    fn outflows(&self, here: NodeId) -> Vec<Outflow> {
        let mass = Mass { share: 1.0, facts: self.facts.clone() };
        self.estimator.distribute(here, mass, &mut LookupOutcomes::default())
    }

    /// Continues along the edge to `to`. The facts stay as they are if the estimate finds no packet there.
    fn advance(&mut self, outflows: &[Outflow], to: NodeId) {
        let mut arrived = Mass::none(self.facts.len());
        outflows.iter().filter(|outflow| outflow.to == Some(to)).for_each(|outflow| arrived.add(&outflow.mass));
        if arrived.share > 0.0 {
            self.facts = arrived.facts;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Profile;
    use hlir::text::parse_file;

    const FAMILIES: &str = "\
program families for none

header ethernet: ethernet_t { type: 16 }
header four: four_t { address: 32 }
header six: six_t { address: 128 }
variable error: 32

table fours {
  key four.address: exact
  action found() {}
  default found()
}

table sixes {
  key six.address: exact
  action found() {}
  default found()
}

parser parser { start start, accept check, reject check, error error }

entry start

node start: state of parser { extract ethernet } select ethernet.type {
  0x0800 -> four
  0x86dd -> six
  otherwise -> check
}

node four: state of parser { extract four } -> check
node six: state of parser { extract six } -> check
node check: branch !valid(six) -> other else sixes
node other: branch valid(four) -> fours else departure
node fours: apply fours -> departure
node sixes: apply sixes -> departure
node departure: buffer { send 32w1 }
";

    fn path_and_shares(profile: Option<&str>) -> (Vec<String>, Vec<f64>) {
        let program = parse_file(FAMILIES).expect("the example is HLIR").program;
        let profile = profile.map(|text| Profile::parse(text).expect("the example is a profile"));
        let inputs = Inputs { profile, ..Inputs::default() };
        let traffic = Traffic::estimate(&program, &inputs);
        let path = find(&program, &inputs, &traffic);
        let shares = edge_shares(&program, &inputs, &traffic, &path);
        (path.iter().map(|node| program.nodes[*node].name.clone()).collect(), shares)
    }

    #[test]
    fn packets_of_a_state_have_its_header() {
        let (path, shares) = path_and_shares(None);
        assert_eq!(path, ["start", "four", "check", "other", "fours", "departure"]);
        assert!(0.3 < shares[0] && shares[0] < 0.6, "{shares:?}");
        assert_eq!(shares[2..], [1.0, 1.0, 1.0], "{shares:?}");
    }

    #[test]
    fn the_next_path_is_that_of_the_packets_that_are_left() {
        let counts = "600 start -> six\n300 start -> four\n100 start -> check\n600 six -> check\n300 four -> check\n\
                      400 check -> other\n600 check -> sixes\n300 other -> fours\n100 other -> departure\n\
                      300 fours -> departure\n600 sixes -> departure\n";
        let program = parse_file(FAMILIES).expect("the example is HLIR").program;
        let profile = Profile::parse(counts).expect("the example is a profile");
        let inputs = Inputs { profile: Some(profile), ..Inputs::default() };
        let traffic = Traffic::estimate(&program, &inputs);
        let mut paths = vec![find(&program, &inputs, &traffic)];
        for _ in 0..2 {
            paths.push(next(&program, &inputs, &traffic, &paths));
        }
        let names = |path: &Vec<NodeId>| path.iter().map(|node| program.nodes[*node].name.as_str()).collect::<Vec<_>>();
        let names: Vec<Vec<&str>> = paths.iter().map(names).collect();
        assert_eq!(names[0], ["start", "six", "check", "sixes", "departure"]);
        assert_eq!(names[1], ["start", "four", "check", "other", "fours", "departure"]);
        assert_eq!(names[2], ["start", "check", "other", "departure"]);
    }

    #[test]
    fn a_profile_of_edges_forgets_paths_at_a_join() {
        let counts = "600 start -> six\n400 start -> four\n600 six -> check\n400 four -> check\n400 check -> other\n600 check -> sixes\n\
                      400 other -> fours\n400 fours -> departure\n600 sixes -> departure\n";
        let (path, shares) = path_and_shares(Some(counts));
        assert_eq!(path, ["start", "six", "check", "sixes", "departure"]);
        assert_eq!(shares, [0.6, 1.0, 1.0, 1.0]);
    }
}
