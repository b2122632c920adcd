//! The traffic of a sample: which way its packets take through a program, and how far that is from another traffic.

use super::sampling::Sample;
use crate::interpreted;
use control::DataPlane as _;
use driver::failure::Failure;
use driver::frontend::{self, Loaded};
use driver::options::Passes;
use hlir::Program;
use opt::inputs::Profile;

/// What packets of a sample have done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    pub packets: u64,
    pub profile: Profile,
}

impl Traffic {
    /// Of a program's rewritten form, which the planners will see: the interpreter follows each packet of the sample through it.
    ///
    /// # Errors
    /// The program cannot be rewritten so, or the tables of the sample do not fit it.
    pub fn of(program: &Program, passes: &Passes, sample: Sample) -> Result<Traffic, Failure> {
        let loaded = Loaded { program: program.clone(), plan: None };
        let (rewritten, _) = frontend::optimize(loaded, &frontend::counting(passes), None)?;
        let refused = |refusal: control::Refusal| Failure::environment(refusal.to_string());
        let mut interpreter = interp::Switch::new(&rewritten, 0, interp::PORTS);
        interpreter.restore(sample.store).map_err(refused)?;
        for (register, index, value) in sample.registers {
            interpreter.write_register(register, index, &value).map_err(refused)?;
        }
        interpreter.start_counts();
        let mut packets = 0;
        for frame in &sample.frames {
            packets += 1;
            // An assertion of the program does not hold: what was counted so far is all.
            if interpreter.process(std::slice::from_ref(frame)).is_err() || interpreter.is_stopped() {
                break;
            }
            interpreter.take_punted();
        }
        Ok(Traffic { packets, profile: interpreted::profile(&rewritten, &interpreter.take_counts()) })
    }

    /// The most that the share of packets on an edge differs by, from 0 to 1 where no packet takes an edge twice.
    pub fn distance(&self, other: &Traffic) -> f64 {
        let share = |traffic: &Traffic, (from, to): &(String, String)| {
            traffic.profile.count(from, to).unwrap_or(0) as f64 / traffic.packets.max(1) as f64
        };
        let edges = self.profile.edges.keys().chain(other.profile.edges.keys());
        edges.map(|edge| (share(self, edge) - share(other, edge)).abs()).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_is_as_far_from_another_as_the_edge_that_differs_most() {
        let traffic = |packets: u64, edges: &[(&str, &str, u64)]| {
            let mut profile = Profile::default();
            edges.iter().for_each(|(from, to, count)| profile.add(from, to, *count));
            Traffic { packets, profile }
        };
        let one = traffic(100, &[("start", "ipv4", 90), ("start", "ipv6", 10), ("ipv4", "routes", 80)]);
        let other = traffic(200, &[("start", "ipv4", 150), ("start", "ipv6", 50), ("ipv4", "routes", 90)]);
        assert!((one.distance(&other) - 0.35).abs() < 1e-9 && one.distance(&one) == 0.0);
        let arp = traffic(10, &[("start", "arp", 10)]);
        assert_eq!((arp.distance(&one), one.distance(&arp)), (1.0, 1.0));
    }
}
