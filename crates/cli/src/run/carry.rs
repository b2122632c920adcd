//! The control thread of a running switch: ports that come and go, entries that age, messages of the program, signals, the end.

use super::account::Account;
use super::live::Shared;
use super::requests::Request;
use super::specialise::Specialiser;
use super::trial::Work;
use super::{Arguments, LOOK, Port, Running, dump, report, service, summary};
use driver::failure::Failure;
use driver::stdout::{counted, print_line};
use native::Replay;
use persist::Ticket;
use runtime::{Link, interrupt, memory_limit};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long nothing must come before a switch counts as idle.
const IDLE: Duration = Duration::from_millis(200);
/// How often entries are looked through for those that no packet has hit for long.
const AGING: Duration = Duration::from_millis(50);
/// How often links are looked at: several questions to the kernel for each port. In an idle switch, the thread sleeps meanwhile: no link wakes it.
const WATCHING: Duration = Duration::from_millis(20);
/// Empty polls in a row that make a worker idle.
const IDLE_POLLS: u64 = 64;

/// When something was last done or seen, since the start. And what is being saved.
#[derive(Default)]
struct Times {
    saving: Option<Ticket>,
    looked: Duration,
    packet: Duration,
    woken: Duration,
    printed: Duration,
    aged: Duration,
    watched: Duration,
    registers: Duration,
}

/// Carries packets until the user, the clock or the program ends it.
pub fn carry(arguments: &Arguments, running: &mut Running) -> Result<(), Failure> {
    let limit = arguments.duration.map(Duration::from_secs_f64);
    running.links = links(running);
    running.relay.switch.lock().start();
    report_ready(arguments, running);
    let (start, mut seen, mut times, mut failed) = (Instant::now(), 0, Times::default(), None);
    loop {
        let (slept, is_woken) = rest(arguments, running, times.looked.saturating_sub(times.packet.max(times.woken)));
        let now = start.elapsed();
        if is_woken {
            times.woken = now;
        }
        if slept {
            // The switch was idle meanwhile, whatever has come since.
            times.looked = times.looked.max(now.saturating_sub(LOOK));
        }
        let received = received(running);
        if received != seen {
            running.busy += now - times.looked;
            (seen, times.packet) = (received, now);
        }
        times.looked = now;
        if now >= times.watched + WATCHING {
            watch(running);
            times.watched = now;
        }
        failed = failed.or(running.relay.turn());
        let stopped = interrupt::stop_requested() || limit.is_some_and(|limit| now >= limit);
        if failed.is_some() || stopped || is_over(arguments, running, seen > 0, now - times.packet) {
            break;
        }
        tend(arguments, running, now, &mut times);
    }
    service::stopping();
    running.relay.switch.lock().stop();
    failed = failed.or(running.relay.listen());
    let saved = running.relay.switch.lock().save_changes();
    let registers = running.relay.switch.lock().save_registers();
    let waited = saved.into_iter().chain(registers).map(|ticket| ticket.wait());
    if let Some(Err(why)) = waited.reduce(Result::and) {
        eprintln!("warning: --state: the last changes are not saved: {why}");
    }
    failed.map_or(Ok(()), |text| Err(Failure::input(text)))
}

/// Waits for the next look. Where nothing has happened for a while, the thread sleeps until a packet, a client or a signal comes, or links are looked at.
/// Whether it did, and whether it was woken.
fn rest(arguments: &Arguments, running: &Running, quiet: Duration) -> (bool, bool) {
    let ends_by_itself = arguments.duration.is_some() || arguments.until_idle || arguments.ends_with_captures();
    if ends_by_itself || quiet < IDLE || !running.relay.is_quiet() {
        std::thread::sleep(LOOK);
        return (false, false);
    }
    (true, runtime::rest::sleep(WATCHING, || running.relay.is_quiet()))
}

/// What is due now and then.
fn tend(arguments: &Arguments, running: &mut Running, now: Duration, times: &mut Times) {
    if now >= times.aged + AGING {
        running.relay.age();
        times.aged = now;
    }
    let switch = running.relay.switch.clone();
    save_registers(arguments, &switch, now, times);
    let totals = (0..running.workers).map(|worker| running.dpdk.totals(worker));
    let work = || totals.clone().fold(Work::default(), |sum, of| sum.with(of.received, of.busy_ns));
    running.specialiser.iter_mut().for_each(|specialiser| specialiser.tend(&switch, now, work));
    let every = arguments.stats.map(Duration::from_secs_f64);
    if every.is_some_and(|every| now >= times.printed + every) {
        let account = Account::of(running);
        if arguments.json {
            print_line!("{}", summary::json(&account, None))
        } else {
            summary::line(&account, now)
        }
        times.printed = now;
    }
    if interrupt::take_counts() {
        running.report(arguments);
    }
    answer(running, arguments);
}

/// Saves registers where their interval has passed, and the last snapshot is written.
fn save_registers<L: Replay>(arguments: &Arguments, switch: &Shared<L>, now: Duration, times: &mut Times) {
    let every = arguments.state_registers.map(Duration::from_secs_f64);
    let is_due = every.is_some_and(|every| now >= times.registers + every);
    if is_due && times.saving.as_ref().is_none_or(Ticket::is_decided) {
        times.saving = switch.lock().save_registers();
        times.registers = now;
    }
}

/// Answers all requests that wait. A client that has left needs no answer.
fn answer(running: &mut Running, arguments: &Arguments) {
    let cpu_port = arguments.controllers.cpu_port;
    // The lines of BMv2's log.
    let log = |line: String| {
        if arguments.is_bmv2 {
            print_line!("{line}");
        }
    };
    while let Ok(request) = running.requests.try_recv() {
        match request {
            Request::Report(client) => drop(client.send(report::message(
                &Account::of(running),
                cpu_port,
                running.specialiser.as_ref().and_then(Specialiser::reported),
            ))),
            Request::AddPort(port, client) => {
                log(format!("Adding interface {} as port {}", port.name(), port.number));
                let added = running.add_port(port);
                if added.is_err() {
                    log("Add port operation failed".to_string());
                }
                drop(client.send(added));
            }
            Request::RemovePort(port, client) => {
                log(format!("Removing port {port}"));
                drop(client.send(running.remove_port(&port)));
            }
        }
    }
}

/// Whether nothing comes any more, of what would end a switch. One that waits for others' packets is not over before the first has come.
fn is_over(arguments: &Arguments, running: &Running, has_begun: bool, quiet: Duration) -> bool {
    let all_end = arguments.ends_with_captures() && !running.ports.is_empty() && running.ports.iter().all(Port::ends);
    let is_idle = || (0..arguments.workers).all(|worker| running.dpdk.idle_polls(worker) > IDLE_POLLS);
    (all_end || arguments.until_idle && has_begun) && quiet >= IDLE && is_idle()
}

fn links(running: &Running) -> BTreeMap<u16, (Link, bool)> {
    let link = |port: &Port| Some((port.number, running.dpdk.watch(port.number)?));
    running.ports.iter().filter_map(link).collect()
}

/// Reports that packets are carried from now on, and between which ports.
fn report_ready(arguments: &Arguments, running: &Running) {
    if !memory_limit::has_room() {
        let taken = memory_limit::resident() >> 20;
        eprintln!("warning: --memory: the switch takes {taken} MiB, so there is no room for further entries");
    }
    let ports = running.ports.len() as u64;
    let entries = counted(running.entries, "entry", "entries");
    service::ready(&format!("forwards between {}; {entries} at the start", counted(ports, "port", "ports")));
    if arguments.is_bmv2 {
        return arguments.controllers.print_as_bmv2(&running.ports, &running.server, running.thrift.as_ref());
    }
    if arguments.quiet {
        return;
    }
    let port = |port: &Port| {
        let link = running.links.get(&port.number).map_or("closed".to_string(), |(link, _)| link.to_string());
        format!("{} {} {link}", port.number, port.name())
    };
    let ports = running.ports.iter().map(port).collect::<Vec<String>>().join(", ");
    let ports = if ports.is_empty() { "no ports".to_string() } else { format!("ports {ports}") };
    let controllers = arguments.controllers.described(&running.server, running.thrift.as_ref());
    let metrics = running.metrics.map(|address| format!("; metrics http://{address}/metrics")).unwrap_or_default();
    let waits = if running.relay.switch.lock().engine().is_none() { "; waiting for a pipeline" } else { "" };
    eprintln!("ready: {ports}; entries {}; workers {}{controllers}{metrics}{waits}", running.entries, running.workers);
}

/// Reports each port whose link has changed.
fn watch(running: &mut Running) {
    for port in &running.ports {
        let Some(now) = running.dpdk.watch(port.number) else { continue };
        let before = running.links.insert(port.number, now);
        if before == Some(now) {
            continue;
        }
        let (now, is_enabled) = now;
        // An interface that is back has other sockets.
        running.relay.rouse_workers();
        let is_same_link = before.is_some_and(|(before, _)| before == now);
        running.interfaces.changed(port.number, !is_same_link);
        let what = match now {
            _ if is_same_link => continue,
            Link::Up => "up",
            Link::Down if !is_enabled => "down (disabled): packets to it are not sent, and counted",
            Link::Down => "down: packets to it are not sent, and counted",
            Link::Gone => "gone: the switch takes it again when it is back",
        };
        running.relay.controllers.port(u32::from(port.number), now == Link::Up);
        eprintln!("port {} ({}) is {what}", port.number, port.name());
    }
}

impl Running {
    /// All counts, as they are.
    pub fn report(&mut self, arguments: &Arguments) -> Account {
        let account = Account::of(self);
        let dump = if arguments.dump { self.relay.switch.lock().engine().map(dump::objects) } else { None };
        if arguments.json {
            print_line!("{}", summary::json(&account, dump.as_deref().map(dump::json)));
        } else {
            summary::print(&account);
            dump::print(dump.as_deref().unwrap_or_default());
        }
        account
    }
}

fn received(running: &Running) -> u64 {
    (0..running.workers).map(|worker| running.dpdk.packets(worker)).sum()
}
