//! Rates of meters, exact to a billionth of a packet or byte a second.
//!
//! P4Runtime has whole units a second, BMv2 a floating-point number of units a microsecond. A decimal fraction holds both: what a controller writes
//! is what it reads, and half a packet a second is a rate.

use std::fmt;

const BILLION: u128 = 1_000_000_000;

/// Decimal places of a billionth a second in units a microsecond.
const PLACES: usize = 15;

/// Packets or bytes a second, in billionths. At most `u64::MAX` whole ones and 999,999,999 billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rate(u128);

impl Rate {
    pub const LARGEST: Rate = Rate((1 << 64) * BILLION - 1);

    /// Whole units a second.
    pub const fn of_units(units: u64) -> Rate {
        Rate(units as u128 * BILLION)
    }

    /// Units a second and billionths of one; none for a whole one or more of these.
    pub fn new(units: u64, billionths: u32) -> Option<Rate> {
        (u128::from(billionths) < BILLION).then(|| Rate(u128::from(units) * BILLION + u128::from(billionths)))
    }

    /// Billionths of a unit a second; none above the largest rate.
    pub fn from_billionths(billionths: u128) -> Option<Rate> {
        (billionths <= Rate::LARGEST.0).then_some(Rate(billionths))
    }

    /// The rate that a decimal number of units a microsecond is nearest to; none for other text, and for a rate above the largest.
    pub fn parse_micros(text: &str) -> Option<Rate> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let places = format!("{fraction:0<width$}", width = PLACES + 1);
        let number: u128 = format!("{whole}{}", &places[..PLACES]).parse().ok()?;
        Rate::from_billionths(number.checked_add(u128::from(places.as_bytes()[PLACES] >= b'5'))?)
    }

    /// The rate of the shortest decimal number that is this floating-point number of units a microsecond; the largest rate for greater ones. None
    /// for a negative number, and for one that is not finite.
    pub fn from_micros(units: f64) -> Option<Rate> {
        let valid = units.is_finite() && units >= 0.0;
        valid.then(|| Rate::parse_micros(&format!("{}", units.abs())).unwrap_or(Rate::LARGEST))
    }

    /// Units a microsecond: the nearest floating-point number, which is that of [`Rate::from_micros`] if it had at most fifteen decimal places.
    pub fn per_micros(self) -> f64 {
        self.nearest(PLACES)
    }

    /// Units a second: the nearest floating-point number.
    pub fn per_second(self) -> f64 {
        self.nearest(9)
    }

    /// The floating-point number nearest to the billionths with so many decimal places.
    fn nearest(self, places: usize) -> f64 {
        let unit = 10u128.pow(places as u32);
        let text = format!("{}.{:0places$}", self.0 / unit, self.0 % unit);
        text.parse().expect("digits around a point are a number")
    }

    /// Whole units a second, without the fraction.
    pub const fn whole(self) -> u64 {
        (self.0 / BILLION) as u64
    }

    /// Billionths of a unit a second beside the whole ones.
    pub const fn fraction(self) -> u32 {
        (self.0 % BILLION) as u32
    }

    /// All of it, in billionths of a unit a second: 94 bits.
    pub const fn billionths(self) -> u128 {
        self.0
    }
}

/// Units a second, with as many decimal places as there are: `0.5`, `1000`.
impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:09}", self.fraction());
        match fraction.trim_end_matches('0') {
            "" => write!(out, "{}", self.whole()),
            digits => write!(out, "{}.{digits}", self.whole()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_a_microsecond_is_read_as_it_was_written() {
        for units in [0.0, 5e-7, 1e-7, 3.3e-7, 0.000_333_333_333_333, 0.5, 2.0, 1250.0, 50_000.123_456, 1e13, 1e-15] {
            assert_eq!(Rate::from_micros(units).map(Rate::per_micros), Some(units));
        }
        assert_eq!(Rate::from_micros(5e-7), Rate::new(0, 500_000_000));
        assert_eq!(Rate::from_micros(50_000.123_456), Some(Rate::of_units(50_000_123_456)));
        assert_eq!(Rate::from_micros(-0.0), Some(Rate::default()));
        assert_eq!(Rate::from_micros(1e300), Some(Rate::LARGEST));
        for wrong in [-1e-9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Rate::from_micros(wrong), None);
        }
    }

    #[test]
    fn text_is_rounded_to_the_nearest_billionth() {
        assert_eq!(Rate::parse_micros("0.0000000000000004"), Some(Rate::default()));
        assert_eq!(Rate::parse_micros("0.0000000000000005"), Rate::new(0, 1));
        assert_eq!(Rate::parse_micros("1.9999999999999999"), Some(Rate::of_units(2_000_000)));
        assert_eq!(Rate::parse_micros("18446744073709.551615999999999"), Some(Rate::LARGEST));
        for wrong in ["", ".", ".5", "1e3", "0x1", "+1", "-1", "1.2.3", "18446744073709.551616", &"9".repeat(60)] {
            assert_eq!(Rate::parse_micros(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_rate_is_written_in_units_a_second() {
        let written = |units, billionths| Rate::new(units, billionths).map(|rate| rate.to_string());
        assert_eq!(written(0, 500_000_000).as_deref(), Some("0.5"));
        assert_eq!(written(1000, 0).as_deref(), Some("1000"));
        assert_eq!(written(u64::MAX, 1).as_deref(), Some("18446744073709551615.000000001"));
        assert_eq!(written(0, 1_000_000_000), None);
    }
}
