//! Data flow within a body of statements. Packets reach its end, its `exit`, or a parser's `reject`; each end
//! has its facts.

use super::facts::{Atoms, Facts, apply};
use hlir::{Expression, Statement};

/// Share of packets that fail a `verify`.
const FAILS_TEST: f64 = 0.01;
/// Share of packets that are shorter than the headers they claim to have.
const TOO_SHORT: f64 = 0.002;
/// Iterations of a loop that facts are followed through.
const ITERATIONS: usize = 2;

/// A share of the packets, with their facts.
#[derive(Clone, Debug)]
pub struct Mass {
    pub share: f64,
    pub facts: Facts,
}

/// The packets that leave a body, by the exit they take.
#[derive(Clone, Debug)]
pub struct Ends {
    pub through: Mass,
    pub exit: Mass,
    pub failed: Mass,
    left: Mass,
}

impl Mass {
    pub fn none(count: usize) -> Mass {
        Mass { share: 0.0, facts: vec![0.0; count] }
    }

    /// Merges `other` into this mass: shares add up, facts are averaged by share.
    pub fn add(&mut self, other: &Mass) {
        let sum = self.share + other.share;
        if sum > 0.0 && other.share > 0.0 {
            let (mine, theirs) = (self.share / sum, other.share / sum);
            for (fact, added) in self.facts.iter_mut().zip(&other.facts) {
                *fact = *fact * mine + added * theirs;
            }
        }
        self.share = sum;
    }

    fn scaled(&self, factor: f64) -> Mass {
        Mass { share: self.share * factor, facts: self.facts.clone() }
    }
}

/// Gives the probability of the first arm of an `if`. `None` leaves it to the facts.
pub type Judge<'j> = &'j dyn Fn(&Expression, &[Statement], &[Statement], &Facts) -> Option<f64>;

/// Follows `mass` through `body`.
pub fn run(atoms: &Atoms, body: &[Statement], mass: Mass, judge: Judge) -> Ends {
    let nothing = || Mass::none(mass.facts.len());
    let mut ends = Ends { exit: nothing(), failed: nothing(), left: nothing(), through: mass };
    for statement in body {
        if ends.through.share <= 0.0 {
            break;
        }
        step(atoms, statement, &mut ends, judge);
    }
    ends
}

fn step(atoms: &Atoms, statement: &Statement, ends: &mut Ends, judge: Judge) {
    apply(atoms, statement, &mut ends.through.facts);
    match statement {
        Statement::Exit => end(&mut ends.through, &mut ends.exit),
        Statement::Leave(_) => end(&mut ends.through, &mut ends.left),
        Statement::If { condition, then, otherwise } => choose(atoms, (condition, then, otherwise), ends, judge),
        Statement::Scope { body, .. } => {
            let inner = run(atoms, body, ends.through.clone(), judge);
            join(ends, inner);
        }
        Statement::Loop { body, .. } => {
            for _ in 0..ITERATIONS {
                let inner = run(atoms, body, ends.through.clone(), judge);
                join(ends, inner);
            }
        }
        Statement::Extract { .. } | Statement::Advance(_) | Statement::Lookahead { .. } => fail(ends, TOO_SHORT),
        Statement::Verify { condition, .. } => {
            let holds = atoms.probability(condition, &ends.through.facts);
            fail(ends, (1.0 - holds).min(FAILS_TEST));
            atoms.assume(condition, true, &mut ends.through.facts);
        }
        Statement::Assign { .. }
        | Statement::SetValid(_)
        | Statement::SetInvalid(_)
        | Statement::CopyHeader { .. }
        | Statement::CopyVarbit { .. }
        | Statement::Emit(_)
        | Statement::Truncate(_)
        | Statement::Call(_) => {}
    }
}

/// Moves all packets of `from` to `to`.
fn end(from: &mut Mass, to: &mut Mass) {
    to.add(from);
    from.share = 0.0;
}

fn fail(ends: &mut Ends, share: f64) {
    ends.failed.add(&ends.through.scaled(share));
    ends.through.share *= 1.0 - share;
}

/// Merges the ends of an inner scope. Packets that left the scope go on after it.
fn join(ends: &mut Ends, inner: Ends) {
    ends.through = inner.through;
    ends.through.add(&inner.left);
    ends.exit.add(&inner.exit);
    ends.failed.add(&inner.failed);
}

fn choose(
    atoms: &Atoms,
    (condition, then, otherwise): (&Expression, &[Statement], &[Statement]),
    ends: &mut Ends,
    judge: Judge,
) {
    let facts = &ends.through.facts;
    let share = judge(condition, then, otherwise, facts).unwrap_or_else(|| atoms.probability(condition, facts));
    let before = ends.through.clone();
    ends.through.share = 0.0;
    for (arm, outcome, share) in [(then, true, share), (otherwise, false, 1.0 - share)] {
        if share <= 0.0 {
            continue;
        }
        let mut mass = before.scaled(share);
        atoms.assume(condition, outcome, &mut mass.facts);
        let inner = run(atoms, arm, mass, judge);
        ends.through.add(&inner.through);
        ends.exit.add(&inner.exit);
        ends.failed.add(&inner.failed);
        ends.left.add(&inner.left);
    }
}
