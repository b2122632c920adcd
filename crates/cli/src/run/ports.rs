//! The ports of a switch: those of its begin, and those that come and go while packets flow.
//!
//! A port is opened beside the workers. They are held at the end of a burst only while it joins what they poll, or leaves it.

use super::Running;
use super::account::{PortAccount, of_port};
use control::{Refusal, RefusalKind};
use driver::failure::Failure;
use driver::ports::{Port, check_ports, claim_interfaces};
use opt::inputs::machine;
use runtime::{PortCounts, PortLayer, PortSettings};

/// Ports that a note names.
const NAMED: usize = 3;

/// What all ports are opened with.
pub struct Opening {
    pub repeat: u32,
    pub machine: machine::Port,
    pub cpu_port: Option<u32>,
    /// What DPDK was started with.
    pub dpdk: PortSettings,
    pub quiet: bool,
}

impl Opening {
    /// The port, which no worker serves yet; and what the user should know of it.
    pub fn open(&self, dpdk: &PortLayer, port: &Port) -> Result<Option<String>, Failure> {
        self.check_cpu_port(port)?;
        port.prepare(self.repeat)?;
        Ok(port.open(dpdk, port.calibrated_ring(&self.machine))?.filter(|_| !self.quiet))
    }

    /// The number from which on a switch with these ports has none.
    pub fn count(&self, ports: &[Port]) -> u32 {
        let highest = ports.iter().map(|port| u32::from(port.number)).chain(self.cpu_port).max();
        highest.map_or(0, |highest| highest + 1)
    }

    fn check_cpu_port(&self, port: &Port) -> Result<(), Failure> {
        match self.cpu_port {
            Some(taken) if taken == u32::from(port.number) => {
                let name = port.name();
                Err(Failure::input(format!("--cpu-port {taken}: it is the port of a device ({name})")))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// A line for each note, with the ports that have it: a switch may have many of one kind.
pub fn print_notes(notes: &[(&Port, String)]) {
    let mut printed: Vec<&str> = Vec::new();
    for (_, note) in notes {
        if !printed.contains(&note.as_str()) {
            printed.push(note);
            let with_it = notes.iter().filter(|(_, other)| other == note);
            eprintln!("note: {}: {note}", listed(&with_it.map(|(port, _)| *port).collect::<Vec<&Port>>()));
        }
    }
}

/// `port 1 (eth1)`, or `ports 1 (eth1), 2 (eth2), 3 (eth3) and 57 more`.
fn listed(ports: &[&Port]) -> String {
    let name = |port: &&Port| format!("{} ({})", port.number, port.name());
    let first = ports.iter().take(NAMED).map(name).collect::<Vec<String>>().join(", ");
    match ports.len() {
        1 => format!("port {first}"),
        count if count > NAMED => format!("ports {first} and {} more", count - NAMED),
        _ => format!("ports {first}"),
    }
}

impl Running {
    pub fn add_port(&mut self, port: Port) -> Result<(), Refusal> {
        if let Some(other) = self.ports.iter().find(|other| other.number == port.number) {
            let (number, name) = (port.number, other.name());
            let sentence =
                format!("port {number} is `{name}` already\nhint: remove that one first, or choose another number");
            port.abandon();
            return Err(Refusal::wrong(sentence));
        }
        let ports = [self.ports.as_slice(), std::slice::from_ref(&port)].concat();
        let checked = check_ports(&ports).and_then(|()| port.check_addable(&self.opening.dpdk));
        let added = checked.and_then(|()| self.reserve(&port)).and_then(|()| self.open_and_serve(&port, &ports));
        if let Err(failure) = added {
            port.abandon();
            self.announce_ports();
            return Err(refusal(failure));
        }
        let (claims, warnings) = claim_interfaces(std::slice::from_ref(&port));
        warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
        self.claims.extend(claims);
        if !self.quiet {
            eprintln!("port {} ({}) is added", port.number, port.name());
        }
        self.ports = ports;
        self.announce_ports();
        Ok(())
    }

    /// Takes the number, if the program can name it. A program that is pushed from now on must be able to, even while the device is being opened.
    fn reserve(&self, port: &Port) -> Result<(), Failure> {
        let number = u32::from(port.number);
        let mut live = self.relay.switch.lock();
        let unusable = live.engine().and_then(|engine| engine.program().port_numbers().unusable(number));
        unusable.map_or(Ok(()), |why| Err(Failure::input(why)))?;
        self.numbers.add(number);
        Ok(())
    }

    fn open_and_serve(&self, port: &Port, ports: &[Port]) -> Result<(), Failure> {
        if let Some(note) = self.opening.open(&self.dpdk, port)? {
            print_notes(&[(port, note)]);
        }
        let count = self.opening.count(ports);
        self.relay.switch.lock().between_bursts(|live| {
            self.dpdk.add(port.number).map_err(|error| port.unopened(&error))?;
            live.set_ports(count);
            Ok(())
        })
    }

    /// Closes a port, by its number or device. Its counts remain in the sums.
    pub fn remove_port(&mut self, called: &str) -> Result<(), Refusal> {
        let is_called = |port: &Port| called.parse() == Ok(port.number) || port.is_called(called);
        let Some(at) = self.ports.iter().position(is_called) else {
            return Err(Refusal::new(RefusalKind::Missing, self.no_port(called)));
        };
        let port = self.ports.remove(at);
        self.claims.retain(|claim| claim.port != port.number);
        let count = self.opening.count(&self.ports);
        let counts = self.relay.switch.lock().between_bursts(|live| {
            let counts = self.dpdk.counts(port.number).map(PortCounts::at_end);
            self.dpdk.remove(port.number);
            live.set_ports(count);
            counts
        });
        self.announce_ports();
        self.links.remove(&port.number);
        // Groups leave out what has no device.
        self.relay.controllers.port(u32::from(port.number), false);
        self.removed.extend(counts.map(|counts| PortAccount {
            number: port.number,
            device: format!("{} (removed)", port.name()),
            counts,
        }));
        if !self.quiet {
            eprintln!("port {} ({}) is removed", port.number, port.name());
        }
        port.finish(counts.as_ref()).map_err(refusal)
    }

    /// Lets the servers know which ports there are.
    fn announce_ports(&self) {
        self.interfaces.set_ports(&self.ports);
        let numbers = self.ports.iter().map(|port| u32::from(port.number));
        self.numbers.set(numbers.chain(self.opening.cpu_port));
    }

    fn no_port(&self, called: &str) -> String {
        let ports: Vec<String> = self.ports.iter().map(|port| format!("{} {}", port.number, port.name())).collect();
        let ports =
            if ports.is_empty() { "it has none".to_string() } else { format!("its ports are {}", ports.join(", ")) };
        format!("the switch has no port `{called}`; {ports}")
    }

    /// The accounts of all ports, and behind them of those that have been removed.
    pub fn port_accounts(&self) -> (Vec<PortAccount>, Vec<PortAccount>) {
        (self.ports.iter().filter_map(|port| of_port(self, port)).collect(), self.removed.clone())
    }
}

/// The answer to a client.
fn refusal(failure: Failure) -> Refusal {
    let kind = match failure {
        Failure::Input(_) | Failure::Reported => RefusalKind::Wrong,
        Failure::Environment(_) => RefusalKind::InUse,
    };
    Refusal::new(kind, failure.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_names_few_of_many_ports() {
        let ports: Vec<Port> = (1..=60).filter_map(|number| format!("{number}=eth{number}").parse().ok()).collect();
        let listed = |count: usize| listed(&ports.iter().take(count).collect::<Vec<&Port>>());
        assert_eq!([listed(1), listed(2)], ["port 1 (eth1)", "ports 1 (eth1), 2 (eth2)"]);
        assert_eq!(listed(60), "ports 1 (eth1), 2 (eth2), 3 (eth3) and 57 more");
    }
}
