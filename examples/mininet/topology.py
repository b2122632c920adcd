#!/usr/bin/env python3
"""Hosts and switches in Mininet, with a P4 program in each switch.

    topology.py              two hosts and a switch, and Mininet's command line
    topology.py --switches 3 three switches in a row, with a host each
    topology.py --test       pings between all hosts, without a command line; the exit code is 1 if any is lost
"""

import argparse
import pathlib
import sys

from mininet.cli import CLI
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.topo import Topo

from bacus import BacusSwitch

L2SWITCH = pathlib.Path(__file__).resolve().parents[2] / "apps/l2switch"


class Single(Topo):
    """Two hosts and a switch."""

    def build(self, **switch):
        self.addSwitch("s1", **switch)
        for number in (1, 2):
            self.addLink(self.addHost(f"h{number}"), "s1")


class Row(Topo):
    """Switches in a row, with a host each."""

    def build(self, count=3, **switch):
        for number in range(1, count + 1):
            self.addSwitch(f"s{number}", **switch)
            self.addLink(self.addHost(f"h{number}"), f"s{number}")
        for number in range(1, count):
            self.addLink(f"s{number}", f"s{number + 1}")


# For `mn --custom bacus.py,topology.py`.
topos = {"single-p4": Single, "row-p4": Row}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--switches", type=int, default=1, metavar="N")
    parser.add_argument("--program", default=str(L2SWITCH / "l2switch.p4"), help="P4 program (default: apps/l2switch)")
    parser.add_argument("--entries", default=None, help="entries to begin with (default: those of apps/l2switch)")
    parser.add_argument("--test", action="store_true")
    arguments = parser.parse_args()
    setLogLevel("info")
    entries = arguments.entries
    if entries is None and arguments.program == str(L2SWITCH / "l2switch.p4"):
        entries = str(L2SWITCH / "entries.stf")
    switch = {"program": arguments.program, "entries": [entries] if entries else []}
    topology = Single(**switch) if arguments.switches == 1 else Row(count=arguments.switches, **switch)
    network = Mininet(topo=topology, switch=BacusSwitch, controller=None, waitConnected=False)
    lost = 0
    network.start()
    try:
        if arguments.test:
            lost = network.pingAll(timeout="5")
        else:
            CLI(network)
    finally:
        network.stop()
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
