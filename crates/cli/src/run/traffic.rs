//! The traffic of a sample: which branches of a program its packets take, which entries most of them hit, and how far that is from
//! another traffic.

use super::sampling::Sample;
use crate::interpreted;
use control::DataPlane as _;
use control::message::switch::{self, Branch};
use control::plane::Frame;
use driver::failure::Failure;
use driver::frequent;
use driver::frontend::{self, Loaded};
use driver::options::Passes;
use hlir::Program;
use hlir::effects::learns;
use hlir::facts::{Assumption, Fact};
use opt::inputs::Profile;
use runtime::tap::Tapped;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A difference of the share of packets on an edge from which on code is compiled again.
const MOVED: f64 = 0.1;
/// Standard deviations that chance explains.
const CHANCE: f64 = 3.0;
/// Longer no sample is interpreted: what was counted until then is all.
const LONGEST: Duration = Duration::from_secs(5);

/// What packets of a sample have done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    pub packets: u64,
    pub profile: Profile,
    pub leading: Option<Leading>,
}

/// Entries that most packets hit, so that a comparison with them may be cheaper than the lookup.
#[derive(Clone, Debug, PartialEq)]
pub struct Leading {
    pub facts: Vec<Assumption>,
    /// Of the program with these comparisons.
    profile: Profile,
}

impl Traffic {
    /// Of a program's rewritten form, which the planners will see. The interpreter follows the packets of the sample through it, at their times.
    ///
    /// # Errors
    /// The program cannot be rewritten so, or what the switch held does not fit it.
    pub fn of(program: &Program, passes: &Passes, sample: Sample) -> Result<Traffic, Failure> {
        // The tables may have changed since.
        let mut passes = frontend::counting(passes);
        passes.facts.retain(|one| sample.contents.store.holds(one));
        let first = sample.packets.first().map_or(0, |packet| packet.clock_ns);
        let sample = Sample { contents: sample.contents.since(first), ..sample };
        let followed = followed(program, &passes, &sample)?;
        let mut leading = None;
        if !followed.frequent.is_empty() {
            passes.facts.extend(followed.frequent);
            let program = self::followed(program, &passes, &sample)?;
            // Of some tables, entries are not compared.
            let is_used = |one: &&Assumption| program.assumptions.contains(one);
            let facts: Vec<Assumption> =
                passes.facts.iter().filter(|one| is_leading(one)).filter(is_used).cloned().collect();
            leading = (!facts.is_empty()).then_some(Leading { facts, profile: program.profile });
        }
        Ok(Traffic { packets: followed.packets, profile: followed.profile, leading })
    }

    /// The profile of code with these facts.
    pub fn profile_for(&self, facts: &[Assumption]) -> &Profile {
        let leading = self.leading.as_ref().filter(|_| facts.iter().any(is_leading));
        leading.map_or(&self.profile, |leading| &leading.profile)
    }

    /// What controllers are notified of: where its packets part.
    pub fn summary(&self) -> switch::Sample {
        let mut nodes: BTreeMap<&str, Vec<(&str, u64)>> = BTreeMap::new();
        for ((from, to), packets) in self.profile.edges.iter().filter(|(_, packets)| **packets > 0) {
            nodes.entry(from).or_default().push((to, *packets));
        }
        let mut parting: Vec<_> = nodes.into_iter().filter(|(_, edges)| edges.len() > 1).collect();
        let at = |edges: &[(&str, u64)]| edges.iter().map(|(_, packets)| packets).sum::<u64>();
        parting.sort_by_key(|(_, edges)| Reverse(at(edges)));
        let branches = parting.into_iter().flat_map(|(from, mut edges)| {
            edges.sort_by_key(|(_, packets)| Reverse(*packets));
            edges.into_iter().map(move |(to, packets)| Branch { from: from.to_string(), to: to.to_string(), packets })
        });
        switch::Sample { packets: self.packets, branches: branches.collect() }
    }

    /// The most that the share of packets on an edge has moved by, from 0 to 1, if that is a tenth more than chance explains.
    pub fn moved(&self, other: &Traffic) -> Option<f64> {
        let of = |traffic: &Traffic| traffic.packets.max(1) as f64;
        let (here, there) = (of(self), of(other));
        let moved = |(from, to): &(String, String)| {
            let [one, two] = [self, other].map(|it| it.profile.count(from, to).unwrap_or(0) as f64);
            // A packet may take an edge of a loop more than once.
            let share = ((one + two) / (here + there)).min(1.0);
            let deviation = (share * (1.0 - share) * (here.recip() + there.recip())).sqrt();
            let moved = (one / here - two / there).abs();
            (moved >= MOVED + CHANCE * deviation).then_some(moved.min(1.0))
        };
        let edges = self.profile.edges.keys().chain(other.profile.edges.keys());
        edges.filter_map(moved).reduce(f64::max)
    }
}

fn is_leading(assumption: &Assumption) -> bool {
    matches!(assumption.fact, Fact::Leading(_))
}

/// What the packets of a sample do in a program's rewritten form.
struct Followed {
    packets: u64,
    profile: Profile,
    /// Entries that most of a table's lookups hit.
    frequent: Vec<Assumption>,
    /// What the rewritten form takes for granted.
    assumptions: Vec<Assumption>,
}

fn followed(program: &Program, passes: &Passes, sample: &Sample) -> Result<Followed, Failure> {
    let Sample { packets, contents } = sample;
    let loaded = Loaded { program: program.clone(), plan: None };
    let (rewritten, _) = frontend::optimize(loaded, passes, None)?;
    let refused = |refusal: control::Refusal| Failure::environment(refusal.to_string());
    let mut interpreter = interp::Switch::new(&rewritten, 0, interp::PORTS);
    contents.restore_into(&mut interpreter).map_err(refused)?;
    let until = Instant::now() + LONGEST;
    let mut later = 0;
    if rewritten.tables.iter().any(|(table, _)| learns(&rewritten, table)) {
        // The store does not have what packets have inserted: those of the sample insert it again.
        follow(&mut interpreter, packets, 0, until);
        later = packets.first().zip(packets.last()).map_or(0, |(a, b)| b.clock_ns - a.clock_ns + 1);
    }
    interpreter.start_counts();
    let packets = follow(&mut interpreter, packets, later, until);
    let frequent = frequent::leading(&interpreter, &contents.store);
    let profile = interpreted::profile(&rewritten, &interpreter.take_counts());
    Ok(Followed { packets, profile, frequent, assumptions: rewritten.assumptions.clone() })
}

/// Interprets packets, so many nanoseconds later than they came. How many there was time for.
fn follow(interpreter: &mut interp::Switch<'_>, packets: &[Tapped], later: u64, until: Instant) -> u64 {
    let mut followed = 0;
    for packet in packets {
        if Instant::now() >= until {
            break;
        }
        interpreter.pass_time(packet.clock_ns + later);
        let frame = Frame { port: packet.port.into(), bytes: packet.bytes.clone() };
        followed += 1;
        // An assertion of the program does not hold: what was counted so far is all.
        if interpreter.process(&[frame]).is_err() || interpreter.is_stopped() {
            break;
        }
        interpreter.take_punted();
    }
    followed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control_bench;
    use crate::run::contents::Contents;
    use crate::run::live::Live;
    use crate::run::pushed;
    use control::plane::{Element, MeterRates};
    use control::{Rate, Update};
    use driver::options::Native;
    use runtime::{Buffers, MemoryPort, Settings};
    use std::path::Path;

    const METERED: &str = r#"
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t ethernet; }
struct meta_t { bit<8> colour; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.ethernet); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    meter(1, MeterType.packets) policer;
    action forward(bit<9> port) { standard.egress_spec = port; }
    table green { key = { hdr.ethernet.dst: exact; } actions = { forward; NoAction; } default_action = NoAction(); }
    apply {
        policer.execute_meter(0, meta.colour);
        if (meta.colour == 0) { green.apply(); }
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply {} }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.ethernet); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

    /// A thousand packets a second come at a meter of a thousand packets a second, a whole second before the switch's contents are copied: each is green.
    #[test]
    fn meters_fill_up_between_the_packets_of_a_sample() {
        let builder = control_bench::builder(&Native::default());
        let built = pushed::build(&builder, METERED.as_bytes(), None).unwrap_or_else(|refusal| panic!("{refusal}"));
        let worker_ports = vec![MemoryPort::new(Buffers::default())];
        let mut live = Live::new(worker_ports, Settings { ports: 64, seed: 0 }, None);
        let engine = live.begin(&built).expect("it attaches");
        let (meter, _) = built.program.meters.iter().next().expect("it has one");
        let thousand = (Rate::of_units(1000), 1);
        let rates = MeterRates::new(thousand, thousand).expect("the peak is no lower");
        let update = Update::SetMeter { meter, element: Element::Index(0), rates: Some(rates) };
        engine.write(&update).unwrap_or_else(|refusal| panic!("{refusal}"));
        engine.set_clock(1_000_000_000);
        let tapped = |at: u64| Tapped { port: 1, clock_ns: at * 1_000_000, bytes: vec![0; 60] };
        let sample = Sample { packets: (100..110).map(tapped).collect(), contents: Contents::of(engine) };
        let passes = &builder.with_passes_of(&built.program).passes;
        let traffic =
            Traffic::of(&built.program, passes, sample).unwrap_or_else(|failure| panic!("{}", failure.message()));
        assert_eq!(traffic.profile.misses.values().sum::<u64>(), 10, "{:?}", traffic.profile);
    }

    /// Flows that packets begin are no misses of later packets: the sample hits and misses as the switch does when it sees its packets again.
    #[test]
    fn packets_find_what_those_before_them_have_inserted() {
        let file = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/nat").join(name);
        let builder = control_bench::builder(&Native::default());
        let text = std::fs::read(file("nat.p4")).expect("nat is there");
        let built = pushed::build(&builder, &text, None).unwrap_or_else(|refusal| panic!("{refusal}"));
        let worker_ports = vec![MemoryPort::new(Buffers::default())];
        let mut live = Live::new(worker_ports, Settings { ports: 64, seed: 0 }, None);
        let engine = live.begin(&built).expect("it attaches");
        driver::entries::configure(&built.program, &file("nat.stf"), engine)
            .unwrap_or_else(|failure| panic!("{}", failure.message()));
        let frames =
            driver::entries::packets(&file("nat.stf")).unwrap_or_else(|failure| panic!("{}", failure.message()));
        let contents = Contents::of(engine);
        let tables: Vec<hlir::TableId> = built.program.tables.iter().map(|(table, _)| table).collect();
        let counts = |engine: &crate::run::live::Engine<MemoryPort>| {
            tables.iter().map(|table| engine.table_counts(*table)).collect::<Vec<_>>()
        };
        let mut process = || {
            engine.process(&frames).unwrap_or_else(|refusal| panic!("{refusal}"));
            counts(engine)
        };
        let (once, twice) = (process(), process());
        let tapped =
            |(at, frame): (u64, &Frame)| Tapped { port: frame.port as u16, clock_ns: at, bytes: frame.bytes.clone() };
        let packets = (0..).zip(&frames).map(tapped).collect();
        let passes = &builder.with_passes_of(&built.program).passes;
        let traffic = Traffic::of(&built.program, passes, Sample { packets, contents })
            .unwrap_or_else(|failure| panic!("{}", failure.message()));
        let mut misses = 0;
        for ((table, once), twice) in tables.iter().zip(&once).zip(&twice) {
            let name = &built.program.tables[*table].name;
            let of = |counts: &std::collections::BTreeMap<String, u64>| counts.get(name).copied().unwrap_or(0);
            let (hits, missed) = (of(&traffic.profile.hits), of(&traffic.profile.misses));
            assert_eq!((hits, missed), (twice.hits - once.hits, twice.misses - once.misses), "{name}");
            misses += once.misses - missed;
        }
        assert!(misses > 0, "the first packets of flows have missed");
    }

    fn traffic(packets: u64, edges: &[(&str, &str, u64)]) -> Traffic {
        let mut profile = Profile::default();
        edges.iter().for_each(|(from, to, count)| profile.add(from, to, *count));
        Traffic { packets, profile, leading: None }
    }

    #[test]
    fn traffic_has_moved_as_far_as_the_edge_that_differs_most() {
        let one = traffic(1000, &[("start", "ipv4", 900), ("start", "ipv6", 100), ("ipv4", "routes", 800)]);
        let other = traffic(2000, &[("start", "ipv4", 1500), ("start", "ipv6", 500), ("ipv4", "routes", 900)]);
        assert!(one.moved(&other).is_some_and(|moved| (moved - 0.35).abs() < 1e-9) && one.moved(&one).is_none());
        let arp = traffic(1000, &[("start", "arp", 1000)]);
        assert_eq!((arp.moved(&one), one.moved(&arp)), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn a_summary_has_the_nodes_where_packets_part() {
        let edges = [("start", "ipv4", 300), ("start", "arp", 0), ("ipv4", "tcp", 100), ("ipv4", "udp", 200)];
        let summary = traffic(300, &[&edges[..], &[("udp", "a", 5), ("udp", "b", 195)]].concat()).summary();
        let branches: Vec<_> =
            summary.branches.iter().map(|it| (it.from.as_str(), it.to.as_str(), it.packets)).collect();
        assert_eq!(branches, [("ipv4", "udp", 200), ("ipv4", "tcp", 100), ("udp", "b", 195), ("udp", "a", 5)]);
        assert_eq!(summary.packets, 300);
    }

    /// Of 256 packets, 128 and 176 on an edge are no change, as three deviations have 33; of 4,096 the same shares are one.
    #[test]
    fn what_chance_explains_is_no_change() {
        let of = |packets: u64, sixteenths: u64| traffic(packets, &[("start", "ipv4", packets * sixteenths / 16)]);
        assert_eq!(of(256, 8).moved(&of(256, 11)), None);
        assert_eq!(of(4096, 8).moved(&of(4096, 11)), Some(3.0 / 16.0));
    }
}
