//! Notices two switches on one interface: each would receive every frame, and forward it again.
//!
//! A switch binds a socket in the abstract namespace for each interface, by the interface's index. Such names belong to a network namespace, and vanish
//! with the process, however it ends.

use super::Port;
use nix::net::if_::if_nametoindex;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

/// Lasts as long as the switch uses the interface.
#[derive(Debug)]
pub struct Claim {
    /// The number of the port.
    pub port: u16,
    _socket: UnixListener,
}

/// Claims the interfaces of these ports. A warning for each interface that another switch uses.
pub fn claim_interfaces(ports: &[Port]) -> (Vec<Claim>, Vec<String>) {
    let (mut claims, mut warnings) = (Vec::new(), Vec::new());
    for port in ports {
        let Some(interface) = port.interface() else { continue };
        let Ok(index) = if_nametoindex(interface) else { continue };
        let name = SocketAddr::from_abstract_name(format!("bacus-interface-{index}"));
        match name.and_then(|name| UnixListener::bind_addr(&name)) {
            Ok(socket) => claims.push(Claim { port: port.number, _socket: socket }),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => warnings.push(format!(
                "port {}: another switch is on interface `{interface}`, too: both receive and forward each of its frames",
                port.number
            )),
            // Without abstract sockets nothing can be noticed.
            Err(_) => {}
        }
    }
    (claims, warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_switch_on_an_interface_is_noticed_until_the_first_ends() {
        let ports = |text: &str| vec![text.parse::<Port>().expect("the port is right")];
        let (first, none) = claim_interfaces(&ports("1=lo"));
        assert!(first.len() == 1 && none.is_empty(), "{none:?}");
        let (second, warnings) = claim_interfaces(&ports("3=net_af_packet0,iface=lo"));
        assert!(
            second.is_empty() && warnings[0].starts_with("port 3: another switch is on interface `lo`"),
            "{warnings:?}"
        );
        drop(first);
        assert_eq!(claim_interfaces(&ports("1=lo")).1, Vec::<String>::new());
        assert!(claim_interfaces(&ports("1=net_tap0,iface=lo")).0.is_empty(), "a tap device makes its interface");
    }
}
