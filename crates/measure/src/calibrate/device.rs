//! The echo on a port at hand: what saturates it, and what work is free meanwhile, with the packets that come there.
//!
//! Where next to nothing comes by itself, the calibration sends some packets of its own. On ports whose packets return (two that are wired to each
//! other, or one that is a loop) the echo keeps them circulating while it is measured. On others there is nothing to measure, which a message reports.

use super::saturation::{self, BUSY, Batches, Cost, Saturation};
use super::time_budget::TimeBudget;
use crate::samples::Samples;
use driver::failure::Failure;
use driver::files;
use driver::ports::{self, Port};
use runtime::{Compiler, Descriptor, LayerPorts, Pipeline, PortLayer, PortSettings, Settings, Switch, core_isolation};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Descriptors, or other units of a ring: from the smallest number that a device may accept to more than enough.
const RINGS: [u32; 7] = [32, 64, 128, 256, 512, 1024, 2048];
/// With which batches are measured: too large costs little.
const LARGE: u32 = 1024;
/// Packets that are sent where a ring has a size of its own: more than a batch of them.
const FILL: u32 = 512;
/// As `bacus run` has them.
const BUFFERS: u32 = 16384;
const BUFFER_BYTES: u32 = 2048;
/// How long an echo is watched, at least and at most, and which part of that it may need before to find its pace.
const WATCHED: Duration = Duration::from_millis(3);
const LONGEST: Duration = Duration::from_millis(30);
const SETTLED: u32 = 3;
/// Bursts that it is watched for: packets are counted behind a burst, so fewer of them are noise.
const BURSTS: u32 = 10;
/// Fewer packets a second than this are chatter.
const TRAFFIC: f64 = 20_000.0;
/// How long a link may take to come up, and how often a packet is sent meanwhile to see whether it has.
const UP: Duration = Duration::from_secs(3);
const AGAIN: Duration = Duration::from_millis(100);
/// Samples of a round of batches, and rounds; and samples of a ring, each time that the ports are opened with it.
const SAMPLES: usize = 5;
const ROUNDS: usize = 6;
const RING_SAMPLES: usize = 15;
/// Kept for rings, if that is no more than half: where the core is never quiet, opening ports takes the most.
const FOR_RINGS: Duration = Duration::from_secs(14);

/// A frame of the least length, of a type that is set aside for experiments, to an address that no device has.
fn frame() -> [u8; 60] {
    let mut frame = [0; 60];
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5]);
    frame
}

/// What is needed to open the ports, once and again. DPDK is there until the process ends.
pub struct Bench<'p> {
    dpdk: Arc<PortLayer>,
    echo: Arc<Pipeline>,
    ports: &'p [Port],
}

/// The ports, open, and the echo on them.
struct Running<'p> {
    bench: &'p Bench<'p>,
    switch: Switch<LayerPorts>,
    /// Packets that each port sends when none are left: none where packets come by themselves.
    fill: u32,
}

/// What was seen of an echo in a while.
struct Watched {
    packets: u64,
    ns: u64,
    /// Ticks a packet.
    work: f64,
}

impl<'p> Bench<'p> {
    pub fn new(compiler: &Compiler, ports: &'p [Port]) -> Result<Bench<'p>, Failure> {
        let cache = files::cache()?;
        let layer = compiler.dpdk_layer(&cache)?;
        let echo = compiler.pipeline(&cache, "busy_mbuf", &format!("#define BUSY_MBUF\n{BUSY}"), Descriptor::Mbuf)?;
        let mut settings = PortSettings::of_machine(BUFFERS, BUFFER_BYTES);
        ports::announce(ports, &mut settings);
        let dpdk = PortLayer::start(&layer, &settings).map_err(Failure::environment)?;
        // After DPDK, whose library it needs.
        Ok(Bench { dpdk, echo: Arc::new(Pipeline::load(&echo)?), ports })
    }

    /// Whether the ports open and packets come there, before time is spent on anything else.
    pub fn try_out(&self) -> Result<(), Failure> {
        self.open(LARGE).map(drop)
    }

    /// The rings that all ports may have.
    fn rings(&self) -> Vec<u32> {
        let may_be = |port: &Port, ring: u32| {
            let limits = || self.dpdk.ring(port.number);
            port.has_ring_argument() || limits().is_some_and(|limits| (limits.least..=limits.most).contains(&ring))
        };
        RINGS.into_iter().filter(|ring| self.ports.iter().all(|port| may_be(port, *ring))).collect()
    }

    /// The ports with rings of this size, where it is selectable, and with packets in flight.
    fn open(&'p self, ring: u32) -> Result<Running<'p>, Failure> {
        for port in self.ports {
            port.open(&self.dpdk, Some(ring))?;
        }
        let worker_ports = self.dpdk.begin(1).map_err(Failure::environment)?;
        let highest = self.ports.iter().map(|port| port.number).max().unwrap_or(0);
        let settings = Settings { ports: u32::from(highest) + 1, seed: 1 };
        let switch = Switch::new(self.echo.clone(), worker_ports, settings)?;
        let mut running = Running { bench: self, switch, fill: 0 };
        let fill = if self.rings().is_empty() { FILL } else { ring };
        running.find_traffic(fill)?;
        Ok(running)
    }

    fn names(&self) -> String {
        let name = |port: &Port| format!("port {} ({})", port.number, port.name());
        self.ports.iter().map(name).collect::<Vec<String>>().join(" and ")
    }
}

impl Running<'_> {
    /// Runs the echo for so long. The worker never sleeps, so the time is what the process had of its core: others may want it too.
    fn watch(&mut self, batch: u32, work: u64, window: Duration) -> Watched {
        let dpdk = &self.bench.dpdk;
        self.switch.ports_of(0).expect("no thread runs its worker").limit(batch);
        saturation::set_work(&self.switch, work);
        let before = saturation::done(&self.switch);
        self.switch.start();
        std::thread::sleep(window / SETTLED);
        let (packets, start) = (dpdk.packets(0), core_isolation::process_ns());
        std::thread::sleep(window);
        let (packets, ns) = (dpdk.packets(0) - packets, core_isolation::process_ns() - start);
        self.switch.stop();
        let behind = saturation::done(&self.switch);
        let work = (behind.0 - before.0) as f64 / (behind.1 - before.1) as f64;
        Watched { packets, ns, work }
    }

    /// What a packet costs; none if none comes, or if so few bursts have time for their work that nothing can be concluded.
    fn sample(&mut self, batch: u32, work: u64, ticks_per_us: f64) -> Option<Cost> {
        let watched = self.watch(batch, work, window(batch, work, ticks_per_us)?);
        if watched.packets == 0 {
            self.send(self.fill);
            return None;
        }
        let all = watched.ns as f64 / 1e3 * ticks_per_us / watched.packets as f64;
        Some(Cost { all, work: watched.work })
    }

    /// Packets a second without work, in the largest batches.
    fn rate(&mut self) -> f64 {
        let watched = self.watch(0, 0, WATCHED);
        watched.packets as f64 * 1e9 / watched.ns.max(1) as f64
    }

    /// Sends so many packets by each port. How many the devices took.
    fn send(&self, packets: u32) -> u32 {
        let dpdk = &self.bench.dpdk;
        self.bench.ports.iter().map(|port| dpdk.inject(port.number, &frame(), packets)).sum()
    }

    /// Sees to it that there are packets: those that come, else those that are sent, if they return.
    fn find_traffic(&mut self, fill: u32) -> Result<(), Failure> {
        let begun = Instant::now();
        let mut rate = self.rate();
        if rate >= TRAFFIC {
            return Ok(());
        }
        // One after the other until any comes: a link that is down would lose more of them, and a network from which none returns has no use for any.
        let mut next = begun;
        while (self.fill == 0 || rate < TRAFFIC) && begun.elapsed() < UP {
            if rate > 0.0 && self.fill == 0 {
                self.fill = fill;
                self.send(fill);
            } else if rate == 0.0 && Instant::now() >= next && self.send(1) > 0 {
                next = Instant::now() + AGAIN;
            }
            rate = self.rate();
        }
        if rate >= TRAFFIC {
            return Ok(());
        }
        let came = if rate == 0.0 { "no packets".to_string() } else { format!("only {rate:.0} packets a second") };
        Err(Failure::environment(format!(
            "{came} came to {}, and those that were sent there did not return\n\
             hint: send it traffic meanwhile, or measure ports whose packets return: two that are wired to each other, or net_ring0",
            self.bench.names()
        )))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.bench.dpdk.stop();
    }
}

/// How long an echo is watched that has so much work for each packet, and costs as much without. None where that would take too long.
fn window(batch: u32, work: u64, ticks_per_us: f64) -> Option<Duration> {
    let burst_us = 2.0 * f64::from(batch) * work as f64 / ticks_per_us;
    let wanted = BURSTS * Duration::from_secs_f64(burst_us / 1e6);
    (wanted <= LONGEST).then(|| wanted.max(WATCHED))
}

/// What a ring is measured for must be one thing, and go on for as long as it is measured.
pub fn check(ports: &[Port]) -> Result<(), Failure> {
    ports::check_ports(ports)?;
    if ports.iter().any(Port::ends) {
        return Err(Failure::input(
            "captures come to an end, and have no rate\nhint: name a device, as 0=veth0; net_null0 has packets without end",
        ));
    }
    let Some(other) = ports.iter().find(|port| port.kind() != ports[0].kind()) else { return Ok(()) };
    let (one, other) = (ports[0].kind(), other.kind());
    Err(Failure::input(format!(
        "{one} and {other}: ports that are measured together must be of one kind\nhint: calibrate with one after the other"
    )))
}

/// Measures the echo on these ports of a machine whose counter goes so fast; `progress` hears how much of the work is done, from 0 to 1, and what comes
/// next.
pub fn measure(
    bench: &Bench<'_>,
    ticks_per_us: f64,
    budget: &mut TimeBudget,
    progress: &mut dyn FnMut(f64, &str),
) -> Result<Saturation, Failure> {
    progress(0.0, "opening the port");
    let mut running = bench.open(LARGE)?;
    let rings = bench.rings();
    let mut batches = Batches::new();
    let (mut taken, half) = (0, ROUNDS as f64 * 2.0);
    let kept = if rings.is_empty() { Duration::ZERO } else { FOR_RINGS.min(budget.left() / 2) };
    while taken < ROUNDS && (taken == 0 || budget.has(kept)) {
        progress(taken as f64 / half, "batches");
        batches.round(SAMPLES, |batch, work| running.sample(batch, work, ticks_per_us));
        taken += 1;
    }
    budget.taken("batches of an echo", taken, ROUNDS);
    drop(running);
    let mut seen = batches.into_saturation(Some(bench.ports[0].kind()));
    if let Some(batch) = seen.batch() {
        let cost = |running: &mut Running<'_>| running.sample(batch, 0, ticks_per_us).map(|cost| cost.all);
        seen.rings = over_rings(bench, &rings, cost, budget, &mut |done| progress(0.5 + done / 2.0, "rings"))?;
    }
    progress(1.0, "");
    Ok(seen)
}

/// The echo with each size of ring: upwards and, if time allows, downwards, so that a machine that becomes slower does not bias the last ones.
fn over_rings(
    bench: &Bench<'_>,
    rings: &[u32],
    cost: impl Fn(&mut Running<'_>) -> Option<f64>,
    budget: &mut TimeBudget,
    progress: &mut dyn FnMut(f64),
) -> Result<Vec<(u32, f64)>, Failure> {
    let mut samples = vec![Samples::default(); rings.len()];
    let mut taken = 0;
    for place in (0..rings.len()).chain((0..rings.len()).rev()) {
        if taken >= rings.len() && budget.is_over() {
            break;
        }
        progress(taken as f64 / (2 * rings.len()) as f64);
        let mut running = bench.open(rings[place])?;
        samples[place].take(RING_SAMPLES, || cost(&mut running));
        taken += 1;
    }
    budget.taken("sizes of a ring", taken, 2 * rings.len());
    Ok(saturation::costs(rings.iter().copied().zip(samples)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_that_have_no_rate_in_common_are_refused() {
        let refused = |ports: &[&str]| {
            let ports: Vec<Port> = ports.iter().map(|text| text.parse().expect("the port is right")).collect();
            match check(&ports) {
                Err(Failure::Input(text)) => text,
                other => panic!("{other:?}"),
            }
        };
        assert!(refused(&["0=pcap:,"]).contains("captures come to an end"));
        assert!(refused(&["0=net_null0", "1=net_ring0"]).contains("net_null and net_ring"));
        assert!(refused(&["0=net_null0", "0=net_null1"]).contains("given twice"));
    }

    #[test]
    fn an_echo_is_watched_for_ten_bursts_or_not_at_all() {
        let window = |batch, work| window(batch, work, 2000.0).map(|window| window.as_micros());
        assert_eq!((window(0, 0), window(128, 20)), (Some(3000), Some(3000)));
        // At 20,000 packets a second, work keeps the core for a burst in which a hundred more may come.
        assert_eq!((window(1, 100_000), window(8, 100_000), window(128, 100_000)), (Some(3000), Some(8000), None));
    }
}
