"""The exercises of p4lang/tutorials with packets: their topologies, programs, runtime JSON and controllers under BMv2's names."""

import itertools
import struct
import sys
import unittest

from tutorial_network import CHECKOUT, Network, until

sys.path.insert(0, str(CHECKOUT / "utils"))
import p4config  # noqa: E402, F401 (before the library, which imports the module that this one makes)


def checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ipv4(source, destination, protocol, payload):
    """A packet with 64 hops to live."""
    addresses = b"".join(bytes(map(int, address.split("."))) for address in (source, destination))
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0) + addresses
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + payload


class Packets(unittest.TestCase):
    def all_ping(self, network, hosts=None):
        for one, other in itertools.permutations(hosts or sorted(network.topology["hosts"]), 2):
            self.assertTrue(network.pings(one, other), f"{one} reaches {other}")

    def test_basic(self):
        for topology in ["pod-topo", "triangle-topo"]:
            with self.subTest(topology):
                network = Network(self, "basic", "basic", f"{topology}/topology.json")
                self.all_ping(network)
                self.doCleanups()

    def test_basic_tunnel(self):
        network = Network(self, "basic_tunnel", "basic_tunnel")
        self.all_ping(network)
        # Into the tunnel to h2, with the address of h3: the tunnel counts.
        frame = bytes.fromhex("ffffffffffff") + bytes(6) + b"\x12\x12" + struct.pack("!HH", 0x0800, 2) + ipv4("10.0.1.1", "10.0.3.3", 17, bytes(8))
        got = network.sent("h1", [frame], ["h2", "h3"], "1212")
        self.assertEqual((1, 0), (len(got["h2"]), len(got["h3"])))

    def test_calc(self):
        network = Network(self, "calc", "calc")
        for operator, expected in [("+", 15), ("-", 9), ("&", 0), ("|", 15), ("^", 15)]:
            head = b"P4\x01" + operator.encode() + struct.pack("!II", 12, 3)
            frame = bytes.fromhex("000400000000") + bytes(6) + b"\x12\x34" + head + bytes.fromhex("deadbabe") + b" "
            got = network.sent("h1", [frame], [], "1234")["h1"]
            self.assertEqual([expected], [struct.unpack("!I", one[26:30])[0] for one in got], operator)

    def test_ecn(self):
        self.all_ping(Network(self, "ecn", "ecn"))

    def test_firewall(self):
        network = Network(self, "firewall", "basic", "pod-topo/topology.json")
        self.all_ping(network)
        # A connection that begins outside is refused; one from within is not, nor its answers.
        tcp = lambda ports, flags: struct.pack("!HHIIBBHHH", *ports, 1, 0, 0x50, flags, 100, 0, 0)
        frame = lambda to, packet: bytes.fromhex(to.replace(":", "")) + bytes(6) + b"\x08\x00" + packet
        gateway = {"h1": "080000000100", "h3": "080000000300"}
        outside = frame(gateway["h3"], ipv4("10.0.3.3", "10.0.1.1", 6, tcp((80, 1000), 2)))
        inside = frame(gateway["h1"], ipv4("10.0.1.1", "10.0.3.3", 6, tcp((1000, 80), 2)))
        is_tcp = lambda frames: [one for one in frames if one[23] == 6 and one[34:38] in (struct.pack("!HH", 80, 1000), struct.pack("!HH", 1000, 80))]
        self.assertEqual([], is_tcp(network.sent("h3", [outside], ["h1"], "0800")["h1"]))
        self.assertTrue(is_tcp(network.sent("h1", [inside], ["h3"], "0800")["h3"]))
        answered = is_tcp(network.sent("h3", [outside], ["h1"], "0800")["h1"])
        self.assertTrue(answered, "an answer passes")

    def test_flowcache(self):
        network = Network(self, "flowcache", "flowcache")
        network.controller()
        until("ping from h1 to h2", lambda: network.pings("h1", "h2"), 60)

    def test_link_monitor(self):
        self.all_ping(Network(self, "link_monitor", "link_monitor", "pod-topo/topology.json"))

    def test_load_balance(self):
        network = Network(self, "load_balance", "load_balance")
        tcp = lambda port: struct.pack("!HHIIBBHHH", port, 80, 1, 0, 0x50, 2, 100, 0, 0)
        frame = lambda port: bytes.fromhex("080000000100") + bytes(6) + b"\x08\x00" + ipv4("10.0.1.1", "10.0.0.1", 6, tcp(port))
        got = network.sent("h1", [frame(1000 + number) for number in range(64)], ["h2", "h3"], "0800")
        ports = {name: {one[34:36] for one in got[name] if one[36:38] == b"\0P"} for name in ("h2", "h3")}
        self.assertTrue(ports["h2"] and ports["h3"], "both have a share")
        self.assertEqual(64, len(ports["h2"] | ports["h3"]), "each connection is somewhere")
        self.assertFalse(ports["h2"] & ports["h3"], "none is at both")

    def test_mri(self):
        self.all_ping(Network(self, "mri", "mri"))

    def test_multicast(self):
        network = Network(self, "multicast", "multicast", "sig-topo/topology.json")
        self.all_ping(network, ["h1", "h2", "h3"])
        # The group has no port of h4, which its README expects not to be reached.
        self.assertFalse(network.pings("h1", "h4"))

    def test_p4runtime(self):
        network = Network(self, "p4runtime", "advanced_tunnel")
        network.controller()
        until("ping from h1 to h2", lambda: network.pings("h1", "h2"), 60)

    def test_qos(self):
        self.all_ping(Network(self, "qos", "qos"))

    def test_source_routing(self):
        network = Network(self, "source_routing", "source_routing")
        # To s2 and on to s3, then to s1, s2 and h2: the example of its README.
        route = b"".join(struct.pack("!H", port | (0x8000 if last else 0)) for port, last in [(2, 0), (3, 0), (2, 0), (2, 0), (1, 1)])
        frame = bytes.fromhex("ffffffffffff") + bytes(6) + b"\x12\x34" + route + ipv4("10.0.1.1", "10.0.2.2", 17, bytes(8))
        got = network.sent("h1", [frame], ["h2"], "0800")["h2"]
        self.assertEqual([64 - 5], [one[22] for one in got if one[23] == 17])


if __name__ == "__main__":
    unittest.main(verbosity=2)
