//! The lines of memory that a look-up reads: what waiting for memory is counted in.

pub const LINE_BYTES: u64 = 64;

/// One line that a look-up reads, after those before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Bytes among which it lies.
    pub bytes: u64,
    /// How often a look-up reads it.
    pub often: f64,
    /// How many such lines can be on their way at once for one look-up.
    pub abreast: f64,
}

impl Line {
    pub fn alone(bytes: u64, often: f64) -> Line {
        Line { bytes, often, abreast: 1.0 }
    }

    /// All bytes of such lines that look-ups for so many keys can touch.
    pub fn touched_by(&self, keys: u64) -> u64 {
        (keys as f64 * self.often.max(1.0) * LINE_BYTES as f64) as u64
    }
}
