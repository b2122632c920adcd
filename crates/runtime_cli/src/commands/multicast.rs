//! Multicast groups, and mirroring sessions.

use crate::problem::{Outcome, Problem, input};
use crate::session::{Session, at_least, exactly, say};
use crate::values::integer;
use bm_runtime::replication::MirroringSession;
use serde_json::Value;

const NO_GROUP: &str = "Bad format for multicast group id";
const NO_NODE: &str = "Bad format for node handle";

/// A port's number beyond this makes a map of megabytes.
const LARGEST_PORT: usize = 1 << 16;

pub fn create(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let group = integer(arguments[0], NO_GROUP)?;
    say!(session, "Creating multicast group {group}");
    session.multicast().bm_mc_mgrp_create(0, group)?;
    Ok(())
}

pub fn destroy(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let group = integer(arguments[0], NO_GROUP)?;
    say!(session, "Destroying multicast group {group}");
    session.multicast().bm_mc_mgrp_destroy(0, group)?;
    Ok(())
}

/// A map of ports: `1` for each that is named, port 0 at the end.
fn map(ports: &[&str], what: &str) -> Outcome<String> {
    let mut numbers: Vec<usize> = Vec::new();
    for text in ports {
        match text.parse::<usize>().ok().filter(|port| *port < LARGEST_PORT) {
            Some(port) if numbers.contains(&port) => return input(format!("Found duplicate {what} number '{port}'")),
            Some(port) => numbers.push(port),
            None => return input(format!("'{text}' is not a valid {what} number")),
        }
    }
    let length = numbers.iter().max().map_or(0, |largest| largest + 1);
    Ok((0..length).rev().map(|port| if numbers.contains(&port) { '1' } else { '0' }).collect())
}

/// The ports before the bar, and the aggregation groups behind it.
fn maps(arguments: &[&str]) -> Outcome<(String, String)> {
    let at = arguments.iter().position(|word| *word == "|");
    let (ports, lags) = match at {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, &[][..]),
    };
    Ok((map(ports, "port")?, map(lags, "lag")?))
}

pub fn node_create(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 1)?;
    let rid = integer(arguments[0], "Bad format for rid")?;
    let (ports, lags) = maps(&arguments[1..])?;
    say!(session, "Creating node with rid {rid} , port map {ports} and lag map {lags}");
    let node = session.multicast().bm_mc_node_create(0, rid, ports, lags)?;
    say!(session, "node was created with handle {node}");
    Ok(())
}

pub fn node_update(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 2)?;
    let node = integer(arguments[0], NO_NODE)?;
    let (ports, lags) = maps(&arguments[1..])?;
    say!(session, "Updating node {node} with port map {ports} and lag map {lags}");
    session.multicast().bm_mc_node_update(0, node, ports, lags)?;
    Ok(())
}

pub fn associate(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let (group, node) = (integer(arguments[0], NO_GROUP)?, integer(arguments[1], NO_NODE)?);
    say!(session, "Associating node {node} to multicast group {group}");
    session.multicast().bm_mc_node_associate(0, group, node)?;
    Ok(())
}

pub fn dissociate(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let (group, node) = (integer(arguments[0], NO_GROUP)?, integer(arguments[1], NO_NODE)?);
    say!(session, "Dissociating node {node} from multicast group {group}");
    session.multicast().bm_mc_node_dissociate(0, group, node)?;
    Ok(())
}

pub fn node_destroy(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let node = integer(arguments[0], NO_NODE)?;
    say!(session, "Destroying node {node}");
    session.multicast().bm_mc_node_destroy(0, node)?;
    Ok(())
}

pub fn set_lag(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 2)?;
    let lag: i16 = arguments[0].parse().or_else(|_| input("Bad format for lag index"))?;
    let ports = map(&arguments[1..], "lag")?;
    say!(session, "Setting lag membership: {lag} <- {ports}");
    session.multicast().bm_mc_set_lag_membership(0, lag, ports)?;
    Ok(())
}

fn members(value: &Value) -> String {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

pub fn dump(session: &mut Session, _: &[&str]) -> Outcome {
    let json = session.multicast().bm_mc_get_entries(0)?;
    let Ok(json) = crate::json::parse(&json) else {
        say!(session, "Exception when retrieving MC entries");
        return Ok(());
    };
    let list = |key: &str| json[key].as_array().cloned().unwrap_or_default();
    let by_handle =
        |key: &str, handle: &Value| list(key).into_iter().find(|known| known["handle"] == *handle).unwrap_or_default();
    say!(session, "==========\nMC ENTRIES");
    for group in list("mgrps") {
        say!(session, "**********\nmgrp({})", group["id"]);
        for node in group["l1_handles"].as_array().cloned().unwrap_or_default() {
            let known = by_handle("l1_handles", &node);
            let copies = by_handle("l2_handles", &known["l2_handle"]);
            let (ports, lags) = (members(&copies["ports"]), members(&copies["lags"]));
            say!(session, "  -> (L1h={node}, rid={}) -> (ports=[{ports}], lags=[{lags}])", known["rid"]);
        }
    }
    say!(session, "==========\nLAGS");
    for lag in list("lags") {
        say!(session, "lag({}) -> ports=[{}]", lag["id"], members(&lag["ports"]));
    }
    say!(session, "==========");
    Ok(())
}

fn number(text: &str, name: &str) -> Outcome<i32> {
    text.parse().map_err(|_| Problem::Input(format!("Bad format for {name}, expected integer")))
}

pub fn mirroring_add(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let (mirror, port) = (number(arguments[0], "mirror_id")?, number(arguments[1], "egress_port")?);
    session.simple_switch().mirroring_session_add(mirror, MirroringSession { port: Some(port), mgid: None })?;
    Ok(())
}

pub fn mirroring_add_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let (mirror, group) = (number(arguments[0], "mirror_id")?, number(arguments[1], "mgrp")?);
    session.simple_switch().mirroring_session_add(mirror, MirroringSession { port: None, mgid: Some(group) })?;
    Ok(())
}

pub fn mirroring_delete(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let mirror = number(arguments[0], "mirror_id")?;
    session.simple_switch().mirroring_session_delete(mirror)?;
    Ok(())
}

pub fn mirroring_get(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let mirror = number(arguments[0], "mirror_id")?;
    let config = session.simple_switch().mirroring_session_get(mirror)?;
    let shown = |value: Option<i32>| value.map_or("None".to_string(), |value| value.to_string());
    say!(session, "MirroringSessionConfig(port={}, mgid={})", shown(config.port), shown(config.mgid));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn port_0_is_at_the_end_of_a_map() {
        assert_eq!(map(&["1", "3", "0"], "port"), Ok("1011".to_string()));
        assert_eq!(map(&[], "port"), Ok(String::new()));
        let twice = map(&["1", "1"], "port").map_err(|problem| problem.to_string());
        assert_eq!(twice, Err("Error: Found duplicate port number '1'".to_string()));
        let none = map(&["-1"], "lag").map_err(|problem| problem.to_string());
        assert_eq!(none, Err("Error: '-1' is not a valid lag number".to_string()));
    }
}
