//! The numbers that p4c gives to a program's calculations: hashes as they are written, then the checksums that are updated, then
//! those that are verified. Controllers of BMv2 name a calculation by its number, whatever the order in which it is lowered.

use hlir::CrcId;

/// A hash or a checksum of the program.
#[derive(Debug)]
pub struct Calculation {
    pub part: Part,
    /// Where it is written.
    pub at: u32,
    /// If a controller can set its parameters.
    pub crc: Option<CrcId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Hash,
    Update,
    Verify,
}

/// The calculations whose parameters a controller can set, each with its number among all.
pub fn numbered(mut calculations: Vec<Calculation>) -> Vec<(usize, CrcId)> {
    // One that is lowered several times has a number for each.
    calculations.sort_by_key(|calculation| (calculation.part, calculation.at));
    calculations.iter().enumerate().filter_map(|(number, calculation)| Some((number, calculation.crc?))).collect()
}
