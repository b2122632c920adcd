//! Ports that are opened some time after the start, for `--use-files`: their packets come from captures, which may be named pipes that
//! clients write meanwhile. No packet comes in before all ports are open, so that each finds the port that it is sent to.

use super::live::Shared;
use super::requests::ControlThread;
use control::RefusalKind;
use driver::pcap::{Growing, Packet};
use driver::ports::{Device, Port};
use runtime::LayerPorts;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;

/// Packets that come from several captures within this time are taken in the order of their times.
const AT_ONCE: Duration = Duration::from_millis(2);
/// The queue of the switch is full: a worker takes a burst in less.
const FULL: Duration = Duration::from_millis(1);
/// Packets that wait at most for others of their time: a capture may be longer than the memory.
const MOST_TOGETHER: usize = 4096;
/// A pipe holds so much.
const PIPE_BYTES: usize = 1 << 16;

/// Opens the ports by the control thread.
pub fn open((control, switch): (ControlThread, Shared<LayerPorts>), (seconds, ports): (u64, Vec<Port>)) {
    if ports.is_empty() {
        return;
    }
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(seconds));
        let (sender, packets) = mpsc::sync_channel(MOST_TOGETHER);
        let captures: Vec<(u16, PathBuf)> = ports.into_iter().filter_map(|port| opened(&control, port)).collect();
        // Writers may open the pipes in any order.
        for (number, path) in captures {
            let sender = sender.clone();
            std::thread::spawn(move || {
                if let Err(why) = read(number, &path, &sender) {
                    eprintln!("error: port {number}: {}: {why}", path.display());
                }
            });
        }
        drop(sender);
        inject(&switch, &packets);
    });
}

/// Adds the port. The capture that is to be read for it, if its packets come from one.
fn opened(control: &ControlThread, port: Port) -> Option<(u16, PathBuf)> {
    let (port, capture) = match port.device {
        Device::Captures { input, output } => {
            (Port { number: port.number, device: Device::Captures { input: PathBuf::new(), output } }, Some(input))
        }
        device @ (Device::Interface(..) | Device::Memif(_) | Device::Devargs(_)) => {
            (Port { number: port.number, device }, None)
        }
    };
    let number = port.number;
    match control.add_port(port) {
        Ok(()) => capture.map(|path| (number, path)),
        Err(refusal) => {
            eprintln!("error: {refusal}");
            None
        }
    }
}

/// Passes on the packets of a capture to its end, which that of a pipe is when its last writer closes it.
fn read(number: u16, path: &Path, packets: &SyncSender<(u16, Packet)>) -> Result<(), String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let (mut growing, mut bytes) = (Growing::default(), vec![0; PIPE_BYTES]);
    loop {
        let count = file.read(&mut bytes).map_err(|error| error.to_string())?;
        for packet in growing.take(&bytes[..count])? {
            drop(packets.send((number, packet)));
        }
        if count == 0 && growing.is_cut() {
            return Err("the last packet is cut".to_string());
        }
        if count == 0 {
            return Ok(());
        }
    }
}

/// Lets the program process the packets of all captures.
fn inject(switch: &Shared<LayerPorts>, packets: &Receiver<(u16, Packet)>) {
    while let Ok(first) = packets.recv() {
        let mut together = vec![first];
        while together.len() < MOST_TOGETHER
            && let Ok(next) = packets.recv_timeout(AT_ONCE)
        {
            together.push(next);
        }
        together.sort_by_key(|(_, packet)| packet.time);
        for (number, packet) in together {
            inject_one(switch, number, &packet.frame);
        }
    }
}

fn inject_one(switch: &Shared<LayerPorts>, number: u16, frame: &[u8]) {
    loop {
        let injected = switch.lock().engine().map(|engine| engine.inject(u32::from(number), frame));
        match injected {
            Some(Err(refusal)) if refusal.kind == RefusalKind::Full => std::thread::sleep(FULL),
            Some(Err(refusal)) => return eprintln!("error: port {number}: {refusal}"),
            Some(Ok(())) | None => return,
        }
    }
}
