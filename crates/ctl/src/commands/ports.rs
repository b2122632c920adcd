//! The ports of the switch: their links and counts, and which of them a word names.

use super::Session;
use super::input::Input;
use crate::failure::Failure;
use crate::output::{Cell, Report};
use control::message::switch::{Port, ReportResponse, port::Link};

const COLUMNS: [&str; 11] = [
    "port",
    "link",
    "speed_mbps",
    "packets_in",
    "bytes_in",
    "packets_out",
    "bytes_out",
    "missed",
    "errors",
    "not_sent",
    "device",
];

impl Session {
    pub fn ports(&mut self, input: &mut Input) -> Result<(), Failure> {
        match input.one_of(&["add", "remove"]) {
            Some(word) => {
                // Values of the next command may name the ports that there are then.
                self.names = None;
                if word.text == "add" { self.add_ports(input) } else { self.remove_ports(input) }
            }
            None => self.print_ports(input),
        }
    }

    fn add_ports(&mut self, input: &mut Input) -> Result<(), Failure> {
        let mut ports = vec![new_port(input)?];
        while !input.is_at_end() {
            ports.push(new_port(input)?);
        }
        ports.into_iter().try_for_each(|(number, device)| self.client.add_port(number, device))
    }

    fn remove_ports(&mut self, input: &mut Input) -> Result<(), Failure> {
        let first = input.word().ok_or_else(|| input.expected("a port: its number or device"))?;
        let mut ports = vec![first.text];
        while let Some(word) = input.word() {
            ports.push(word.text);
        }
        ports.into_iter().try_for_each(|port| self.client.remove_port(port))
    }

    fn print_ports(&mut self, input: &mut Input) -> Result<(), Failure> {
        let mut ports = self.report()?.ports;
        ports.sort_by_key(|port| port.number);
        let mut wanted = Vec::new();
        while let Some(word) = input.word() {
            match ports.iter().position(|port| is_called(port, &word.text)) {
                Some(at) => wanted.push(at),
                None => return Err(Failure::refused(unknown(&word.text, &ports))),
            }
        }
        let mut report = Report::new(&COLUMNS);
        let is_wanted = |at: &usize| wanted.is_empty() || wanted.contains(at);
        ports.iter().enumerate().filter(|(at, _)| is_wanted(at)).for_each(|(_, port)| report.row(row(port)));
        self.print(&report);
        Ok(())
    }

    /// All counts of the switch.
    pub(super) fn report(&mut self) -> Result<ReportResponse, Failure> {
        let message = "the switch reports no counts: `ports` and `stats` need a switch of bacus";
        self.client.report()?.ok_or_else(|| Failure::refused(message))
    }
}

fn is_called(port: &Port, word: &str) -> bool {
    port.device == word || word.parse() == Ok(port.number)
}

/// `N=DEVICE`.
fn new_port(input: &mut Input) -> Result<(u32, String), Failure> {
    let expected = input.expected("N=DEVICE, as 3=eth3 or 3=pcap:in.pcap,out.pcap");
    let word = input.word();
    let port = word.as_ref().and_then(|word| {
        let (number, device) = word.text.split_once('=')?;
        Some((number.parse().ok()?, absolute(device)))
    });
    Ok(port.ok_or(expected)?)
}

/// Names of captures as the switch finds them, whose folder is another.
fn absolute(device: &str) -> String {
    let Some(files) = device.strip_prefix("pcap:") else { return device.to_string() };
    let files = files.split(',').map(|file| match std::path::absolute(file) {
        Ok(path) => path.display().to_string(),
        // An empty name is no file.
        Err(_) => file.to_string(),
    });
    format!("pcap:{}", files.collect::<Vec<String>>().join(","))
}

fn unknown(word: &str, ports: &[Port]) -> String {
    let known: Vec<String> = ports.iter().map(|port| format!("{} {}", port.number, port.device)).collect();
    format!("the switch has no port `{word}`; its ports are {}", known.join(", "))
}

fn row(port: &Port) -> Vec<Cell> {
    let link = match port.link() {
        Link::Up => "up",
        Link::Down => "down",
        Link::Gone => "gone",
    };
    vec![
        port.number.into(),
        link.into(),
        (port.speed_mbps != 0).then_some(port.speed_mbps).into(),
        port.received.into(),
        port.received_bytes.into(),
        port.sent.into(),
        port.sent_bytes.into(),
        port.missed.into(),
        port.errors.into(),
        port.not_sent.into(),
        port.device.as_str().into(),
    ]
}
