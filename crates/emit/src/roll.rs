//! Loops for what is written once for each element of an array: `roll` turns statements that differ only in the element into one in a loop.
//!
//! Three forms are known: statements one after the other, which become a loop; a chain of `if (at == 0) ... else if (at == 1) ...`, and one of
//! `at == 0 ? ... : at == 1 ? ...`, which become an access to element `at`. Only code that mentions elements of arrays (`stack.rs`) is changed.

mod atoms;

use crate::c::{Expr, Item, Stmt};
use atoms::{Alike, Rolled, alike};
use std::collections::BTreeSet;

/// Elements from which on a loop is shorter to read than its statements.
const SHORTEST: usize = 4;

/// Statements that belong to one element, at most.
const LONGEST_PERIOD: usize = 8;

/// Names of arrays, by which their elements are known.
pub type Arrays = BTreeSet<String>;

/// Rolls the code of all functions.
pub fn items(items: &mut [Item], arrays: &Arrays) {
    for item in items {
        if let Item::Function { body, .. } = item {
            roll(body, arrays);
        }
    }
}

fn roll(body: &mut Vec<Stmt>, arrays: &Arrays) {
    for statement in body.iter_mut() {
        statement.expressions_mut().into_iter().for_each(|value| values(value, arrays));
        if matches!(statement, Stmt::If { .. }) {
            choice(statement, arrays);
        } else {
            statement.bodies_mut().into_iter().for_each(|inner| roll(inner, arrays));
        }
    }
    sequences(body, arrays);
}

/// Statements one after the other.
fn sequences(body: &mut Vec<Stmt>, arrays: &Arrays) {
    if body.len() < SHORTEST {
        return;
    }
    let statements: Vec<Rolled> = body.iter().map(|statement| Rolled::statement(statement, arrays)).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < body.len() {
        match longest(&statements, at, arrays) {
            Some((period, count, found))
                if stays_inside(&body[at..at + period * count], &body[at + period * count..]) =>
            {
                let variable = fresh(&body[at..at + period]);
                let inner = found.rewritten(&body[at..at + period], &variable);
                out.push(Stmt::Count {
                    name: variable,
                    from: Expr::word(0),
                    to: Expr::word(count as u32),
                    step: Expr::word(1),
                    body: inner,
                });
                at += period * count;
            }
            _ => {
                out.push(body[at].clone());
                at += 1;
            }
        }
    }
    *body = out;
}

/// The most statements from a place on that are the same for one element after the other: how many belong to each, how many elements, how they differ.
fn longest(statements: &[Rolled], at: usize, arrays: &Arrays) -> Option<(usize, usize, Alike)> {
    let mut best: Option<(usize, usize, Alike)> = None;
    for period in 1..=LONGEST_PERIOD.min((statements.len() - at) / SHORTEST) {
        let group = |number: usize| statements.get(at + number * period..at + (number + 1) * period);
        let Some((first, second)) = group(0).zip(group(1)) else { break };
        let Some(found) = alike(first, second, arrays) else { continue };
        let mut count = 2;
        while group(count).is_some_and(|other| found.holds(first, other, count as u64)) {
            count += 1;
        }
        if count >= SHORTEST && best.as_ref().is_none_or(|(p, c, _)| p * c < period * count) {
            best = Some((period, count, found));
        }
    }
    best
}

/// Whether statements can be a loop's body: their declarations are local, and none of them jumps out or ends
/// a loop.
fn stays_inside(statements: &[Stmt], behind: &[Stmt]) -> bool {
    let name = |statement: &'_ Stmt| {
        let Stmt::Declare { name, .. } = statement else { return None };
        Some(name.split('[').next().unwrap_or(name).to_string())
    };
    let declared: Vec<String> = statements.iter().filter_map(name).collect();
    let is_free = |statement: &Stmt| !matches!(statement, Stmt::Label(_) | Stmt::Break);
    statements.iter().all(|statement| is_free(statement) && holds_no_label(statement))
        && declared.iter().all(|name| !behind.iter().any(|statement| statement.mentions(name)))
}

/// Whether a statement holds neither a label nor a `break` of something around it.
fn holds_no_label(statement: &Stmt) -> bool {
    let keeps_breaks = matches!(statement, Stmt::Switch { .. } | Stmt::While(..) | Stmt::Count { .. });
    statement.bodies().into_iter().flatten().all(|inner| {
        !matches!(inner, Stmt::Label(_)) && (keeps_breaks || *inner != Stmt::Break) && holds_no_label(inner)
    })
}

/// A name for the loop's variable: like other temporaries it ends in a number, which nothing that actions declare does.
fn fresh(statements: &[Stmt]) -> String {
    let mut known = Vec::new();
    statements.iter().for_each(|statement| atoms::names(statement, &mut known));
    let is_free = |name: &str| {
        !known.iter().any(|known| known == name) && !statements.iter().any(|statement| statement.mentions(name))
    };
    let names = (1..).map(|number| format!("element{number}"));
    names.into_iter().find(|name| is_free(name)).expect("one of any number of names is free")
}

/// The number that a condition compares a value with. Values have no effects, so one that is worked out less often is the same.
fn compared(condition: &Expr) -> Option<(&Expr, u64)> {
    let Expr::Binary("==", left, right) = condition else { return None };
    Some((left.as_ref(), right.number()?))
}

/// How many from the first of some conditions on compare one value with numbers that follow each other.
fn following<'c>(mut conditions: impl Iterator<Item = &'c Expr>) -> usize {
    let Some((value, first)) = conditions.next().and_then(compared) else { return 0 };
    let goes_on = |(place, condition): &(u64, &Expr)| compared(condition) == Some((value, first + place));
    1 + (1..).zip(conditions).take_while(goes_on).count()
}

/// `value` less a number.
fn less(value: &Expr, number: u64) -> Expr {
    if number == 0 { value.clone() } else { Expr::binary("-", value.clone(), Expr::word(number as u32)) }
}

/// A chain of statements.
fn choice(statement: &mut Stmt, arrays: &Arrays) {
    let mut arms: Vec<(Expr, Vec<Stmt>)> = Vec::new();
    let mut last = vec![std::mem::replace(statement, Stmt::Blank)];
    while let [Stmt::If { .. }] = last.as_slice() {
        let Some(Stmt::If { mut condition, mut then, otherwise }) = last.pop() else { break };
        values(&mut condition, arrays);
        roll(&mut then, arrays);
        arms.push((condition, then));
        last = otherwise;
    }
    roll(&mut last, arrays);
    let mut rolled = Vec::new();
    let mut at = 0;
    while at < arms.len() {
        match arms_alike(&arms[at..], arrays) {
            Some((count, found)) => {
                let (compared, first) = compared(&arms[at].0).expect("conditions that follow each other compare");
                let variable = fresh(&arms[at].1);
                let element = less(compared, first);
                let mut then = vec![Stmt::declare("const uint32_t", &variable, element.clone())];
                then.extend(found.rewritten(&arms[at].1, &variable));
                rolled.push((Expr::binary("<", element, Expr::word(count as u32)), then));
                at += count;
            }
            None => {
                rolled.push(arms[at].clone());
                at += 1;
            }
        }
    }
    let whole = rolled
        .into_iter()
        .rev()
        .fold(last, |otherwise, (condition, then)| vec![Stmt::If { condition, then, otherwise }]);
    *statement = whole.into_iter().next().unwrap_or(Stmt::Blank);
}

/// How many arms from the first on do the same to one element after the other, and how they differ.
fn arms_alike(arms: &[(Expr, Vec<Stmt>)], arrays: &Arrays) -> Option<(usize, Alike)> {
    let most = following(arms.iter().map(|(condition, _)| condition));
    if most < SHORTEST {
        return None;
    }
    let body = |number: usize| -> Vec<Rolled> {
        arms[number].1.iter().map(|statement| Rolled::statement(statement, arrays)).collect()
    };
    let first = body(0);
    let found = alike(&first, &body(1), arrays)?;
    let count = 2 + (2..most).take_while(|number| found.holds(&first, &body(*number), *number as u64)).count();
    (count >= SHORTEST).then_some((count, found))
}

fn values(value: &mut Expr, arrays: &Arrays) {
    if matches!(value, Expr::Conditional(..)) {
        choice_of_values(value, arrays);
    } else {
        value.operands_mut().into_iter().for_each(|operand| values(operand, arrays));
    }
}

/// A chain of values.
fn choice_of_values(value: &mut Expr, arrays: &Arrays) {
    let mut arms: Vec<(Expr, Expr)> = Vec::new();
    let mut last = std::mem::replace(value, Expr::word(0));
    while let Expr::Conditional(condition, then, otherwise) = last {
        let (mut condition, mut then) = (*condition, *then);
        values(&mut condition, arrays);
        values(&mut then, arrays);
        arms.push((condition, then));
        last = *otherwise;
    }
    values(&mut last, arrays);
    let mut rolled = Vec::new();
    let mut at = 0;
    while at < arms.len() {
        match values_alike(&arms[at..], arrays) {
            Some((count, found)) => {
                let (compared, first) = compared(&arms[at].0).expect("conditions that follow each other compare");
                let then = found.value_at(&arms[at].1, compared, first);
                rolled.push((Expr::binary("<", less(compared, first), Expr::word(count as u32)), then));
                at += count;
            }
            None => {
                rolled.push(arms[at].clone());
                at += 1;
            }
        }
    }
    *value = rolled
        .into_iter()
        .rev()
        .fold(last, |otherwise, (condition, then)| Expr::conditional(condition, then, otherwise));
}

fn values_alike(arms: &[(Expr, Expr)], arrays: &Arrays) -> Option<(usize, Alike)> {
    let most = following(arms.iter().map(|(condition, _)| condition));
    if most < SHORTEST {
        return None;
    }
    let value = |number: usize| [Rolled::value(&arms[number].1, arrays)];
    let first = value(0);
    let found = alike(&first, &value(1), arrays)?;
    let count = 2 + (2..most).take_while(|number| found.holds(&first, &value(*number), *number as u64)).count();
    (count >= SHORTEST).then_some((count, found))
}
