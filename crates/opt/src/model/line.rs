//! The lines of memory that a look-up reads: what waiting for memory is counted in.

pub const LINE_BYTES: u64 = 64;

/// Lines that are asked for alike, each as often as the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    pub bytes: u64,
    /// Bytes of the small pages on which they lie: more, where they do not lie side by side.
    pub span: u64,
}

impl Area {
    /// Lines side by side.
    pub fn dense(bytes: u64) -> Area {
        Area { bytes, span: bytes }
    }
}

/// Where the lines lie that look-ups ask for: evenly in one area, or most of the time in one, and else in another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    pub usual: Area,
    pub rare: Area,
    /// Of the look-ups, those that ask for a line of the rare area.
    pub rarely: f64,
}

impl Place {
    pub fn even(area: Area) -> Place {
        Place { usual: area, rare: area, rarely: 0.0 }
    }

    /// The areas, with what part of the look-ups asks for their lines.
    pub fn areas(self) -> impl Iterator<Item = (f64, Area)> {
        let both = [(1.0 - self.rarely, self.usual), (self.rarely, self.rare)];
        both.into_iter().filter(|(part, _)| *part > 0.0)
    }

    /// The same with other areas, in the order of `areas`.
    pub fn map(&self, mut area: impl FnMut(Area) -> Area) -> Place {
        if self.rarely <= 0.0 {
            return Place::even(area(self.usual));
        }
        Place { usual: area(self.usual), rare: area(self.rare), ..*self }
    }

    pub fn bytes(&self) -> u64 {
        self.areas().map(|(_, area)| area.bytes).sum()
    }
}

/// One line that a look-up reads, after those before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    pub place: Place,
    /// How often a look-up reads it.
    pub often: f64,
    /// How many such lines can be on their way at once for one look-up.
    pub abreast: f64,
}

impl Line {
    /// Of lines side by side, all asked for alike.
    pub fn alone(bytes: u64, often: f64) -> Line {
        Line { place: Place::even(Area::dense(bytes)), often, abreast: 1.0 }
    }

    /// The same, where a look-up reads several of them that do not need one another.
    pub fn abreast(bytes: u64, lines: f64) -> Line {
        Line { abreast: lines, ..Line::alone(bytes, lines) }
    }

    /// How many of them are on their way where so many look-ups are: few, if few look-ups need one.
    pub fn on_their_way(&self, look_ups: f64) -> f64 {
        (look_ups.max(1.0) * self.often.min(1.0)).max(1.0) * self.abreast
    }

    /// All bytes of such lines that look-ups for so many keys can touch.
    pub fn touched_by(&self, keys: u64) -> u64 {
        (keys as f64 * self.often.max(1.0) * LINE_BYTES as f64) as u64
    }

    /// The same where packets ask for no more than so many keys: for those that more ask for first.
    pub fn limited_to(self, keys: u64) -> Line {
        let most = self.touched_by(keys);
        let limited = |area: Area, most: u64| Area {
            bytes: area.bytes.min(most),
            span: area.span.min(most.saturating_mul(SMALL_PAGE / LINE_BYTES)),
        };
        let Place { usual, rare, rarely } = self.place;
        let place = match most.saturating_sub(usual.bytes) {
            0 => Place::even(limited(usual, most)),
            left => Place { usual, rare: limited(rare, left), rarely },
        };
        Line { place, ..self }
    }
}

/// Bytes of the smallest page that a line may lie on.
pub const SMALL_PAGE: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_lines_that_few_look_ups_need_few_are_on_their_way() {
        let lines = |often, look_ups| Line::alone(640, often).on_their_way(look_ups);
        assert_eq!([lines(1.0, 32.0), lines(0.25, 32.0), lines(0.01, 32.0), lines(2.0, 32.0)], [32.0, 8.0, 1.0, 32.0]);
        assert_eq!(Line::abreast(640, 3.0).on_their_way(4.0), 12.0);
    }

    #[test]
    fn few_keys_touch_the_lines_that_more_ask_for() {
        let place = Place { usual: Area { bytes: 640, span: 40_960 }, rare: Area::dense(64_000), rarely: 0.1 };
        let line = Line { place, often: 1.0, abreast: 1.0 };
        assert_eq!(line.limited_to(3).place, Place::even(Area { bytes: 192, span: 12_288 }));
        assert_eq!(line.limited_to(12).place, Place { rare: Area { bytes: 128, span: 8192 }, ..place });
        assert_eq!(line.limited_to(1 << 20), line);
        assert_eq!(Line::alone(640, 1.0).limited_to(20), Line::alone(640, 1.0));
    }
}
