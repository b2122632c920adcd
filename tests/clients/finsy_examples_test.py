"""finsy's own examples, from a checkout: the controllers run as they are, on switches started with their P4 programs."""

import asyncio
import os
import pathlib
import re
import socket
import sys
import unittest
import urllib.request

import finsy as fy
from topology import Bridge, Example, Host, Network, until

EXAMPLES = pathlib.Path(os.environ["CHECKOUT"]) / "examples"


def host(number, **options):
    """The host that finsy's network for examples has by default."""
    return Host(f"h{number}", f"00:00:00:00:00:{number:02x}", f"10.0.0.{number}/8", **options)


def linear():
    """Three switches in a row with a host each."""
    hosts = [host(number) for number in (1, 2, 3)]
    links = [(f"h{number}", f"s{number}") for number in (1, 2, 3)] + [("s1", "s2"), ("s2", "s3")]
    return ["s1", "s2", "s3"], hosts, links


def python(test, *words, **options):
    return Example(test, sys.executable, "-u", *words, **options)


async def entries(address, entry):
    """How many entries of a kind a switch has; their texts."""
    async with fy.Switch("reader", address) as switch:
        return [read async for read in switch.read(entry)]


class Gnmi(unittest.TestCase):
    def setUp(self):
        self.host = host(1)
        self.network = Network(self, None, ["s1"], [self.host], [("h1", "s1")])

    def test_demo1(self):
        demo = python(self, EXAMPLES / "gnmi/demo1.py")
        demo.prints("Interface 's1-eth1' is UP\n")

    def test_demo2(self):
        demo = python(self, EXAMPLES / "gnmi/demo2.py")
        demo.prints("initial: s1-eth1 is UP\n")
        self.host.run("ip", "link", "set", "eth0", "down")
        demo.prints("update:  s1-eth1 is DOWN\n")
        self.host.run("ip", "link", "set", "eth0", "up")
        demo.prints("update:  s1-eth1 is DOWN\nupdate:  s1-eth1 is UP\n")

    def test_demo3(self):
        demo = python(self, EXAMPLES / "gnmi/demo3.py")
        down_and_up = "update:  s1-eth1 is DOWN\nupdate:  s1-eth1 is UP\n"
        demo.prints("initial: s1-eth1 is UP\n" + 2 * down_and_up)


class Hello(unittest.TestCase):
    def setUp(self):
        self.network = Network(self, EXAMPLES / "hello/p4/hello.p4", *linear())

    def test_demo1(self):
        python(self, EXAMPLES / "hello/demo1.py")
        self.network.ping_all()

    def test_demo2(self):
        demo = python(self, EXAMPLES / "hello/demo2.py")
        self.network.ping_all()
        self.assertIn("(1)s2-eth1 (2)s2-eth2 (3)s2-eth3", demo.text())
        # Each switch knows each host.
        for address in ["127.0.0.1:50001", "127.0.0.1:50002", "127.0.0.1:50003"]:
            read = lambda: len(asyncio.run(entries(address, fy.P4TableEntry("ipv4")))) == 3
            until(f"three hosts at {address}", read)

    def test_demo3(self):
        """Its second connection to s1 is refused: it has a configuration of a role, in Stratum's own form."""
        demo = python(self, EXAMPLES / "hello/demo3.py")
        self.network.ping_all()
        self.assertIn("[s1b]", demo.text())


class Others(unittest.TestCase):
    def test_l2_switch(self):
        network = Network(self, EXAMPLES / "l2_switch/p4/l2_switch.p4", *linear())
        python(self, EXAMPLES / "l2_switch/demo.py")
        network.ping_all()

    def test_simple(self):
        hosts = [Host(f"h{number}", f"00:00:00:00:00:0{number}", f"10.0.{number}.10/24", f"10.0.{number}.1",
                      {f"10.0.{number}.1": "00:00:00:aa:bb:cc"}) for number in (1, 2)]
        network = Network(self, EXAMPLES / "simple/p4/simple_router.p4", ["s1"], hosts, [("h1", "s1"), ("h2", "s1")])
        python(self, EXAMPLES / "simple/demo.py")
        network.ping_all()

    def test_tunnel(self):
        hosts = [Host(f"h{number}", f"08:00:00:00:0{number}:{number}{number}", f"10.0.{number}.{number}/24",
                      f"10.0.{number}.{number}0", {f"10.0.{number}.{number}0": f"08:00:00:00:0{number}:00"})
                 for number in (1, 2, 3)]
        # finsy numbers the ports of hosts after those of links here.
        links = [("s1", "s2"), ("s1", "s3"), ("s2", "s3"), ("h1", "s1"), ("h2", "s2"), ("h3", "s3")]
        network = Network(self, EXAMPLES / "tunnel/p4/advanced_tunnel.p4", ["s1", "s2", "s3"], hosts, links)
        python(self, EXAMPLES / "tunnel/demo1.py")
        for one, other in [("h1", "h2"), ("h2", "h1")]:
            one, other = network.hosts[one], network.hosts[other]
            until(f"answer of {other.name}", lambda: one.pings(other))

    def test_basic(self):
        of = {1: (1, 11, 10), 2: (2, 22, 20), 3: (3, 33, 30), 4: (4, 44, 40)}
        hosts = [Host(f"h{n}", f"08:00:00:00:0{n}:{last}", f"10.0.{n}.{n}/24", f"10.0.{n}.{gateway}",
                      {f"10.0.{n}.{gateway}": f"08:00:00:00:0{n}:00"}) for n, last, gateway in of.values()]
        links = [("s1", "h1"), ("s1", "h2"), ("s1", "s3"), ("s1", "s4"), ("s2", "h3"), ("s2", "h4"), ("s2", "s4"),
                 ("s2", "s3")]
        network = Network(self, EXAMPLES / "basic/p4/basic.p4", ["s1", "s2", "s3", "s4"], hosts, links)
        python(self, EXAMPLES / "basic/demo.py")
        network.ping_all()


    def test_flowcache(self):
        """The first packet of a flow becomes an entry, whose port is a number made of the addresses: nobody is behind it."""
        neighbours = {f"10.0.0.{number}": f"00:00:00:00:00:0{number}" for number in (1, 2)}
        hosts = [host(number, neighbours=neighbours) for number in (1, 2)]
        network = Network(self, EXAMPLES / "flowcache/p4/flowcache.p4", ["s1"], hosts, [("h1", "s1"), ("h2", "s1")],
                          cpu_port=510)
        demo = python(self, EXAMPLES / "flowcache/demo.py")
        demo.prints("Insert CloneSessionEntry\n")
        self.assertFalse(hosts[0].pings(hosts[1]))
        demo.prints("Insert into flow_cache: protocol=0x1 src_addr=0xa000001 dst_addr=0xa000002"
                    " -> cached_action(port=0x3, decrement_ttl=0x1, new_dscp=0x5)\n")

    def test_tls(self):
        certificates = EXAMPLES.parent / "tests/test_certs/mtls1"
        names = {"--tls-cert": "server.crt", "--tls-key": "server.key", "--tls-ca": "ca.crt"}
        arguments = [word for flag, name in names.items() for word in (flag, certificates / name)]
        network = Network(self, EXAMPLES / "hello/p4/hello.p4", ["s1", "s2"], [host(1), host(2)],
                          [("h1", "s1"), ("h2", "s2"), ("s1", "s2")], arguments=arguments)
        python(self, EXAMPLES / "tls_demo/demo1.py")
        network.ping_all()


# Sends a datagram every half second.
SENDER = """
import socket, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    while True:
        sender.sendto(b"abc", ("10.0.2.2", 5555))
        time.sleep(0.5)
"""

# Prints each datagram of a port in hexadecimal digits.
RECEIVER = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
    receiver.bind(("", int(sys.argv[1])))
    while True:
        print(receiver.recv(4096).hex(), flush=True)
"""


async def write_defaults(number):
    """What the example inserts as entries of tables without keys, which the specification refuses (P4Runtime 1.5, 9.1): as default actions."""
    sys.path.insert(0, str(EXAMPLES / "int/demo"))
    import int_p4info
    entries = [
        int_p4info.tb_int_transit__configure_transit(switch_id=number, l3_mtu=1500),
        int_p4info.tb_int_reporting__send_report(
            dp_mac=f"f6:00:00:00:00:0{number}", dp_ip=f"10.0.0.{number}", collector_mac="00:00:00:00:09:09",
            collector_ip="10.0.9.9", collector_port=6000),
    ]
    for entry in entries:
        entry.is_default_action = True
    options = fy.SwitchOptions(initial_election_id=20)
    async with fy.Switch("writer", f"127.0.0.1:5000{number}", options) as switch:
        await switch.write([~entry for entry in entries])


class Int(unittest.TestCase):
    """In-band telemetry: the last switch reports what each switch on the path has added to a packet."""

    def test_reports(self):
        neighbours = {"10.0.1.1": "00:00:00:00:01:01", "10.0.2.2": "00:00:00:00:02:02"}
        hosts = [Host(f"h{n}", f"00:00:00:00:0{n}:0{n}", f"10.0.{n}.{n}/8", neighbours=neighbours) for n in (1, 2, 3)]
        collector = Bridge("int1", "00:00:00:00:09:09", "10.0.9.9/8")
        links = [("h1", "s1"), ("h2", "s2"), ("h3", "s3"), ("s1", "s2"), ("s1", "s3"), ("s2", "s3")]
        links += [(switch, "int1") for switch in ("s1", "s2", "s3")]
        program = EXAMPLES / "int/p4/int_v1.0/int.p4"
        # Without it the sources are for no target.
        Network(self, program, ["s1", "s2", "s3"], [*hosts, collector], links, arguments=["-DBMV2"])
        demo = python(self, EXAMPLES / "int/demo")
        demo.prints("int_listen serving on")
        refused = "has no keys, so it has no entries' \n"
        until("answers of three switches", lambda: demo.text().count(refused) == 3)
        for number in (1, 2, 3):
            asyncio.run(write_defaults(number))
        reports = Example(self, *collector.command(sys.executable, "-c", RECEIVER, 6000), log=".reports")
        Example(self, *hosts[0].command(sys.executable, "-c", SENDER), log=".sender")
        report = until("report", lambda: reports.text().splitlines())[0]
        # The example's network passes datagrams on like this.
        with socket.create_connection(("127.0.0.1", 6000)) as connection:
            connection.sendall(bytes.fromhex(report))
            until("report of three switches", lambda: len(re.findall("'hop_latency'", demo.text())) == 3)
        nodes = re.findall(r"\{'switch_id': (\d+), 'ingress_port_id': (\d+), 'egress_port_id': (\d+)", demo.text())
        # The report is a clone, which leaves the last switch by port 4; the field of the port that it came in on is not preserved.
        self.assertEqual(nodes, [("2", "0", "4"), ("3", "2", "3"), ("1", "1", "3")])


class Ngsdn(unittest.TestCase):
    """A fabric of two leaves and two spines, with IPv6 and segment routing."""

    def setUp(self):
        host = lambda name, number, prefix, last: Host(
            name, f"00:00:00:00:00:{number}", f"{prefix}::{last}/64", f"{prefix}::ff")
        hosts = [host("h1a", "1a", "2001:1:1", "a"), host("h1b", "1b", "2001:1:1", "b"),
                 host("h1c", "1c", "2001:1:1", "c"), host("h2", "20", "2001:1:2", "1"),
                 host("h3", "30", "2001:2:3", "1"), host("h4", "40", "2001:2:4", "1")]
        links = [("spine1", "leaf1"), ("spine1", "leaf2"), ("spine2", "leaf1"), ("spine2", "leaf2")]
        links += [(name, "leaf1") for name in ("h1a", "h1b", "h1c", "h2")] + [("h3", "leaf2"), ("h4", "leaf2")]
        program = EXAMPLES / "ngsdn/ngsdn/p4/main.p4"
        self.network = Network(self, program, ["leaf1", "leaf2", "spine1", "spine2"], hosts, links)

    def controller(self, **variables):
        environment = {**os.environ, "PYTHONPATH": str(EXAMPLES / "ngsdn"), **variables}
        return python(self, "-m", "ngsdn", cwd=EXAMPLES, env=environment)

    def reaches(self):
        """The first packet of each host makes it known."""
        one, other = self.network.hosts["h1a"], self.network.hosts["h3"]
        until("answer in both directions", lambda: all([one.pings(other), other.pings(one)]))

    def test_one_shots(self):
        controller = self.controller()
        self.reaches()
        # The port counters by gNMI are among what it shows at its address for Prometheus.
        def counts(port):
            with urllib.request.urlopen("http://127.0.0.1:9091/metrics") as metrics:
                return [line for line in metrics.read().decode().splitlines()
                        if line.startswith("in_octets_total") and port in line and not line.endswith(" 0.0")]
        until("counters of ports", lambda: counts("leaf1-eth3") and counts("spine1-eth1"))
        self.assertNotIn("Traceback", controller.text())

    def test_action_profiles(self):
        self.controller(NGSDN_USE_ACTIONPROFILE="1")
        self.reaches()


if __name__ == "__main__":
    unittest.main(verbosity=2)
