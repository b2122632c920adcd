//! freeRtr's messages as entries of its P4 program: what its `forwarder.py` writes into router.p4's tables, for the commands of freeRtr's own bench.
//!
//! Both data planes of the duel have the same messages: the one in C gets them as they are, router.p4 the entries below.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A command, and the entries that it becomes. `{1}` is the message's first word behind the command.
struct Command {
    name: &'static str,
    /// Words that number a subinterface.
    subinterfaces: &'static [usize],
    entries: &'static [&'static str],
}

/// What router.p4 numbers subinterfaces with has ten bits. Numbers of freeRtr's bench beyond are replaced for both data planes.
const SUBINTERFACES: u64 = 1 << 10;

/// `mplspack_add` has no entry: router.p4 takes labels on every port. The tables of next hops in ig_ctl_outport, eg_ctl_outport, ig_ctl_ipv4c and
/// ig_ctl_ipv6c are filled by `nhop2port_add`, which freeRtr sends with each neighbour. The C has no use for it, so its bench leaves it out; here,
/// neighbours bring these entries.
const COMMANDS: &[Command] = &[
    Command {
        name: "portvrf_add",
        subinterfaces: &[1],
        entries: &["add ig_ctl_vrf.tbl_vrf ig_md.source_id:{1} act_set_vrf(vrf:{2})"],
    },
    Command { name: "mplspack_add", subinterfaces: &[1], entries: &[] },
    Command {
        name: "route4_add",
        subinterfaces: &[],
        entries: &[
            "add ig_ctl_ipv4.tbl_ipv4_fib_lpm hdr.ipv4.dst_addr:{1} ig_md.vrf:{4} ig_ctl_ipv4.act_ipv4_set_nexthop(nexthop_id:{2})",
            "add ig_ctl_ipv4b.tbl_ipv4_fib_lpm hdr.ipv4b.dst_addr:{1} ig_md.vrf:{4} ig_ctl_ipv4b.act_ipv4_set_nexthop(nexthop_id:{2})",
            "add ig_ctl_ipv4c.tbl_ipv4_fib_lpm hdr.ipv4.src_addr:{1} ig_md.vrf:{4} ig_ctl_ipv4c.act_ipv4_cpl_found(hop:{2})",
        ],
    },
    Command {
        name: "route6_add",
        subinterfaces: &[],
        entries: &[
            "add ig_ctl_ipv6.tbl_ipv6_fib_lpm hdr.ipv6.dst_addr:{1} ig_md.vrf:{4} ig_ctl_ipv6.act_ipv6_set_nexthop(nexthop_id:{2})",
            "add ig_ctl_ipv6b.tbl_ipv6_fib_lpm hdr.ipv6b.dst_addr:{1} ig_md.vrf:{4} ig_ctl_ipv6b.act_ipv6_set_nexthop(nexthop_id:{2})",
            "add ig_ctl_ipv6c.tbl_ipv6_fib_lpm hdr.ipv6.src_addr:{1} ig_md.vrf:{4} ig_ctl_ipv6c.act_ipv6_cpl_found(hop:{2})",
        ],
    },
    Command {
        name: "label4_add",
        subinterfaces: &[],
        entries: &[
            "add ig_ctl_mpls.tbl_mpls_fib hdr.mpls0.label:{1} ig_ctl_mpls.act_mpls_swap0_set_nexthop(egress_label:{4}, nexthop_id:{2})",
            "add ig_ctl_mpls.tbl_mpls_fib_decap hdr.mpls1.label:{1} ig_ctl_mpls.act_mpls_swap1_set_nexthop(egress_label:{4}, nexthop_id:{2})",
        ],
    },
    Command {
        name: "pppoe_add",
        subinterfaces: &[1, 2],
        entries: &[
            "add ig_ctl_pppoe.tbl_pppoe ig_md.source_id:{2} hdr.pppoeD.session:{5} act_pppoe_data(port:{1})",
            "add eg_ctl_nexthop.tbl_nexthop eg_md.nexthop_id:{3} \
             act_ipv4_pppoe(dst_mac_addr:{6}, src_mac_addr:{7}, egress_port:{2}, acl_port:{1}, session:{5})",
            "add eg_ctl_outport.tbl_nexthop eg_md.nexthop_id:{3} eg_ctl_outport.act_set_port_nexthop(subif:{1})",
            "add ig_ctl_outport.tbl_nexthop ig_md.nexthop_id:{3} ig_ctl_outport.act_set_port_nexthop(port:{2}, subif:{1})",
            "add ig_ctl_ipv4c.tbl_nexthop neigh:{3} ig_ctl_ipv4c.act_set_port_nexthop(subif:{1})",
            "add ig_ctl_ipv6c.tbl_nexthop neigh:{3} ig_ctl_ipv6c.act_set_port_nexthop(subif:{1})",
        ],
    },
    Command {
        name: "portvlan_add",
        subinterfaces: &[1, 2],
        entries: &[
            "add ig_ctl_vlan_in.tbl_vlan_in ig_md.ingress_id:{2} hdr.vlan.vid:{3} hdr.vlanq.vid:0 act_set_vlan_iface(src:{1})",
            "add eg_ctl_vlan_out.tbl_vlan_out eg_md.target_id:{1} act_set_vlan_port(port:{2}, vlan:{3})",
            "add ig_ctl_outport.tbl_vlan_out ig_md.target_id:{1} act_set_port_vlan(port:{2})",
        ],
    },
    Command {
        name: "neigh4_add",
        subinterfaces: &[6],
        entries: &[
            "add eg_ctl_nexthop.tbl_nexthop eg_md.nexthop_id:{1} act_ipv4_fib_hit(dst_mac_addr:{3}, src_mac_addr:{5}, egress_port:{6})",
            "add ig_ctl_ipv4.tbl_ipv4_fib_host hdr.ipv4.dst_addr:{2} ig_md.vrf:{4} ig_ctl_ipv4.act_ipv4_set_nexthop(nexthop_id:{1})",
            "add ig_ctl_ipv4b.tbl_ipv4_fib_host hdr.ipv4b.dst_addr:{2} ig_md.vrf:{4} ig_ctl_ipv4b.act_ipv4_set_nexthop(nexthop_id:{1})",
            "add ig_ctl_ipv4c.tbl_ipv4_fib_lpm hdr.ipv4.src_addr:{2}/32 ig_md.vrf:{4} ig_ctl_ipv4c.act_ipv4_cpl_found(hop:{1})",
            "add eg_ctl_outport.tbl_nexthop eg_md.nexthop_id:{1} eg_ctl_outport.act_set_port_nexthop(subif:{6})",
            "add ig_ctl_outport.tbl_nexthop ig_md.nexthop_id:{1} ig_ctl_outport.act_set_port_nexthop(port:{6}, subif:{6})",
            "add ig_ctl_ipv4c.tbl_nexthop neigh:{1} ig_ctl_ipv4c.act_set_port_nexthop(subif:{6})",
            "add ig_ctl_ipv6c.tbl_nexthop neigh:{1} ig_ctl_ipv6c.act_set_port_nexthop(subif:{6})",
        ],
    },
];

/// A message as both data planes can have it, and its entries in STF.
pub fn translate(message: &str) -> Result<(String, Vec<String>), String> {
    let mut words: Vec<String> = message.split_whitespace().map(str::to_string).collect();
    let name = words.first().cloned().unwrap_or_default();
    let command = COMMANDS.iter().find(|command| command.name == name);
    let command = command.ok_or_else(|| format!("the bench knows no entries of router.p4 for the command `{name}`"))?;
    for number in command.subinterfaces {
        let word = words.get_mut(*number).ok_or_else(|| format!("`{message}`: too short"))?;
        let subinterface: u64 = word.parse().map_err(|error| format!("`{message}`: {error}"))?;
        *word = (subinterface % SUBINTERFACES).to_string();
    }
    let entry =
        |template: &&str| {
            words.iter().enumerate().skip(1).fold(template.to_string(), |entry, (number, word)| {
                entry.replace(&format!("{{{number}}}"), &value(word))
            })
        };
    let entries: Vec<String> = command.entries.iter().map(entry).collect();
    match entries.iter().find(|entry| entry.contains('{')) {
        Some(_) => Err(format!("`{message}`: too short")),
        None => Ok((words.join(" "), entries)),
    }
}

/// Addresses become numbers, as which STF takes them in every place.
fn value(word: &str) -> String {
    let (address, rest) = match word.split_once('/') {
        Some((address, length)) => (address, format!("/{length}")),
        None => (word, String::new()),
    };
    let number = address.parse::<Ipv4Addr>().map(|address| format!("{:#010x}", u32::from(address)));
    let number =
        number.or_else(|_| address.parse::<Ipv6Addr>().map(|address| format!("{:#034x}", u128::from(address))));
    number.map_or_else(|_| word.to_string(), |number| number + &rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_becomes_the_entries_that_freertrs_controller_writes() {
        let (message, entries) = translate("route4_add 1.1.1.0/24 1234 192.168.1.1 12").unwrap();
        assert_eq!((message.as_str(), entries.len()), ("route4_add 1.1.1.0/24 1234 192.168.1.1 12", 3));
        assert_eq!(
            entries[0],
            "add ig_ctl_ipv4.tbl_ipv4_fib_lpm hdr.ipv4.dst_addr:0x01010100/24 ig_md.vrf:12 \
             ig_ctl_ipv4.act_ipv4_set_nexthop(nexthop_id:1234)"
        );
        let (_, entries) = translate("neigh4_add 1234 192.168.1.1 00:11:22:33:44:55 12 00:22:33:44:55:66 0").unwrap();
        assert_eq!(entries.len(), 8);
        assert!(
            entries[0].ends_with("(dst_mac_addr:00:11:22:33:44:55, src_mac_addr:00:22:33:44:55:66, egress_port:0)")
        );
        assert!(entries[3].contains("hdr.ipv4.src_addr:0xc0a80101/32 "), "{}", entries[3]);
    }

    #[test]
    fn subinterfaces_get_numbers_of_ten_bits_in_both() {
        let (message, entries) = translate("portvlan_add 3333 0 1234").unwrap();
        assert_eq!(message, "portvlan_add 261 0 1234");
        assert!(
            entries[0].contains("ig_md.ingress_id:0 hdr.vlan.vid:1234 hdr.vlanq.vid:0 act_set_vlan_iface(src:261)")
        );
    }

    #[test]
    fn what_has_no_entries_here_is_refused() {
        assert!(translate("gre4_add 1 2 3").unwrap_err().contains("`gre4_add`"));
        assert!(translate("route4_add 1.1.1.0/24 1234").unwrap_err().contains("too short"));
        assert!(translate("portvrf_add").unwrap_err().contains("too short"));
    }
}
