//! What look-ups cost in arrays over all addresses, with what stands behind longer prefixes.

use super::Keyed;
use crate::inputs::covered::{self, Covered};
use crate::model::line::{Area, LINE_BYTES, Line, Place, SMALL_PAGE};

/// Operations that find a longer prefix's record in the line of its group (counted in the function's code).
const LONGER: f64 = 24.0;
/// Bytes of a table of links for each longer prefix: a slot of eight, of which half stay free, and several prefixes to a group.
const LINK_BYTES: u64 = 8;
/// Lines of an array over all addresses that a prefix covers beyond one, for each byte of an element: by the lengths of prefixes in a real routing table.
const MORE_LINES: f64 = 0.1;

impl Keyed {
    pub(super) fn dir24_8(&self, width: u64) -> (f64, Vec<Line>) {
        let mut lines = vec![Line { place: self.array(width), often: 1.0, abreast: 1.0 }];
        let escapes = self.long_prefixes as f64 / self.entries as f64;
        if self.bits > 24 && escapes > 0.0 {
            if width == 1 {
                lines.push(Line::alone(self.long_prefixes * LINK_BYTES, escapes));
            }
            lines.push(Line::alone(self.long_prefixes * LINE_BYTES, escapes));
        }
        (5.0 + LONGER * escapes, lines)
    }

    /// Where lines of an array over addresses lie that look-ups ask for: as counted, or as many as so many prefixes usually cover.
    fn array(&self, width: u64) -> Place {
        if let Some(covered) = &self.covered {
            let Covered { usual, rare } = covered[width.ilog2() as usize];
            let area = |lines: covered::Lines| Area { bytes: lines.lines * LINE_BYTES, span: lines.pages * SMALL_PAGE };
            return Place {
                usual: area(usual),
                rare: area(rare),
                rarely: if rare.lines > 0 { covered::RARELY } else { 0.0 },
            };
        }
        let array = (1u64 << self.bits.min(24)) * width;
        let lines_of_prefix = 1.0 + MORE_LINES * width as f64;
        let touched = (self.entries as f64 * lines_of_prefix * LINE_BYTES as f64) as u64;
        Place::even(Area::dense(array.min(touched).max(LINE_BYTES)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::MatchKind;
    use hlir::plan::Structure;

    #[test]
    fn longer_prefixes_need_a_line_more_and_with_entries_of_a_byte_a_link_before_it() {
        let lines = |structure: Structure, long_prefixes: u64| {
            let keys = vec![(MatchKind::Lpm, 32)];
            let entries = 1000;
            let routes =
                Keyed { keys, bits: 32, words: 1.0, entries, long_prefixes, covered: None, masks: 20, lanes: 8.0 };
            routes.look_up(structure).1.iter().map(|line| line.often).collect::<Vec<f64>>()
        };
        assert_eq!(lines(Structure::Dir24_8U8, 0), [1.0]);
        assert_eq!(lines(Structure::Dir24_8U8, 20), [1.0, 0.02, 0.02]);
        assert_eq!(lines(Structure::Dir24_8U16, 20), [1.0, 0.02]);
    }
}
