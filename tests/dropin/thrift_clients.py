"""A Thrift client of BMv2 that others wrote, at a switch of ours: p4-utils' API.

BMV2 and P4UTILS are checkouts of p4lang/behavioral-model and nsg-ethz/p4-utils, GENERATED has what the compiler of Thrift makes of BMv2's
interface files. BACUS is the command, OUT a folder for what a test leaves behind.
"""

import os
import pathlib
import socket
import subprocess
import sys
import time
import unittest

BACUS = os.environ["BACUS"]
OUT = pathlib.Path(os.environ["OUT"])
BMV2 = pathlib.Path(os.environ.get("BMV2", ""))
P4UTILS = os.environ.get("P4UTILS")
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "crates/p4runtime/tests/server/rig/everything.p4"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Switch:
    """`simple_switch` under its name, with a program of everything."""

    def __init__(self):
        self.port = free_port()
        self.log = open(OUT / "switch.log", "w")
        json = OUT / "everything.json"
        subprocess.run(["p4c", "-o", json, PROGRAM], executable=BACUS, check=True, stdout=self.log, stderr=self.log)
        command = ["simple_switch", "--thrift-port", str(self.port), "--nanolog", "ipc:///tmp/none", str(json)]
        self.process = subprocess.Popen(command, executable=BACUS, stdout=self.log, stderr=self.log)
        end = time.monotonic() + 120
        while not self.listens():
            assert self.process.poll() is None and time.monotonic() < end, (OUT / "switch.log").read_text()
            time.sleep(0.05)

    def listens(self):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(20) == 0, "SIGTERM ends the switch cleanly"
        self.log.close()


class Clients(unittest.TestCase):
    @unittest.skipUnless(P4UTILS, "there is no checkout of nsg-ethz/p4-utils")
    def test_p4utils(self):
        sys.path.insert(0, P4UTILS)
        from p4utils.utils.sswitch_thrift_API import SimpleSwitchThriftAPI

        with Switch() as switch:
            api = SimpleSwitchThriftAPI(switch.port)
            self.assertEqual(0, api.table_add("hosts", "forward", ["00:11:22:33:44:55"], ["2"]))
            self.assertEqual(0, api.table_add("acl", "drop", ["10.0.0.1&&&255.0.0.0", "80->443", "1&&&0xff"], [], prio=3))
            self.assertEqual(1, api.table_num_entries("hosts"))
            self.assertEqual(0, api.get_handle_from_match("hosts", ["00:11:22:33:44:55"]))
            api.table_modify("hosts", "forward", 0, ["3"])
            api.table_delete_match("hosts", ["00:11:22:33:44:55"])
            self.assertEqual(0, api.table_num_entries("hosts"))
            api.table_set_default("hosts", "forward", ["4"])
            api.register_write("last", 2, 9)
            self.assertEqual(9, api.register_read("last", 2))
            api.counter_reset("port_counter")
            self.assertEqual((0, 0), tuple(api.counter_read("port_counter", 1)))
            api.meter_set_rates("port_meter", 1, [(0.5, 10), (1.0, 20)])
            api.mc_mgrp_create(1)
            node = api.mc_node_create(0, [1, 2])
            api.mc_node_associate(1, node)
            api.mirroring_add(100, 2)
            member = api.act_prof_create_member("selector", "forward", ["3"])
            group = api.act_prof_create_group("selector")
            api.act_prof_add_member_to_group("selector", member, group)
            api.reset_state()
            self.assertEqual(0, api.table_num_entries("acl"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
