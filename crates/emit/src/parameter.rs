//! Parameters that an action only copies into the packet are stored in records in network order: no byte is
//! swapped, and neighbours, such as the two addresses of Ethernet, are copied at once.

use crate::body::Body;
use crate::c::{Expr, Stmt};
use crate::field::Spot;
use crate::unit::{Unit, expressions, number};
use hlir::{Expression, FieldRef, Place, Program, Statement, TableId};

/// A copy of a parameter into a field: numbers of the parameter, and the field.
struct Copy {
    parameter: usize,
    field: FieldRef,
    spot: Spot,
}

impl Copy {
    fn of(program: &Program, statement: &Statement) -> Option<Copy> {
        let Statement::Assign { target: Place::Field(field), value: Expression::Parameter(parameter) } = statement
        else {
            return None;
        };
        let spot = Spot::of(program, *field);
        let whole = spot.bit.is_multiple_of(8) && spot.width.is_multiple_of(8) && spot.width > 0;
        let copy = Copy { parameter: *parameter as usize, field: *field, spot };
        (whole && !spot.behind_varbit).then_some(copy)
    }

    fn bytes(&self) -> u32 {
        self.spot.width / 8
    }
}

impl Unit<'_> {
    /// Whether a parameter is stored in network order: the action copies it into fields of whole bytes, and
    /// does nothing else with it. Tables that packets insert into are excluded, since the data plane makes
    /// their records from numbers.
    pub fn in_bytes(&self, table: TableId, action: usize, parameter: usize) -> bool {
        let body = &self.program.tables[table].actions[action].body;
        let (mut copies, mut uses) = (0, 0);
        for statement in body {
            statement.walk(&mut |statement| {
                copies +=
                    usize::from(Copy::of(self.program, statement).is_some_and(|copy| copy.parameter == parameter));
                expressions(statement, &mut |whole| {
                    whole.walk(&mut |part| {
                        uses += usize::from(matches!(part, Expression::Parameter(used) if *used as usize == parameter));
                    });
                });
            });
        }
        copies > 0 && copies == uses && !self.learns(table)
    }
}

impl Body<'_, '_> {
    /// Writes the copies of parameters that `body` begins with, as one; how many statements those are.
    pub fn copy_parameters(&mut self, body: &[Statement]) -> usize {
        let Some((table, action)) = self.action else { return 0 };
        let program = self.program();
        let in_bytes = |copy: &Copy| self.unit.in_bytes(table, action, copy.parameter);
        let mut copies = body.iter().map_while(|statement| Copy::of(program, statement)).take_while(in_bytes);
        let Some(first) = copies.next() else { return 0 };
        let (mut count, mut bytes, mut last) = (1, first.bytes(), first.parameter);
        for next in copies {
            let adjoins = next.spot.bit == first.spot.bit + 8 * bytes && next.field.header == first.field.header;
            if !adjoins || next.parameter != last + 1 {
                break;
            }
            (count, bytes, last) = (count + 1, bytes + next.bytes(), next.parameter);
        }
        self.ensure(first.field.header);
        let from = self.parameter_bytes(table, action, first.parameter, count > 1);
        let mut to = self.header(first.field.header);
        if first.spot.bit > 0 {
            to = Expr::binary("+", to, Expr::word(first.spot.bit / 8));
        }
        // A masked store is not forwarded: loads from its sixteen bytes would wait until it is in the cache (10 cycles
        // of a router's packet that is summed next, Zen 5).
        let copy = if self.unit.reads_after(table) { "memcpy" } else { "bits_copy" };
        self.push(Stmt::call(copy, [to, from, Expr::word(bytes)]));
        count
    }

    /// The first byte of a parameter. `beyond`: the access extends past the parameter, so it is based on the
    /// record.
    fn parameter_bytes(&self, table: TableId, action: usize, parameter: usize, beyond: bool) -> Expr {
        let names = &self.unit.names;
        let (data, name) = (&names.actions[number(table)][action], &names.parameters[number(table)][action][parameter]);
        let record = self.unit.chosen(table);
        if !beyond {
            return Expr::Name(format!("{record}->{data}.{name}"));
        }
        let offset = format!("offsetof(struct {}_record, {data}.{name})", self.unit.table_name(table));
        Expr::binary("+", Expr::cast("const uint8_t *", Expr::name(record)), Expr::Name(offset))
    }
}
