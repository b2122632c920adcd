//! The switch as a whole: ports, program, state, queues, time.

use crate::config::Config;
use crate::problem::{Outcome, Problem, input};
use crate::session::{Session, at_least, exactly, say};
use std::process::Command;

const NO_PORT: &str = "Bad format for port_num, must be an integer";

pub fn port_add(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 2)?;
    let number = crate::values::integer(arguments[1], NO_PORT)?;
    let capture = arguments.get(2).copied().unwrap_or_default().to_string();
    session.standard().bm_dev_mgr_add_port(arguments[0].to_string(), number, capture)?;
    Ok(())
}

pub fn port_remove(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let number = crate::values::integer(arguments[0], NO_PORT)?;
    session.standard().bm_dev_mgr_remove_port(number)?;
    Ok(())
}

pub fn show_ports(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 0)?;
    let ports = session.standard().bm_dev_mgr_show_ports()?;
    say!(session, "{:^10}{:^20}{:^10}extra info", "port #", "iface name", "status");
    say!(session, "{}", "=".repeat(50));
    for port in ports {
        let status = if port.is_up { "UP" } else { "DOWN" };
        let extra: Vec<String> = port.extra.iter().map(|(key, value)| format!("{key}={value}")).collect();
        say!(session, "{:^10}{:^20}{status:^10}{}", port.port_num, port.iface_name, extra.join("; "));
    }
    Ok(())
}

pub fn info(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 0)?;
    let info = session.standard().bm_mgmt_get_info()?;
    let socket = |socket: Option<String>| socket.unwrap_or("None".to_string());
    let lines = [
        ("device_id", info.device_id.to_string()),
        ("thrift_port", info.thrift_port.to_string()),
        ("notifications_socket", socket(info.notifications_socket)),
        ("elogger_socket", socket(info.elogger_socket)),
        ("debugger_socket", socket(info.debugger_socket)),
    ];
    for (name, value) in lines {
        say!(session, "{name:25}: {value}");
    }
    Ok(())
}

pub fn reset_state(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 0)?;
    session.standard().bm_reset_state()?;
    Ok(())
}

pub fn load_config(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let Ok(text) = std::fs::read_to_string(arguments[0]) else { return input("Not a valid filename") };
    say!(session, "Loading new Json config");
    if crate::json::parse(&text).is_err() {
        return input("Not a valid JSON file");
    }
    session.standard().bm_load_new_config(text.clone())?;
    if let Ok(config) = Config::read(&text) {
        session.config = config;
    }
    Ok(())
}

pub fn swap_configs(session: &mut Session, _: &[&str]) -> Outcome {
    say!(session, "Swapping configs");
    session.standard().bm_swap_configs()?;
    let json = session.standard().bm_get_config()?;
    if let Ok(config) = Config::read(&json) {
        session.config = config;
    }
    Ok(())
}

fn write(path: &str, contents: &[u8]) -> Outcome {
    std::fs::write(path, contents).map_err(|error| Problem::Input(format!("{path}: {error}")))
}

pub fn write_config(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let json = session.standard().bm_get_config()?;
    write(arguments[0], json.as_bytes())
}

pub fn serialize_state(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let state = session.standard().bm_serialize_state()?;
    // Bytes of BMv2's own, and no text.
    write(arguments[0], &state.0)
}

fn number(text: &str, name: &str) -> Outcome<i64> {
    text.parse().map_err(|_| Problem::Input(format!("Bad format for {name}, expected integer")))
}

/// Queues are those of the devices: BMv2's command line prints nothing, whatever the answer is. Here the answer is printed.
fn check_queue(session: &mut Session, answer: i32) -> Outcome {
    if answer != 0 {
        say!(session, "Error: the switch does not limit its egress queues");
    }
    Ok(())
}

pub fn set_queue_depth(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 1)?;
    let depth = number(arguments[0], "nb_pkts")? as i32;
    let port = arguments.get(1).map(|port| number(port, "egress_port")).transpose()?;
    let answer = match port {
        Some(port) => session.simple_switch().set_egress_queue_depth(port as i32, depth)?,
        None => session.simple_switch().set_all_egress_queue_depths(depth)?,
    };
    check_queue(session, answer)
}

pub fn set_queue_rate(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 1)?;
    let rate = number(arguments[0], "rate_pps")?;
    let port = arguments.get(1).map(|port| number(port, "egress_port")).transpose()?;
    let answer = match port {
        Some(port) => session.simple_switch().set_egress_queue_rate(port as i32, rate)?,
        None => session.simple_switch().set_all_egress_queue_rates(rate)?,
    };
    check_queue(session, answer)
}

pub fn time_elapsed(session: &mut Session, _: &[&str]) -> Outcome {
    let time = session.simple_switch().get_time_elapsed_us()?;
    say!(session, "{time}");
    Ok(())
}

pub fn time_since_epoch(session: &mut Session, _: &[&str]) -> Outcome {
    let time = session.simple_switch().get_time_since_epoch_us()?;
    say!(session, "{time}");
    Ok(())
}

pub fn shell(session: &mut Session, arguments: &[&str]) -> Outcome {
    let output = Command::new("sh").arg("-c").arg(arguments.join(" ")).output()?;
    session.output.write_all(&output.stdout)?;
    say!(session, "");
    Ok(())
}
