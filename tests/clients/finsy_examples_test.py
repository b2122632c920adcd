"""finsy's own examples, from a checkout: the controllers run as they are, on switches started with their P4 programs."""

import asyncio
import os
import pathlib
import sys
import unittest
import urllib.request

import finsy as fy
from topology import Example, Host, Network, until

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
