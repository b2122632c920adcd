//! The cache lines that a lookup reads: the unit in which memory stalls are counted.
//! An [`Area`] is what is touched (`B_i`), a [`Line`] how often (`f`), a [`Footprint`] how unevenly.

pub const LINE_BYTES: u64 = 64;

/// Lines that are accessed with equal frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    pub bytes: u64,
    /// Total size of the small pages that hold these lines: larger than `bytes` where lines are sparse.
    pub span: u64,
}

impl Area {
    /// Contiguous lines.
    pub fn dense(bytes: u64) -> Area {
        Area { bytes, span: bytes }
    }
}

/// Which lines lookups touch: one area evenly, or a hot area most of the time and a cold one otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Footprint {
    pub hot: Area,
    pub cold: Area,
    /// Share of the lookups that touch a cold line.
    pub cold_share: f64,
}

impl Footprint {
    pub fn even(area: Area) -> Footprint {
        Footprint { hot: area, cold: area, cold_share: 0.0 }
    }

    /// The areas, each with its share of the lookups.
    pub fn areas(self) -> impl Iterator<Item = (f64, Area)> {
        let both = [(1.0 - self.cold_share, self.hot), (self.cold_share, self.cold)];
        both.into_iter().filter(|(part, _)| *part > 0.0)
    }

    /// The same with other areas, in the order of `areas`.
    pub fn map(&self, mut area: impl FnMut(Area) -> Area) -> Footprint {
        if self.cold_share <= 0.0 {
            return Footprint::even(area(self.hot));
        }
        Footprint { hot: area(self.hot), cold: area(self.cold), ..*self }
    }

    pub fn bytes(&self) -> u64 {
        self.areas().map(|(_, area)| area.bytes).sum()
    }
}

/// A line that a lookup reads. Each needs the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    pub footprint: Footprint,
    /// Reads per lookup.
    pub frequency: f64,
    /// Memory-level parallelism within one lookup: how many such lines can be outstanding at once.
    pub parallel: f64,
}

impl Line {
    /// Contiguous lines, accessed evenly.
    pub fn single(bytes: u64, frequency: f64) -> Line {
        Line { footprint: Footprint::even(Area::dense(bytes)), frequency, parallel: 1.0 }
    }

    /// The same, where a lookup reads several independent lines.
    pub fn parallel(bytes: u64, lines: f64) -> Line {
        Line { parallel: lines, ..Line::single(bytes, lines) }
    }

    /// Outstanding lines of this kind with `look_ups` lookups in flight: few, if few lookups read one.
    pub fn outstanding(&self, look_ups: f64) -> f64 {
        (look_ups.max(1.0) * self.frequency.min(1.0)).max(1.0) * self.parallel
    }

    /// Upper bound of the bytes that lookups for so many keys touch.
    /// As if no two keys had a line in common: an upper bound, which only matters where keys are few.
    pub fn touched_by(&self, keys: u64) -> u64 {
        (keys as f64 * self.frequency.max(1.0) * LINE_BYTES as f64) as u64
    }

    /// The same lines where traffic has no more than `keys` distinct keys. The hot area is filled first.
    /// Each line of the limited area may be on a page of its own, hence the bound of the span.
    pub fn limited_to(self, keys: u64) -> Line {
        let most = self.touched_by(keys);
        let limited = |area: Area, most: u64| Area {
            bytes: area.bytes.min(most),
            span: area.span.min(most.saturating_mul(SMALL_PAGE / LINE_BYTES)),
        };
        let Footprint { hot, cold, cold_share } = self.footprint;
        let footprint = match most.saturating_sub(hot.bytes) {
            0 => Footprint::even(limited(hot, most)),
            left => Footprint { hot, cold: limited(cold, left), cold_share },
        };
        Line { footprint, ..self }
    }
}

/// Size of the smallest page.
pub const SMALL_PAGE: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_few_lookups_read_are_rarely_outstanding() {
        let lines = |frequency, look_ups| Line::single(640, frequency).outstanding(look_ups);
        assert_eq!([lines(1.0, 32.0), lines(0.25, 32.0), lines(0.01, 32.0), lines(2.0, 32.0)], [32.0, 8.0, 1.0, 32.0]);
        assert_eq!(Line::parallel(640, 3.0).outstanding(4.0), 12.0);
    }

    #[test]
    fn few_keys_touch_hot_lines_first() {
        let footprint =
            Footprint { hot: Area { bytes: 640, span: 40_960 }, cold: Area::dense(64_000), cold_share: 0.1 };
        let line = Line { footprint, frequency: 1.0, parallel: 1.0 };
        assert_eq!(line.limited_to(3).footprint, Footprint::even(Area { bytes: 192, span: 12_288 }));
        assert_eq!(line.limited_to(12).footprint, Footprint { cold: Area { bytes: 128, span: 8192 }, ..footprint });
        assert_eq!(line.limited_to(1 << 20), line);
        assert_eq!(Line::single(640, 1.0).limited_to(20), Line::single(640, 1.0));
    }
}
