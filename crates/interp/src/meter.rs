//! Two-rate three-colour meters (RFC 2698) in whole numbers, defined so that C computes the same.
//!
//! A meter has two buckets, committed and peak. Rates are billionths of a packet or byte a second, so tokens are billionths of billionths, 128 bits
//! wide: `rate * nanoseconds` is exact, and nothing is ever rounded. Bursts are packets or bytes.
//!
//! - Setting rates fills both buckets (`burst * 10^18`) and notes the time.
//! - A packet of cost `c` (1, or its bytes) first refills: `tokens = min(burst * 10^18, tokens + rate * (now - time))`, then `time = now`.
//! - Red if the packet was red or the peak bucket has less than `c * 10^18`; nothing is taken.
//! - Else yellow if it was yellow or the committed bucket has less than `c * 10^18`; the peak bucket pays.
//! - Else green; both buckets pay.
//!
//! Colour-blind is the same as a packet that was green. A colour above 2 counts as red.

use control::Rate;
use control::plane::MeterRates;

/// Tokens of a packet or byte.
const UNIT: u128 = 1_000_000_000_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    Green,
    Yellow,
    Red,
}

impl Colour {
    pub fn from_number(number: u64) -> Colour {
        match number {
            0 => Colour::Green,
            1 => Colour::Yellow,
            2.. => Colour::Red,
        }
    }

    pub fn number(self) -> u128 {
        match self {
            Colour::Green => 0,
            Colour::Yellow => 1,
            Colour::Red => 2,
        }
    }
}

/// One meter. Without rates every packet is green.
#[derive(Clone, Debug, Default)]
pub struct MeterElement(Option<Buckets>);

#[derive(Clone, Debug)]
struct Buckets {
    rates: MeterRates,
    committed: u128,
    peak: u128,
    time: u64,
}

fn refill(tokens: u128, rate: Rate, burst: u64, elapsed: u64) -> u128 {
    let gained = rate.billionths().saturating_mul(u128::from(elapsed));
    (u128::from(burst) * UNIT).min(tokens.saturating_add(gained))
}

impl MeterElement {
    pub fn new(rates: Option<MeterRates>, now: u64) -> MeterElement {
        MeterElement(rates.map(|rates| Buckets {
            rates,
            committed: u128::from(rates.committed_burst) * UNIT,
            peak: u128::from(rates.peak_burst) * UNIT,
            time: now,
        }))
    }

    pub fn rates(&self) -> Option<MeterRates> {
        self.0.as_ref().map(|buckets| buckets.rates)
    }

    /// Marks a packet that costs `cost` packets or bytes and came with the colour `before`.
    pub fn execute(&mut self, cost: u64, before: Colour, now: u64) -> Colour {
        let Some(buckets) = &mut self.0 else { return Colour::Green };
        let elapsed = now.saturating_sub(buckets.time);
        let rates = buckets.rates;
        buckets.time = now;
        buckets.committed = refill(buckets.committed, rates.committed_rate, rates.committed_burst, elapsed);
        buckets.peak = refill(buckets.peak, rates.peak_rate, rates.peak_burst, elapsed);
        let price = u128::from(cost) * UNIT;
        if before == Colour::Red || buckets.peak < price {
            return Colour::Red;
        }
        buckets.peak -= price;
        if before == Colour::Yellow || buckets.committed < price {
            return Colour::Yellow;
        }
        buckets.committed -= price;
        Colour::Green
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: MeterRates = MeterRates {
        committed_rate: Rate::of_units(1000),
        committed_burst: 2,
        peak_rate: Rate::of_units(2000),
        peak_burst: 4,
    };

    #[test]
    fn a_burst_is_green_then_yellow_then_red() {
        let mut element = MeterElement::new(Some(RATES), 0);
        let colours: Vec<u128> = (0..6).map(|_| element.execute(1, Colour::Green, 0).number()).collect();
        assert_eq!(colours, [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn time_refills_to_the_nanosecond() {
        let mut element = MeterElement::new(Some(RATES), 0);
        while element.execute(1, Colour::Green, 0) != Colour::Red {}
        assert_eq!(element.execute(1, Colour::Green, 499_999), Colour::Red);
        assert_eq!(element.execute(1, Colour::Green, 500_000), Colour::Yellow);
        assert_eq!(element.execute(1, Colour::Green, 999_999), Colour::Red);
        assert_eq!(element.execute(1, Colour::Green, 1_000_000), Colour::Green);
    }

    /// BMv2's `meters.cpp`: the tokens since the start are the whole part of the microseconds times the rate a microsecond.
    #[test]
    fn half_a_packet_a_second_lets_a_packet_pass_every_other_second() {
        let half = Rate::new(0, 500_000_000).expect("half is a fraction");
        let rates = MeterRates { committed_rate: half, committed_burst: 1, peak_rate: half, peak_burst: 1 };
        let mut element = MeterElement::new(Some(rates), 0);
        let seconds = (0..8).map(|second| second * 1_000_000_000);
        let colours: Vec<u128> = seconds.map(|now| element.execute(1, Colour::Green, now).number()).collect();
        assert_eq!(colours, [0, 2, 0, 2, 0, 2, 0, 2]);
    }

    #[test]
    fn buckets_never_hold_more_than_their_burst() {
        let mut element = MeterElement::new(Some(RATES), 0);
        let colours: Vec<u128> = (0..5).map(|_| element.execute(1, Colour::Green, u64::MAX).number()).collect();
        assert_eq!(colours, [0, 0, 1, 1, 2]);
    }

    #[test]
    fn a_packet_never_gets_better() {
        let mut element = MeterElement::new(Some(RATES), 0);
        assert_eq!(element.execute(1, Colour::Red, 0), Colour::Red);
        assert_eq!(element.execute(1, Colour::Yellow, 0), Colour::Yellow);
        assert_eq!(element.execute(1, Colour::from_number(7), 0), Colour::Red);
    }

    #[test]
    fn without_rates_everything_is_green() {
        assert_eq!(MeterElement::default().execute(9000, Colour::Green, 0), Colour::Green);
    }
}
