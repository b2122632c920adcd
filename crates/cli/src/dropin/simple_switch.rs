//! `simple_switch` and `simple_switch_grpc`: BMv2's flags for a switch, as those of `bacus run`.

use super::parsed;
use crate::run;
use clap::Parser;
use driver::failure::Failure;
use nix::net::if_::if_nametoindex;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Without --thrift-port.
const THRIFT_PORT: u16 = 9090;
/// That of v1model, which no device can have.
const DROP_PORT: u32 = 511;

/// What BMv2 takes for a limit.
fn at_least_one() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(i32::MAX))
}

/// Which of the two commands it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `simple_switch`: clients come by Thrift alone.
    Thrift,
    /// `simple_switch_grpc`.
    Grpc,
}

/// A switch with the flags of BMv2
#[derive(Parser)]
#[command(
    name = "simple_switch",
    version,
    disable_version_flag = true,
    infer_long_args = true,
    after_help = "Flags of the target follow `--`. docs/dropin.md compares the switch with BMv2."
)]
struct Arguments {
    /// The program: JSON of p4c, P4 or HLIR
    #[arg(value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Start without a program
    #[arg(long)]
    no_p4: bool,
    /// Interface of a port; repeatable
    #[arg(short, long = "interface", value_name = "PORT@INTERFACE", value_parser = interface)]
    interfaces: Vec<(u16, String)>,
    /// Write what interfaces receive and send to DIR/NAME_in.pcap and DIR/NAME_out.pcap
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    pcap: Option<PathBuf>,
    /// Interfaces are captures: X_in.pcap is read after so many seconds, X_out.pcap is written
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    use_files: Option<i64>,
    /// Port of the Thrift server
    #[arg(long, value_name = "PORT")]
    thrift_port: Option<u16>,
    /// Id of the device
    #[arg(long, value_name = "N", default_value_t = 0)]
    device_id: u64,
    /// Print what happens on standard output
    #[arg(long, conflicts_with = "log_file")]
    log_console: bool,
    /// Write what happens to FILE.txt
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
    /// Least important messages
    #[arg(short = 'L', long, value_name = "LEVEL", value_parser = ["trace", "debug", "info", "warn", "error", "off"])]
    log_level: Option<String>,
    /// Accepted: each line is written at once
    #[arg(long)]
    log_flush: bool,
    /// Accepted: the file of --log-file is not rotated
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    log_file_max_size: Option<u64>,
    /// Accepted, as --log-file-max-size
    #[arg(long, value_name = "N")]
    log_file_max_files: Option<u64>,
    /// Accepted: there is no event logger
    #[arg(long, value_name = "ADDRESS")]
    nanolog: Option<String>,
    /// Where digests are published for Thrift clients, as ipc://PATH or tcp://ADDRESS:PORT [default: ipc:///tmp/bmv2-ID-notifications.ipc]
    #[arg(long, value_name = "ADDRESS")]
    notifications_addr: Option<String>,
    /// Accepted: there is no debugger
    #[arg(long)]
    debugger: bool,
    /// Accepted, as --debugger
    #[arg(long, value_name = "ADDRESS")]
    debugger_addr: Option<String>,
    /// Accepted: packets are not printed
    #[arg(long, value_name = "BYTES")]
    dump_packet_data: Option<u64>,
    /// State to start with: a file of `serialize_state`, or a directory in which the switch saves its state as well
    #[arg(long, value_name = "PATH")]
    restore_state: Option<PathBuf>,
    /// Refused: packets come from interfaces and captures
    #[arg(long, value_name = "ADDRESS")]
    packet_in: Option<String>,
    /// Accepted: the number of ports has no limit of its own
    #[arg(long, value_name = "N")]
    max_port_count: Option<u32>,
    /// Print the newest version of BMv2's JSON, and end
    #[arg(long)]
    json_version: bool,
    /// Print the version
    #[arg(short = 'v', long, action = clap::ArgAction::Version)]
    version: (),
    /// Flags of the target
    #[arg(last = true, value_name = "TARGET FLAGS", allow_hyphen_values = true)]
    target: Vec<OsString>,
}

/// Flags behind `--`.
#[derive(Parser)]
#[command(name = "simple_switch --", disable_version_flag = true, disable_help_flag = true, infer_long_args = true)]
struct Target {
    /// Address of the P4Runtime server
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:9559")]
    grpc_server_addr: String,
    /// Require TLS
    #[arg(long)]
    grpc_server_ssl: bool,
    /// Authority of the controllers' certificates (PEM)
    #[arg(long, value_name = "FILE")]
    grpc_server_cacert: Option<PathBuf>,
    /// Certificate of the switch (PEM)
    #[arg(long, value_name = "FILE")]
    grpc_server_cert: Option<PathBuf>,
    /// Key of the certificate (PEM)
    #[arg(long, value_name = "FILE")]
    grpc_server_key: Option<PathBuf>,
    /// Require certificates of controllers
    #[arg(long)]
    grpc_server_with_client_auth: bool,
    /// Port of packet-ins and packet-outs
    #[arg(long, value_name = "N")]
    cpu_port: Option<u32>,
    /// Must be 511, which it is in v1model
    #[arg(long, value_name = "N")]
    drop_port: Option<u32>,
    /// Accepted: queues are those of the devices
    #[arg(long, value_name = "N")]
    priority_queues: Option<u32>,
    /// Accepted: programs may always be exchanged
    #[arg(long)]
    enable_swap: bool,
    /// Accepted, as --enable-swap
    #[arg(long)]
    disable_swap: bool,
    /// Accepted: there is no such limit
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    max_mc_groups: Option<u32>,
    /// Accepted: there is no such limit
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    max_l1_entries: Option<u32>,
    /// Accepted: there is no such limit
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    max_l2_entries: Option<u32>,
    /// Refused: packets come from interfaces and captures
    #[arg(long, value_name = "ADDRESS:PORT")]
    dp_grpc_server_addr: Option<String>,
    /// Accepted: modules are not loaded
    #[arg(long, value_name = "FILE")]
    load_modules: Option<String>,
}

/// The test runner of p4c has `-i` and ` 0@pcap0` in one word, and BMv2 reads the number behind blanks.
fn interface(text: &str) -> Result<(u16, String), String> {
    let parts = text.trim_start().split_once('@').and_then(|(port, name)| Some((port.parse().ok()?, name.to_string())));
    parts
        .filter(|(_, name)| !name.is_empty())
        .ok_or_else(|| "expected a port and an interface, such as 1@eth0".to_string())
}

/// `--pcap DIR` as `--pcap=DIR`: the tutorials write the first, where BMv2's parser takes both.
fn joined(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for argument in arguments {
        let follows = joined.last().is_some_and(|last| last == "--pcap");
        if follows && Path::new(&argument).is_dir() {
            joined.pop();
            let mut both = OsString::from("--pcap=");
            both.push(&argument);
            joined.push(both);
        } else {
            joined.push(argument);
        }
    }
    joined
}

pub fn run(arguments: impl Iterator<Item = OsString>, kind: Kind) -> Result<(), Failure> {
    let arguments: Arguments = parsed(joined(arguments).into_iter());
    if arguments.json_version {
        let [major, minor] = bmv2::NEWEST_VERSION;
        driver::stdout::print_line!("{major}.{minor}");
        return Ok(());
    }
    let target = target(&arguments.target);
    check(&arguments, &target)?;
    let arguments = with_known_interfaces(arguments);
    if let Some(path) = &arguments.log_file {
        log_to(path)?;
    }
    notes(&arguments, &target).iter().for_each(|note| eprintln!("note: {note}"));
    let late = Late { seconds: arguments.use_files.unwrap_or(0).max(0) as u64, ports: late_ports(&arguments) };
    let device_config = match program(&arguments) {
        Some(path) if path.extension().is_some_and(|extension| extension == "json") => {
            driver::files::contents(path)?.to_vec()
        }
        Some(_) | None => Vec::new(),
    };
    let of_device = || format!("ipc:///tmp/bmv2-{}-notifications.ipc", arguments.device_id);
    let notifications = arguments.notifications_addr.clone().unwrap_or_else(of_device);
    run::run_as_bmv2(
        &flags(&arguments, &target, (program(&arguments), kind)),
        (late.seconds, &late.ports),
        (device_config, notifications),
    )
}

/// The flags behind `--`. BMv2 reports a mistake in them, and runs without them.
fn target(flags: &[OsString]) -> Target {
    let command = || std::iter::once(OsString::from("simple_switch --"));
    Target::try_parse_from(command().chain(flags.iter().cloned())).unwrap_or_else(|error| {
        drop(error.print());
        eprintln!("Target parser returned an error: the switch runs without the flags behind `--`");
        Target::parse_from(command())
    })
}

/// Captures that are read some time after the start.
struct Late {
    seconds: u64,
    ports: Vec<String>,
}

/// The program that the switch is to start with.
fn program(arguments: &Arguments) -> Option<&Path> {
    arguments.program.as_deref().filter(|_| !arguments.no_p4)
}

/// What cannot be done is refused before anything begins.
fn check(arguments: &Arguments, target: &Target) -> Result<(), Failure> {
    let refused = |sentence: &str| Err(Failure::input(sentence));
    if !arguments.no_p4 && arguments.program.is_none() {
        return refused("please specify an input JSON configuration file, or --no-p4");
    }
    if arguments.packet_in.is_some() || target.dp_grpc_server_addr.is_some() {
        return refused(
            "--packet-in, --dp-grpc-server-addr: packets come from interfaces (-i) and captures (--use-files)",
        );
    }
    if let Some(path) = arguments.restore_state.as_deref().filter(|path| !path.exists()) {
        let message = format!("state dump input file {} cannot be opened", path.display());
        return Err(Failure::input(message));
    }
    if arguments.pcap.as_deref().is_some_and(|folder| !folder.is_dir()) {
        return refused("--pcap: there is no such directory");
    }
    if target.cpu_port == Some(0) {
        return refused("--cpu-port: 0 is no port of packet-ins");
    }
    if target.drop_port.is_some_and(|port| port != DROP_PORT) {
        return refused("--drop-port: the drop port of v1model is 511");
    }
    if target.grpc_server_ssl && (target.grpc_server_cert.is_none() || target.grpc_server_key.is_none()) {
        return refused("--grpc-server-ssl needs --grpc-server-cert and --grpc-server-key");
    }
    Ok(())
}

/// A start script may name an interface that is not there, or not yet: BMv2 runs without it.
fn with_known_interfaces(mut arguments: Arguments) -> Arguments {
    if arguments.use_files.is_some() {
        return arguments;
    }
    arguments.interfaces.retain(|(port, name)| {
        let is_there = name.contains([':', ',']) || if_nametoindex(name.as_str()).is_ok();
        if !is_there {
            eprintln!(
                "warning: port {port}: there is no interface `{name}`; the switch runs without it (later: `port_add {name} {port}`)"
            );
        }
        is_there
    });
    arguments
}

/// A line for each flag that does less than in BMv2.
fn notes(arguments: &Arguments, target: &Target) -> Vec<&'static str> {
    let flags = [
        (arguments.nanolog.is_some(), "--nanolog: there is no event logger"),
        (arguments.debugger || arguments.debugger_addr.is_some(), "--debugger: there is no debugger"),
        (arguments.dump_packet_data.is_some_and(|bytes| bytes > 0), "--dump-packet-data: packets are not printed"),
        (target.priority_queues.is_some_and(|count| count > 1), "--priority-queues: queues are those of the devices"),
        (target.disable_swap, "--disable-swap: programs may be exchanged all the same"),
        (
            target.load_modules.is_some(),
            "--load-modules: modules are not loaded; a program that uses their externs is refused",
        ),
        (arguments.no_p4 && arguments.program.is_some(), "ignoring input config as '--no-p4' was used"),
    ];
    flags.into_iter().filter(|(is_given, _)| *is_given).map(|(_, note)| note).collect()
}

/// What is printed goes to a file, to whose name BMv2 adds an ending.
fn log_to(path: &Path) -> Result<(), Failure> {
    let mut name = path.as_os_str().to_os_string();
    name.push(".txt");
    let path = Path::new(&name);
    let unwritable = |error: std::io::Error| Failure::unwritable(path, &error);
    let file = std::fs::File::create(path).map_err(unwritable)?;
    nix::unistd::dup2_stdout(&file).map_err(|error| unwritable(error.into()))?;
    nix::unistd::dup2_stderr(&file).map_err(|error| unwritable(error.into()))
}

/// The captures of --use-files, as ports.
fn late_ports(arguments: &Arguments) -> Vec<String> {
    let files = |(port, name): &(u16, String)| format!("{port}=pcap:{name}_in.pcap,{name}_out.pcap");
    arguments.interfaces.iter().filter(|_| arguments.use_files.is_some()).map(files).collect()
}

/// The flags of `bacus run`.
fn flags(arguments: &Arguments, target: &Target, (program, kind): (Option<&Path>, Kind)) -> Vec<OsString> {
    let mut flags: Vec<OsString> = vec!["bacus run".into()];
    flags.extend(program.map(|path| path.as_os_str().to_os_string()));
    let mut add = |name: &str, value: OsString| flags.extend([OsString::from(name), value]);
    for (port, name) in arguments.interfaces.iter().filter(|_| arguments.use_files.is_none()) {
        add("--port", format!("{port}={name}").into());
    }
    // The captures of --use-files have the packets already.
    if let Some(folder) = arguments.pcap.as_ref().filter(|_| arguments.use_files.is_none()) {
        add("--record", folder.clone().into());
    }
    if let Some(path) = &arguments.restore_state {
        let flag = if path.is_file() { "--restore" } else { "--state" };
        add(flag, path.clone().into());
    }
    add("--device-id", arguments.device_id.to_string().into());
    if kind == Kind::Thrift || arguments.thrift_port.is_some() {
        add("--thrift", format!("0.0.0.0:{}", arguments.thrift_port.unwrap_or(THRIFT_PORT)).into());
    }
    if kind == Kind::Grpc {
        add("--p4runtime", target.grpc_server_addr.clone().into());
        if let Some(port) = target.cpu_port {
            add("--cpu-port", port.to_string().into());
        }
        let authority = target.grpc_server_cacert.as_ref().filter(|_| target.grpc_server_with_client_auth);
        let files = [
            ("--tls-cert", target.grpc_server_cert.as_ref()),
            ("--tls-key", target.grpc_server_key.as_ref()),
            ("--tls-ca", authority),
        ];
        for (name, file) in files.into_iter().filter(|_| target.grpc_server_ssl) {
            if let Some(file) = file {
                add(name, file.as_os_str().to_os_string());
            }
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags_of(line: &str, kind: Kind) -> String {
        let arguments = Arguments::parse_from(joined(line.split_whitespace().map(OsString::from)));
        let target = Target::parse_from(std::iter::once(OsString::from("t")).chain(arguments.target.iter().cloned()));
        let flags = flags(&arguments, &target, (program(&arguments), kind));
        flags.iter().map(|flag| flag.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn command_lines_of_others_are_understood() {
        // The tutorials, a laboratory of Kathará, p4-utils, and ONOS.
        assert_eq!(
            flags_of(
                "simple_switch_grpc -i 1@s1-eth1 -i 2@s1-eth2 --pcap . --nanolog ipc:///tmp/bm-0-log.ipc --device-id 3 x.json \
                 --log-console --thrift-port 9091 -- --grpc-server-addr 0.0.0.0:50051 --cpu-port 510",
                Kind::Grpc
            ),
            "bacus run x.json --port 1=s1-eth1 --port 2=s1-eth2 --record . --device-id 3 --thrift 0.0.0.0:9091 \
             --p4runtime 0.0.0.0:50051 --cpu-port 510"
        );
        assert_eq!(
            flags_of("simple_switch -i 1@eth0 --restore-state s -i 2@eth1 x.json", Kind::Thrift),
            "bacus run x.json --port 1=eth0 --port 2=eth1 --state s --device-id 0 --thrift 0.0.0.0:9090"
        );
        assert_eq!(
            flags_of("simple_switch --restore-state Cargo.toml x.json", Kind::Thrift),
            "bacus run x.json --restore Cargo.toml --device-id 0 --thrift 0.0.0.0:9090"
        );
        assert_eq!(
            flags_of(
                "simple_switch --pcap=. --thrift-port 9092 --device-id 2 --no-p4 --debugger -- --priority-queues 8",
                Kind::Thrift
            ),
            "bacus run --record . --device-id 2 --thrift 0.0.0.0:9092"
        );
        assert_eq!(
            flags_of(
                "simple_switch_grpc --device-id 1 -i 1@a --notifications-addr ipc:///tmp/n -Lwarn --pcap --dump-packet-data 100 \
                 --no-p4 -- --cpu-port 255 --grpc-server-addr 0.0.0.0:5001",
                Kind::Grpc
            ),
            "bacus run --port 1=a --record . --device-id 1 --p4runtime 0.0.0.0:5001 --cpu-port 255"
        );
    }

    #[test]
    fn flags_may_be_abbreviated_and_have_bounds() {
        assert_eq!(
            flags_of("simple_switch --inter 1@a --thrift-p 9191 --no-p4", Kind::Thrift),
            "bacus run --port 1=a --device-id 0 --thrift 0.0.0.0:9191"
        );
        for line in ["--max-mc-groups 0", "--max-l1-entries 0", "--max-l2-entries 2147483648"] {
            assert!(Target::try_parse_from(["t"].into_iter().chain(line.split(' '))).is_err(), "{line}");
        }
        let line = "s --no-p4 --log-file f --log-file-max-size 0";
        assert!(Arguments::try_parse_from(line.split(' ')).is_err());
    }

    #[test]
    fn a_switch_runs_without_an_interface_that_is_not_there() {
        let arguments = Arguments::parse_from("s --no-p4 -i 1@lo -i 2@there-is-none".split(' '));
        assert_eq!(with_known_interfaces(arguments).interfaces, [(1, "lo".to_string())]);
        let arguments = Arguments::parse_from("s --no-p4 --use-files 0 -i 2@there-is-none".split(' '));
        assert_eq!(with_known_interfaces(arguments).interfaces.len(), 1, "it is a capture");
    }

    #[test]
    fn captures_come_after_the_start() {
        for interface in [&["-i", "3@pcap3"][..], &["-i 3@pcap3"], &["-i3@pcap3"]] {
            let line = [&["simple_switch"], interface, &["--use-files", "1", "x.json"]].concat();
            let arguments = Arguments::parse_from(line);
            assert_eq!(late_ports(&arguments), ["3=pcap:pcap3_in.pcap,pcap3_out.pcap"]);
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        let refused = |line: &str| {
            let arguments = Arguments::parse_from(line.split_whitespace());
            let target = Target::parse_from(std::iter::once("t".into()).chain(arguments.target.iter().cloned()));
            check(&arguments, &target).err().map(|failure| failure.message().to_string()).unwrap_or_default()
        };
        assert!(refused("s").contains("input JSON"));
        assert!(refused("s --no-p4 --restore-state /there/is/no/such/place").contains("cannot be opened"));
        assert!(refused("s --no-p4 -- --cpu-port 0").contains("--cpu-port"));
        assert!(refused("s --no-p4 -- --drop-port 5").contains("511"));
        assert!(refused("s --no-p4 -- --grpc-server-ssl").contains("--grpc-server-cert"));
        assert_eq!(refused("s --no-p4 -- --drop-port 511 --max-mc-groups 10"), "");
    }
}
