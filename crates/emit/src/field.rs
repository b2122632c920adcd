//! Fields of headers: each that a program touches gets a function to read it and one to write it, `ipv4_ttl` and `ipv4_set_ttl`.
//!
//! They take the header's first byte, so all instances of a type share them. How bytes make numbers is the runtime's business (`bits.h`).

use crate::body::{Body, word_type};
use crate::c::{Expr, Item, Stmt};
use crate::unit::{Unit, number};
use hlir::{FieldRef, HeaderId, Program};

/// The position of a field: `width` bits from bit `bit` on. After a varbit field, `bit` counts as if that one
/// were empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub bit: u32,
    pub width: u32,
    pub behind_varbit: bool,
}

impl Spot {
    pub fn of(program: &Program, field: FieldRef) -> Spot {
        let header = &program.headers[field.header];
        let index = field.field as usize;
        let fixed = header.fields[..index].iter().filter(|field| !field.varbit);
        Spot {
            bit: fixed.map(|field| field.width).sum(),
            width: header.fields[index].width,
            behind_varbit: header.varbit().is_some_and(|varbit| varbit < index),
        }
    }
}

/// An access to a field that some node makes: header (the first of its type), field number, and whether it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    header: u32,
    field: u32,
    writes: bool,
}

/// `width` ones.
pub fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// `width` bits from bit `offset` of the bytes at `pointer` on, of which `size` may be read.
pub fn load_bits(pointer: &Expr, offset: u32, width: u32, size: u32) -> Expr {
    let value = Expr::call("bits_load_in", [pointer.clone(), Expr::word(size), Expr::word(offset), Expr::word(width)]);
    if width <= 32 { Expr::cast("uint32_t", value) } else { value }
}

/// Whether a field follows another one of the same header directly.
pub fn follows(program: &Program, field: FieldRef, before: FieldRef) -> bool {
    let is_varbit = |field: FieldRef| program.headers[field.header].fields[field.field as usize].varbit;
    field.header == before.header && field.field == before.field + 1 && !is_varbit(field) && !is_varbit(before)
}

/// Bytes that lie side by side from a header's first one on, whatever its varbit field's length.
fn fixed_front(program: &Program, header: HeaderId) -> u32 {
    let header = &program.headers[header];
    let end = header.varbit().unwrap_or(header.fields.len());
    header.fields[..end].iter().map(|field| field.width).sum::<u32>() / 8
}

impl Body<'_, '_> {
    /// The header's pointer as accessors take it.
    fn base(&self, field: FieldRef, spot: Spot) -> Expr {
        let pointer = self.header(field.header);
        if !spot.behind_varbit {
            return pointer;
        }
        Expr::binary("+", pointer, Expr::binary("/", self.header_bits(field.header), Expr::word(8)))
    }

    /// A field of at most 64 bits.
    pub fn load(&mut self, field: FieldRef) -> Expr {
        let spot = Spot::of(self.program(), field);
        if spot.width == 0 {
            return Expr::word(0);
        }
        let name = self.unit.accessor(field, false);
        Expr::call(name, [self.base(field, spot)])
    }

    /// `width` bits, at most 64, from a field's bit `from` on, counted from its highest. They may extend into
    /// the next fields.
    pub fn load_from(&mut self, field: FieldRef, from: u32, width: u32) -> Expr {
        let spot = Spot::of(self.program(), field);
        if from == 0 && width == spot.width {
            return self.load(field);
        }
        let base = self.base(field, spot);
        let size = if spot.behind_varbit { 0 } else { fixed_front(self.program(), field.header) };
        load_bits(&base, spot.bit + from, width, size)
    }

    /// Reads a field of more than 64 bits into an array.
    pub fn load_wide(&mut self, field: FieldRef, array: Expr) {
        let spot = Spot::of(self.program(), field);
        let name = self.unit.accessor(field, false);
        let base = self.base(field, spot);
        self.push(Stmt::call(name, [base, array]));
    }

    /// Writes a value, or an array of limbs.
    pub fn store(&mut self, field: FieldRef, value: Expr) {
        let spot = Spot::of(self.program(), field);
        if spot.width == 0 {
            return;
        }
        let name = self.unit.accessor(field, true);
        let base = self.base(field, spot);
        self.push(Stmt::call(name, [base, value]));
    }
}

impl Unit<'_> {
    /// The name of the function for this access, which will be in the file.
    fn accessor(&self, field: FieldRef, writes: bool) -> String {
        let header = self.representative(field.header);
        let access = Access { header, field: field.field, writes };
        self.accesses.borrow_mut().insert(access);
        self.access_name(access)
    }

    /// The first header of the same type.
    fn representative(&self, header: HeaderId) -> u32 {
        let wanted = &self.program.headers[header];
        let same = |(_, other): &(HeaderId, &hlir::Header)| {
            other.type_name == wanted.type_name && other.fields == wanted.fields
        };
        self.program.headers.iter().find(same).map_or(number(header), |(id, _)| number(id)) as u32
    }

    fn access_name(&self, access: Access) -> String {
        let fields = &self.names.fields[access.header as usize];
        let (read, write) = &fields[access.field as usize];
        if access.writes { write.clone() } else { read.clone() }
    }

    /// The functions of all accesses.
    pub fn access_items(&self) -> Vec<Item> {
        let accesses = self.accesses.borrow();
        if accesses.is_empty() {
            return Vec::new();
        }
        let about =
            "Fields of headers: the bytes that a read may load, the field's first bit, and its bits.".to_string();
        let items = accesses.iter().map(|access| self.access_item(*access));
        std::iter::once(Item::Comment(about)).chain(items).chain([Item::Blank]).collect()
    }

    /// Whether a field is written with the word of 16 bits around it: a checksum reads that word next, and a load does
    /// not wait for a store of the same bytes.
    pub fn stores_words(&self, header: HeaderId, spot: Spot) -> bool {
        let last = spot.bit + spot.width.max(1) - 1;
        let is_part = spot.width < 16 && spot.bit / 16 == last / 16 && !spot.behind_varbit;
        let fits = last / 16 * 2 + 2 <= fixed_front(self.program, header);
        let is_summed = |summed: &usize| self.representative_of(*summed) == Some(self.representative(header));
        is_part && fits && self.facts.summed.iter().any(is_summed)
    }

    fn representative_of(&self, header: usize) -> Option<u32> {
        let found = self.program.headers.iter().map(|(id, _)| id).nth(header);
        found.map(|header| self.representative(header))
    }

    fn access_item(&self, access: Access) -> Item {
        let header = self.program.headers.iter().map(|(id, _)| id).nth(access.header as usize);
        let header = header.expect("accesses are of headers of the program");
        let spot = Spot::of(self.program, FieldRef { header, field: access.field });
        let name = self.access_name(access);
        let kind = word_type(spot.width);
        let numbers = |numbers: &[u32]| numbers.iter().map(|number| Expr::word(*number)).collect::<Vec<_>>();
        let wide = spot.width > 64;
        let (by, numbers) = match (access.writes, wide) {
            (true, true) => ("FIELD_WRITE_WIDE", numbers(&[spot.bit, spot.width])),
            (false, true) => ("FIELD_READ_WIDE", numbers(&[spot.bit, spot.width])),
            (true, false) if self.stores_words(header, spot) => {
                ("FIELD_WRITE_IN_WORD", numbers(&[spot.bit, spot.width]))
            }
            (true, false) => ("FIELD_WRITE", numbers(&[spot.bit, spot.width])),
            (false, false) => {
                let size = if spot.behind_varbit { 0 } else { fixed_front(self.program, header) };
                ("FIELD_READ", numbers(&[size, spot.bit, spot.width]))
            }
        };
        let kind = (!wide).then(|| Expr::name(kind));
        Item::Defined { by, name, arguments: kind.into_iter().chain(numbers).collect() }
    }
}
