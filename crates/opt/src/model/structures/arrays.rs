//! The cost of lookups in DIR-24-8 arrays and their extensions for long prefixes.
//! ```text
//! w_l = 5 + 24 · long / entries                    instructions: shift, load, compare; a long prefix's line
//! lines: first array, f = 1; links (one-byte entries) and groups, f = long / entries each
//! ```
//!
//! The array's bytes are not 2^24 entries, but what known prefixes cover: lookups touch no other line.

use super::{Cost, Keyed};
use crate::inputs::prefix_coverage::{COLD_SHARE, Coverage, LineCount};
use crate::model::cache_line::{Area, Footprint, LINE_BYTES, Line, SMALL_PAGE};

/// Operations that find a long prefix's record in the line of its group (counted in the code).
const LONGER: f64 = 24.0;
/// Bytes of the link table per long prefix: a slot of eight bytes at load 1/2, shared by several prefixes of
/// a group.
const LINK_BYTES: u64 = 8;
/// Additional lines that a prefix covers, per byte of an element: from the prefix lengths of a real routing
/// table.
const MORE_LINES: f64 = 0.1;

impl Keyed {
    pub(super) fn dir24_8(&self, width: u64) -> Cost {
        let mut lines = vec![Line { footprint: self.array(width), frequency: 1.0, parallel: 1.0 }];
        // Share of the lookups that a long prefix decides: as if all prefixes had equal traffic.
        let escapes = self.long_prefixes as f64 / self.entries as f64;
        if self.bits > 24 && escapes > 0.0 {
            if width == 1 {
                lines.push(Line::single(self.long_prefixes * LINK_BYTES, escapes));
            }
            lines.push(Line::single(self.long_prefixes * LINE_BYTES, escapes));
        }
        Cost::new(5.0 + LONGER * escapes, lines)
    }

    /// Small keys are ports, VLANs, next-hop numbers: mostly assigned in sequence, so that several share a line.
    pub(super) fn direct(&self) -> Cost {
        let array = 4u64 << self.bits.min(40);
        Cost::new(3.0, vec![Line::single(array.min(self.entries * LINE_BYTES / 4), 1.0)])
    }

    /// The footprint of the array: the counted coverage, or an estimate from the number of prefixes.
    fn array(&self, width: u64) -> Footprint {
        if let Some(coverage) = &self.coverage {
            let Coverage { hot, cold } = coverage[width.ilog2() as usize];
            let area = |lines: LineCount| Area { bytes: lines.lines * LINE_BYTES, span: lines.pages * SMALL_PAGE };
            return Footprint {
                hot: area(hot),
                cold: area(cold),
                cold_share: if cold.lines > 0 { COLD_SHARE } else { 0.0 },
            };
        }
        let array = (1u64 << self.bits.min(24)) * width;
        // Without counted coverage: each prefix touches a line, and wide entries spread it over more of them.
        let lines_of_prefix = 1.0 + MORE_LINES * width as f64;
        let touched = (self.entries as f64 * lines_of_prefix * LINE_BYTES as f64) as u64;
        Footprint::even(Area::dense(array.min(touched).max(LINE_BYTES)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::MatchKind;
    use hlir::plan::Structure;

    #[test]
    fn long_prefixes_read_another_line_and_a_link_with_one_byte_elements() {
        let lines = |structure: Structure, long_prefixes: u64| {
            let keys = vec![(MatchKind::Lpm, 32)];
            let entries = 1000;
            let routes = Keyed {
                keys,
                bits: 32,
                words: 1.0,
                entries,
                long_prefixes,
                coverage: None,
                masks: 20,
                limbs_per_vector: 8.0,
            };
            routes.cost(structure).lines.iter().map(|line| line.frequency).collect::<Vec<f64>>()
        };
        assert_eq!(lines(Structure::Dir24_8U8, 0), [1.0]);
        assert_eq!(lines(Structure::Dir24_8U8, 20), [1.0, 0.02, 0.02]);
        assert_eq!(lines(Structure::Dir24_8U16, 20), [1.0, 0.02]);
    }
}
