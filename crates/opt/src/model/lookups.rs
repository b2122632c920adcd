//! The lookups of a program whose tables have structures, in classes that cost the same.
//!
//! Programs with hundreds of tables have few classes. What a class costs is computed once, however many lookups it has and
//! however many plans are compared; a plan's cost is that of the classes, and the change that its stages make.

use super::cache_line::{Area, Footprint};
use super::memory::{Touched, working_sets};
use super::stalls::RobWindow;
use super::structures::Shape;
use super::{Execution, Model, Planned};
use crate::analyze::drops::node_index;
use crate::inputs::Access;
use hlir::plan::Structure;
use hlir::{NodeId, Plan, TableId};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

/// A lookup of the program, with its table's shape under a plan.
#[derive(Clone)]
pub struct Lookup {
    pub node: NodeId,
    pub table: TableId,
    pub shape: Rc<Shape>,
    pub share: f64,
    /// By line: its areas, each with its effective working set.
    pub working_sets: Rc<[Footprint]>,
    /// Its number among the classes.
    pub(super) class: usize,
}

/// What the cost of a lookup depends on.
#[derive(Clone)]
struct Kind {
    /// One for all that are equal.
    shape: Rc<Shape>,
    share: f64,
    /// Of the first line's area, the part that counts as this lookup's: both tables of a joint array touch the same lines.
    own: f64,
    /// A lookup of this kind.
    example: usize,
}

/// By shape, share, own part, and whether entries have records of their own.
type KindKey = (*const Shape, u64, u64, bool);

/// The kinds of a program's lookups, and how many there are of each.
pub struct Mix {
    kinds: Vec<Kind>,
    counts: Vec<usize>,
    numbers: HashMap<KindKey, usize>,
    /// By lookup: its kind.
    of: Vec<usize>,
}

/// The classes of lookups, each by one of them, with costs that do not depend on stages.
pub(super) struct Classes {
    pub(super) examples: Vec<Lookup>,
    pub(super) counts: Vec<usize>,
    window: RobWindow,
    /// By class: stall cycles packet by packet, beyond operations.
    unstaged: Vec<OnceCell<f64>>,
    /// Of first lines: by class, access, and lines in flight.
    first_lines: RefCell<HashMap<(usize, Access, u64), f64>>,
    /// Of lines without prefetch in a stage: by class, whether the first one has a prefetch, and packets per group.
    unprefetched: RefCell<HashMap<(usize, bool, u64), f64>>,
}

/// The lookups that packets make under plans with these structures, in order.
pub struct Lookups {
    all: Vec<Lookup>,
    /// By name of a table, its first lookup.
    tables: HashMap<String, usize>,
    pub(super) classes: Classes,
    /// Stall cycles of all lookups packet by packet, per packet.
    unstaged: OnceCell<f64>,
}

impl Deref for Lookups {
    type Target = [Lookup];

    fn deref(&self) -> &[Lookup] {
        &self.all
    }
}

impl Lookups {
    pub(super) fn unstaged_cycles(&self, model: &Model) -> f64 {
        let classes = &self.classes;
        let of_class =
            |(lookup, count): (&Lookup, &usize)| *count as f64 * lookup.share * classes.unstaged_stalls(model, lookup);
        *self.unstaged.get_or_init(|| classes.examples.iter().zip(&classes.counts).map(of_class).sum())
    }

    /// How many of them differ in cost.
    pub fn kinds(&self) -> usize {
        self.classes.examples.len()
    }

    /// The first lookup of a table.
    pub fn of_table(&self, name: &str) -> Option<&Lookup> {
        self.tables.get(name).map(|number| &self.all[*number])
    }
}

impl Classes {
    /// Stalls of a lookup packet by packet.
    pub(super) fn unstaged_stalls(&self, model: &Model, lookup: &Lookup) -> f64 {
        *self.unstaged[lookup.class].get_or_init(|| model.unstaged_stalls(lookup, &self.window))
    }

    /// Cycles of a lookup's first line beyond those of a line in L1.
    pub(super) fn first_line(&self, model: &Model, lookup: &Lookup, access: Access, in_flight: f64) -> f64 {
        let key = (lookup.class, access, in_flight.to_bits());
        if let Some(cycles) = self.first_lines.borrow().get(&key) {
            return *cycles;
        }
        model.count_cost();
        let cycles = model.memory().beyond_l1(access, &super::stalls::first(lookup), in_flight);
        self.first_lines.borrow_mut().insert(key, cycles);
        cycles
    }

    /// Stalls of a staged lookup's lines that have no prefetch.
    pub(super) fn unprefetched(
        &self,
        (lookup, prefetched, group): (&Lookup, bool, f64),
        cost: impl FnOnce() -> f64,
    ) -> f64 {
        let key = (lookup.class, prefetched, group.to_bits());
        if let Some(cycles) = self.unprefetched.borrow().get(&key) {
            return *cycles;
        }
        let cycles = cost();
        self.unprefetched.borrow_mut().insert(key, cycles);
        cycles
    }
}

impl Mix {
    fn add(&mut self, kind: Kind, has_own_records: bool) -> usize {
        let key = (Rc::as_ptr(&kind.shape), kind.share.to_bits(), kind.own.to_bits(), has_own_records);
        let number = *self.numbers.entry(key).or_insert(self.kinds.len());
        if number == self.kinds.len() {
            self.kinds.push(kind);
            self.counts.push(0);
        }
        self.counts[number] += 1;
        number
    }
}

impl<'a> Model<'a> {
    /// All lookups that packets make, in order.
    pub fn lookups(&self, plan: &Plan) -> Rc<Lookups> {
        let wanted = self.planned(plan);
        if let Some((planned, lookups)) = &*self.lookup_cache.borrow()
            && *planned == wanted
        {
            return lookups.clone();
        }
        let lookups = Rc::new(self.classified(&self.mix_of(&wanted)));
        *self.lookup_cache.borrow_mut() = Some((wanted, lookups.clone()));
        lookups
    }

    /// The kinds of lookups under a plan.
    pub fn mix(&self, plan: &Plan) -> Mix {
        self.mix_of(&self.planned(plan))
    }

    /// What a plan decides about the table of each lookup.
    fn planned(&self, plan: &Plan) -> Vec<Planned> {
        let planned: HashMap<&str, Structure> =
            plan.tables.iter().rev().map(|planned| (planned.table.as_str(), planned.structure)).collect();
        let structure = |table: TableId| {
            let planned = planned.get(self.program.tables[table].name.as_str());
            planned.copied().unwrap_or_else(|| Structure::of_keys(&self.program.held_keys(table)))
        };
        self.applied.iter().map(|(_, table)| (structure(*table), self.partner(plan, *table))).collect()
    }

    /// The other table of a joint array.
    pub(crate) fn partner(&self, plan: &Plan, table: TableId) -> Option<TableId> {
        let name = &self.program.tables[table].name;
        let share = plan.joint_of(name)?;
        let other = if share.secondary == *name { &share.primary } else { &share.secondary };
        self.program.tables.iter().find(|(_, table)| table.name == *other).map(|(id, _)| id)
    }

    fn mix_of(&self, planned: &[Planned]) -> Mix {
        let mut mix = Mix { kinds: Vec::new(), counts: Vec::new(), numbers: HashMap::new(), of: Vec::new() };
        for (at, planned) in planned.iter().enumerate() {
            let (kind, own_records) = self.kind(at, *planned);
            let number = mix.add(kind, own_records);
            mix.of.push(number);
        }
        mix
    }

    fn kind(&self, at: usize, planned: Planned) -> (Kind, bool) {
        let (node, table) = self.applied[at];
        let share = self.traffic.node(node);
        // Both tables of a joint array touch the same lines. For the working sets it is divided between them in
        // proportion to their frequencies: then both parts have the same rate, and their sum is the array.
        let shares = |table: TableId| {
            let its = self.applied.iter().filter(move |(_, other)| *other == table);
            its.map(|(node, _)| self.traffic.node(*node))
        };
        let all = |partner: TableId| shares(table).chain(shares(partner)).sum::<f64>();
        let own = planned.1.map_or(1.0, |partner| share / all(partner).max(f64::MIN_POSITIVE));
        let kind = Kind { shape: self.shape(table, planned), share, own, example: at };
        (kind, self.program.has_own_records(table))
    }

    /// Gives a table another structure. Its partner in a joint array stays.
    pub fn set_structure(&self, mix: &mut Mix, table: TableId, planned: Planned) {
        for at in self.lookups_in(table) {
            mix.counts[mix.of[at]] -= 1;
            let (kind, own_records) = self.kind(at, planned);
            mix.of[at] = mix.add(kind, own_records);
        }
    }

    /// The numbers of a table's lookups.
    fn lookups_in(&self, table: TableId) -> impl Iterator<Item = usize> + '_ {
        let its = self.applied.iter().enumerate().filter(move |(_, (_, other))| *other == table);
        its.map(|(at, _)| at)
    }

    /// Cycles of all lookups per packet, operations and stalls, and those of one table's.
    pub fn lookup_cycles(&self, mix: &Mix, execution: Execution, table: TableId) -> (f64, f64) {
        self.count_evaluation();
        let (classes, numbers) = self.classes_of(mix);
        let costs: Vec<f64> = classes
            .examples
            .iter()
            .map(|lookup| {
                let stalls = match execution {
                    Execution::PacketByPacket => classes.unstaged_stalls(self, lookup),
                    Execution::MaybeStaged => self.best_stalls(lookup, &classes),
                };
                lookup.share * (lookup.shape.operations * self.operation() + stalls)
            })
            .collect();
        let all = costs.iter().zip(&classes.counts).map(|(cycles, count)| cycles * *count as f64).sum();
        let own = self.lookups_in(table).filter_map(|at| numbers[mix.of[at]]).map(|class| costs[class]).sum();
        (all, own)
    }

    fn classified(&self, mix: &Mix) -> Lookups {
        let (classes, numbers) = self.classes_of(mix);
        let lookup = |(at, (node, table)): (usize, &(NodeId, TableId))| {
            let class = numbers[mix.of[at]].expect("a kind with a lookup is a class");
            Lookup { node: *node, table: *table, ..classes.examples[class].clone() }
        };
        let all: Vec<Lookup> = self.applied.iter().enumerate().map(lookup).collect();
        let name = |(at, (_, table)): (usize, &(NodeId, TableId))| (self.program.tables[*table].name.clone(), at);
        let tables = self.applied.iter().enumerate().rev().map(name).collect();
        Lookups { all, tables, classes, unstaged: OnceCell::new() }
    }

    /// The kinds that have lookups, as classes; and by kind, its class.
    fn classes_of(&self, mix: &Mix) -> (Classes, Vec<Option<usize>>) {
        let mut numbers = vec![None; mix.kinds.len()];
        let (mut examples, mut counts, mut touched) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (kind, count)) in
            mix.kinds.iter().zip(&mix.counts).enumerate().filter(|(_, (_, count))| **count > 0)
        {
            numbers[number] = Some(examples.len());
            touched.extend(touched_by(kind, *count));
            let (node, table) = self.applied[kind.example];
            let (shape, share) = (kind.shape.clone(), kind.share);
            examples.push(Lookup { node, table, shape, share, working_sets: Rc::new([]), class: examples.len() });
            counts.push(*count);
        }
        // Packets from memory are read once each: an area like a table, which takes cache from the others.
        touched.extend(self.inputs.ports.stream.map(Touched::of_stream));
        let mut sets = working_sets(&touched).into_iter();
        for lookup in &mut examples {
            let mut among = |area: Area| {
                let bytes = sets.next().expect("each area has a working set");
                // What is touched in between lies on other pages.
                Area { bytes, span: area.span + bytes.saturating_sub(area.bytes) }
            };
            lookup.working_sets = lookup.shape.lines.iter().map(|line| line.footprint.map(&mut among)).collect();
        }
        let window = self.rob_window(&examples, &counts);
        let unstaged = vec![OnceCell::new(); examples.len()];
        let (first_lines, unprefetched) = (RefCell::default(), RefCell::default());
        (Classes { examples, counts, window, unstaged, first_lines, unprefetched }, numbers)
    }

    /// The number of the lookup at a node.
    pub(super) fn lookup_at(&self, node: NodeId) -> Option<usize> {
        self.lookup_of[node_index(node)]
    }

    /// Counts a plan that is evaluated.
    pub(super) fn count_evaluation(&self) {
        self.evaluations.set(self.evaluations.get() + 1);
    }

    /// Counts a cost of a lookup that is computed.
    pub(super) fn count_cost(&self) {
        self.costs.set(self.costs.get() + 1);
    }

    /// How many costs of lookups were computed: the effort of all planners.
    pub fn costs(&self) -> usize {
        self.costs.get()
    }
}

/// The areas that so many lookups of a kind touch: areas of one rate count as one of their total size.
fn touched_by(kind: &Kind, count: usize) -> impl Iterator<Item = Touched> + '_ {
    let parts = std::iter::once(kind.own).chain(std::iter::repeat(1.0));
    kind.shape.lines.iter().zip(parts).flat_map(move |(line, own)| {
        let bytes = move |area: Area| (area.bytes as f64 * own) as u64;
        let frequency = line.frequency * kind.share;
        line.footprint.areas().map(move |(part, area)| Touched {
            bytes: bytes(area),
            frequency: frequency * part,
            count,
        })
    })
}
