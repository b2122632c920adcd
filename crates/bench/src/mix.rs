//! How many percent of the packets are of each family.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    pub ipv4: u32,
    pub ipv6: u32,
}

impl Mix {
    /// The others are ARP.
    pub const fn of(ipv4: u32, ipv6: u32) -> Mix {
        Mix { ipv4, ipv6 }
    }

    pub const fn arp(self) -> u32 {
        100 - self.ipv4 - self.ipv6
    }
}

/// What is not asked for a mix has this one.
impl Default for Mix {
    fn default() -> Mix {
        Mix::of(70, 25)
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.ipv4, self.ipv6, self.arp())
    }
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Mix, String> {
        let shares: Option<Vec<u32>> = text.split('-').map(|share| share.parse().ok()).collect();
        match shares.as_deref() {
            Some(&[ipv4, ipv6, arp]) if [ipv4, ipv6, arp].iter().map(|share| u64::from(*share)).sum::<u64>() == 100 => {
                Ok(Mix::of(ipv4, ipv6))
            }
            Some(_) | None => Err(format!("`{text}` is no mix of IPv4, IPv6 and ARP, as 70-25-5 is")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_is_a_hundred_percent() {
        assert_eq!(Mix::of(90, 10).to_string(), "90-10-0");
        assert_eq!("50-45-5".parse(), Ok(Mix::of(50, 45)));
        for wrong in ["", "100", "70-25", "70-25-6", "70-25-5-0", "4294967295-1-100"] {
            assert!(wrong.parse::<Mix>().is_err(), "{wrong}");
        }
    }
}
