//! What ports are in the program: how many bits a port has, and the type by which controllers name one.

use super::translation::{Dictionaries, Reading};
use hlir::interface::SourceAction;
use hlir::{Effect, Expression, Intrinsic, NodeKind, Place, PortNumbers, Program, Statement};
use std::collections::HashSet;

/// The port to which PSA programs send what is to be recirculated (P4Runtime 1.5, 18.1.1).
const RECIRCULATE: u32 = 0xffff_fffa;

/// Ports as controllers write them.
#[derive(Clone, Debug)]
pub struct PortSchema {
    pub width: u32,
    pub numbers: PortNumbers,
    pub reading: Reading,
    /// A number that is no port of the switch, and means something to the program.
    pub recirculation: Option<u32>,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Spot<'p> {
    Place(Place),
    /// A parameter of an action.
    Parameter(&'p str, u32),
    /// The port that a packet came in on, that it leaves by, or that a copy is for.
    Port,
}

impl PortSchema {
    pub fn of(program: &Program, dictionaries: &Dictionaries) -> PortSchema {
        let numbers = program.port_numbers();
        let reading = type_of_ports(program, dictionaries).unwrap_or(Reading::Number);
        let recirculation = (program.architecture == "psa").then_some(RECIRCULATE);
        PortSchema { width: numbers.bits(), numbers, reading, recirculation }
    }
}

/// The type of texts that a key or a parameter has which holds a port. The port itself is a number in the program, so the type is found by what is
/// copied from and to ports.
fn type_of_ports(program: &Program, dictionaries: &Dictionaries) -> Option<Reading> {
    let ports = spots_of_ports(program);
    let interface = &program.interface;
    let parameters = interface.actions.iter().flat_map(|action| texts_of(action, dictionaries));
    let mut parameters = parameters.filter(|(spot, _)| ports.contains(spot));
    let keys = interface.tables.iter().flat_map(|source| {
        let table = program.tables.values().find(|table| table.name == source.name);
        let keys = table.map_or(&[][..], |table| &table.keys);
        source.keys.iter().zip(keys).map(|(source, key)| (spot_of(&key.value, ""), source.type_name.as_deref()))
    });
    let mut keys = keys.filter_map(|(spot, name)| Some((spot?, text(dictionaries, name)?)));
    let of_parameter = parameters.next().map(|(_, reading)| reading);
    of_parameter.or_else(|| keys.find(|(spot, _)| ports.contains(spot)).map(|(_, reading)| reading))
}

fn text(dictionaries: &Dictionaries, type_name: Option<&str>) -> Option<Reading> {
    Some(dictionaries.reading(type_name)).filter(|reading| matches!(reading, Reading::Text(_)))
}

fn texts_of<'p>(
    action: &'p SourceAction,
    dictionaries: &'p Dictionaries,
) -> impl Iterator<Item = (Spot<'p>, Reading)> + 'p {
    let texts = (0..).zip(&action.parameters);
    texts.filter_map(|(at, parameter)| {
        Some((Spot::Parameter(&action.name, at), text(dictionaries, parameter.type_name.as_deref())?))
    })
}

/// All that holds a port: copies are followed both ways until nothing is added.
fn spots_of_ports(program: &Program) -> HashSet<Spot<'_>> {
    let mut copies = Vec::new();
    for (_, node) in program.nodes.iter() {
        match &node.kind {
            NodeKind::State { body, .. } | NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => {
                collect(body, "", &mut copies);
            }
            NodeKind::Buffer { rules, .. } => rules.iter().for_each(|rule| collect_effect(&rule.effect, &mut copies)),
            NodeKind::Branch { .. } | NodeKind::Apply { .. } => {}
        }
    }
    for table in program.tables.values() {
        table.actions.iter().for_each(|action| collect(&action.body, &action.name, &mut copies));
    }
    let mut ports = HashSet::from([Spot::Port]);
    loop {
        let before = ports.len();
        for (one, other) in &copies {
            if ports.contains(one) || ports.contains(other) {
                ports.extend([*one, *other]);
            }
        }
        if ports.len() == before {
            return ports;
        }
    }
}

type Copies<'p> = Vec<(Spot<'p>, Spot<'p>)>;

fn collect<'p>(body: &'p [Statement], action: &'p str, copies: &mut Copies<'p>) {
    for statement in body {
        statement.walk(&mut |statement| {
            if let Statement::Assign { target, value } = statement {
                copies.extend(spot_of(value, action).map(|from| (from, Spot::Place(*target))));
            }
        });
    }
}

fn collect_effect<'p>(effect: &'p Effect, copies: &mut Copies<'p>) {
    let set = match effect {
        Effect::Send { port } => return copies.extend(spot_of(port, "").map(|from| (from, Spot::Port))),
        Effect::Unicast { set, .. } => set,
        Effect::Replicate { copy, .. }
        | Effect::Clone { copy, .. }
        | Effect::Resubmit { copy }
        | Effect::Recirculate { copy } => &copy.set,
        Effect::Drop { .. } | Effect::Punt { .. } => return,
    };
    copies.extend(set.iter().filter_map(|(to, value)| Some((spot_of(value, "")?, Spot::Place(*to)))));
}

/// The spot that an expression reads, in the width of either side.
fn spot_of<'p>(value: &Expression, action: &'p str) -> Option<Spot<'p>> {
    match value {
        Expression::Variable(variable) => Some(Spot::Place(Place::Variable(*variable))),
        Expression::Field(field) => Some(Spot::Place(Place::Field(*field))),
        Expression::Parameter(at) => Some(Spot::Parameter(action, *at)),
        Expression::Intrinsic(Intrinsic::IngressPort | Intrinsic::CopyPort) => Some(Spot::Port),
        Expression::Slice { operand, low: 0, .. } | Expression::Extend { operand, signed: false, .. } => {
            spot_of(operand, action)
        }
        Expression::Bool(_)
        | Expression::Constant { .. }
        | Expression::Valid(_)
        | Expression::Intrinsic(_)
        | Expression::Unary { .. }
        | Expression::Binary { .. }
        | Expression::Slice { .. }
        | Expression::Extend { .. }
        | Expression::Choose { .. }
        | Expression::FromBool(_)
        | Expression::VarbitLength(_)
        | Expression::VarbitEqual(..) => None,
    }
}
