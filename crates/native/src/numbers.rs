//! Where a pipeline has the program's objects: found by their names once, when it begins, and by ids from then on.

use control::Refusal;
use hlir::crc::array_name;
use hlir::{CounterId, CrcId, MeterId, Program, RegisterId, TableId, ValueSetId};
use runtime::pipeline::{Description, Table};

/// See the module. Objects that the optimizer took away have no number.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    /// Of the program as its user wrote it.
    tables: Vec<Placed>,
    /// Of the program as it was compiled, joint tables among them.
    compiled: Vec<Placed>,
    value_sets: Vec<Option<usize>>,
    counters: Vec<Option<usize>>,
    meters: Vec<Option<usize>>,
    registers: Vec<Option<usize>>,
    /// Registers that hold the parameters of CRCs.
    crcs: Vec<Option<usize>>,
}

/// A table's number, and those of its actions.
#[derive(Clone, Debug)]
struct Placed {
    table: Option<usize>,
    actions: Vec<Option<usize>>,
}

fn index<T>(id: la_arena::Idx<T>) -> usize {
    id.into_raw().into_u32() as usize
}

/// The first of these names.
fn find<'n>(name: &str, mut names: impl Iterator<Item = &'n String>) -> Option<usize> {
    names.position(|other| other == name)
}

fn placed(declared: &hlir::Table, tables: &[Table]) -> Placed {
    let table = find(&declared.name, tables.iter().map(|table| &table.name));
    let actions = table.map_or(&[][..], |number| &tables[number].actions);
    let action = |action: &hlir::Action| find(&action.name, actions.iter().map(|action| &action.name));
    Placed { table, actions: declared.actions.iter().map(action).collect() }
}

impl Numbers {
    pub fn of((program, compiled): (&Program, &Program), of: &Description) -> Numbers {
        let tables = |program: &Program| program.tables.values().map(|table| placed(table, &of.tables)).collect();
        let counters = || of.counters.iter().map(|counter| &counter.name);
        let meters = || of.meters.iter().map(|meter| &meter.name);
        let registers = || of.registers.iter().map(|register| &register.name);
        let all_tables = || of.tables.iter().map(|table| &table.name);
        Numbers {
            tables: tables(program),
            compiled: tables(compiled),
            value_sets: program.value_sets.values().map(|set| find(&set.name, all_tables())).collect(),
            counters: program.counters.values().map(|counter| find(&counter.name, counters())).collect(),
            meters: program.meters.values().map(|meter| find(&meter.name, meters())).collect(),
            crcs: program.crcs.values().map(|crc| find(&array_name(&crc.name), registers())).collect(),
            registers: program.registers.values().map(|register| find(&register.name, registers())).collect(),
        }
    }

    pub fn table(&self, id: TableId) -> Option<usize> {
        self.tables[index(id)].table
    }

    pub fn action(&self, id: TableId, action: u32) -> Option<usize> {
        self.tables[index(id)].actions[action as usize]
    }

    /// A table of the compiled program.
    pub fn compiled_table(&self, id: TableId) -> Option<usize> {
        self.compiled[index(id)].table
    }

    pub fn compiled_action(&self, id: TableId, action: u32) -> Option<usize> {
        self.compiled[index(id)].actions[action as usize]
    }

    pub fn value_set(&self, id: ValueSetId) -> Option<usize> {
        self.value_sets[index(id)]
    }

    pub fn counter(&self, id: CounterId) -> Option<usize> {
        self.counters[index(id)]
    }

    pub fn meter(&self, id: MeterId) -> Option<usize> {
        self.meters[index(id)]
    }

    pub fn crc(&self, id: CrcId) -> Option<usize> {
        self.crcs[index(id)]
    }

    pub fn register(&self, id: RegisterId) -> Option<usize> {
        self.registers[index(id)]
    }
}

/// For what the pipeline does not have.
pub(super) fn has_no_effect(kind: &str, name: &str) -> Refusal {
    Refusal::wrong(format!("{kind} `{name}` has no effect: nothing uses it"))
}
