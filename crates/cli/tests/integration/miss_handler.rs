//! `bacus run --miss-handler`: code of the user answers packets that miss, within the switch.

use crate::command::{bacus, capture, has_dpdk, path, scratch};
use std::fs;
use std::process::Command;

/// Hosts with an even address are at port 3; of others the handler writes nothing that suits.
const HANDLER: &str = r#"
#include <stdio.h>
#include <string.h>
#include "miss_handler.h"

void
miss_handler(const struct miss *miss)
{
	char command[128];

	if (strcmp(miss->table, "ingress.hosts") != 0 || miss->length < 14)
		return;
	snprintf(command, sizeof(command), "add hosts h.ethernet.dst:0x%02x %s", miss->packet[5],
	    miss->packet[5] % 2 == 0 ? "forward(port:3)" : "forward(port:x)");
	if (miss->write(miss->context, command) == 0)
		miss->write(miss->context, "add hosts h.ethernet.dst:0x99 forward(port:3)");
}
"#;

const PACKETS: &str = "\
packet 1 000000000008 020000000001 0800 01
packet 1 000000000009 020000000001 0800 02
packet 1 000000000008 020000000001 0800 03
packet 1 000000000004 020000000001 0800 04
";

#[test]
fn packets_go_on_with_what_the_handler_writes() {
    if !has_dpdk() {
        return;
    }
    let folder = scratch("miss_handler");
    let file = |name: &str| folder.join(name);
    fs::write(file("handler.c"), HANDLER).expect("the folder is ours");
    fs::write(file("packets.stf"), PACKETS).expect("the folder is ours");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wall", "-Werror", "-I"])
        .arg(path("runtime"))
        .arg("-o")
        .args([file("handler.so"), file("handler.c")])
        .status();
    assert!(compiled.expect("there is a C compiler").success());
    let ran = bacus()
        .arg("run")
        .arg(path("crates/native/tests/switch/misses.p4"))
        .args(["--port", &format!("1=pcap:{}", file("packets.stf").display())])
        .args(["--port", &format!("3=pcap:,{}", file("out.pcap").display())])
        .arg("--miss-handler")
        .arg(file("handler.so"))
        .arg("--state")
        .arg(file("state"))
        .output()
        .expect("the command starts");
    let (said, warned) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{warned}");
    // The type is one more than it was, once; the source too. A packet that finds the entry of an earlier one may leave before it.
    let mut sent: Vec<Vec<u8>> = capture(&file("out.pcap")).into_iter().map(|frame| frame[5..15].to_vec()).collect();
    sent.sort_by_key(|bytes| bytes[9]);
    let frame = |dst: u8, number: u8| vec![dst, 2, 0, 0, 0, 0, 2, 8, 1, number];
    assert_eq!(sent, [frame(8, 1), frame(8, 3), frame(4, 4)]);
    assert!(warned.contains("the miss handler's"), "{warned}");
    assert!(said.contains("packets resumed"), "{said}");
    // What it wrote is there at the next start: no client has waited for it.
    let ran = bacus()
        .arg("run")
        .arg(path("crates/native/tests/switch/misses.p4"))
        .args(["--port", "1=pcap:", "--state"])
        .arg(file("state"))
        .output()
        .expect("the command starts");
    let ready = String::from_utf8_lossy(&ran.stderr);
    assert!(ready.contains("; entries 3;"), "{ready}");
}

#[test]
fn a_library_that_is_none_is_refused() {
    if !has_dpdk() {
        return;
    }
    let ran = bacus()
        .arg("run")
        .arg(path("crates/native/tests/switch/misses.p4"))
        .args(["--port", "1=pcap:", "--miss-handler"])
        .arg(path("README.md"))
        .output()
        .expect("the command starts");
    let warned = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(1) && warned.contains("--miss-handler"), "{warned}");
}
