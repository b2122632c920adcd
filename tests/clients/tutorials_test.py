"""The P4Runtime library of the p4lang tutorials, from a checkout: its exercises' controllers and runtime files.

The library pushes BMv2's JSON, which the switch takes as a push of the program that it was started with.
"""

import contextlib
import io
import os
import pathlib
import sys
import unittest

import p4config  # noqa: F401 (before the library, which imports the module that this one makes)
import testbed
from testbed import OUT
from topology import Example, Host, Network, until

CHECKOUT = pathlib.Path(os.environ["CHECKOUT"])
EXERCISES = CHECKOUT / "exercises"
sys.path.insert(0, str(CHECKOUT / "utils"))

from p4runtime_lib import bmv2, helper, simple_controller  # noqa: E402

FIRST_PORT = 50051


def host(number):
    gateway = f"10.0.{number}.{number}0"
    return Host(f"h{number}", f"08:00:00:00:0{number}:{number}{number}", f"10.0.{number}.{number}/24", gateway,
                {gateway: f"08:00:00:00:0{number}:00"})


class Exercises(unittest.TestCase):
    def network(self, program, switches, hosts, links):
        hosts = [host(number) for number in hosts]
        return Network(self, program, switches, hosts, links, first_port=FIRST_PORT, first_device=0)

    def files(self, program):
        """P4Info, and a JSON file in the place of BMv2's."""
        json = OUT / (program.stem + ".json")
        json.write_text("{}")
        return testbed.p4info(program), json

    def test_p4runtime(self):
        """The solution's controller tunnels packets, and reads entries and counters."""
        program = EXERCISES / "p4runtime/advanced_tunnel.p4"
        network = self.network(program, ["s1", "s2"], [1, 2], [("h1", "s1"), ("h2", "s2"), ("s1", "s2")])
        info, json = self.files(program)
        (OUT / "logs").mkdir(exist_ok=True)
        controller = Example(self, sys.executable, "-u", "-m", "p4config",
                             EXERCISES / "p4runtime/solution/mycontroller.py", "--p4info", info, "--bmv2-json", json,
                             cwd=OUT, env={**os.environ, "PYTHONPATH": f"{testbed.HERE}:{CHECKOUT / 'utils'}"})
        network.ping_all()
        controller.prints("MyIngress.myTunnel_exact:  hdr.myTunnel.dst_id")
        controller.prints("s2 MyIngress.egressTunnelCounter 100: ")
        ones = [line for line in controller.text().splitlines() if "TunnelCounter" in line]
        self.assertTrue(ones, controller.text())
        last = lambda: [line for line in controller.text().splitlines() if "TunnelCounter" in line][-4:]
        until("tunnelled packets in all counters", lambda: all(" 0 packets" not in line for line in last()))
        self.assertNotIn("gRPC Error", controller.text())

    def test_basic(self):
        """The runtime files of four switches, as the tutorials' Makefile loads them."""
        program = EXERCISES / "basic/solution/basic.p4"
        switches = ["s1", "s2", "s3", "s4"]
        links = [("h1", "s1"), ("h2", "s1"), ("s1", "s3"), ("h3", "s2"), ("h4", "s2"), ("s2", "s4"), ("s1", "s4"),
                 ("s2", "s3")]
        network = self.network(program, switches, [1, 2, 3, 4], links)
        info, json = self.files(program)
        build = OUT / "basic/build"
        build.mkdir(parents=True, exist_ok=True)
        (build / "basic.p4.p4info.txtpb").write_bytes(info.read_bytes())
        (build / "basic.json").write_bytes(json.read_bytes())
        for device, name in enumerate(switches):
            runtime = EXERCISES / f"basic/pod-topo/{name}-runtime.json"
            with runtime.open() as file, contextlib.redirect_stdout(io.StringIO()):
                simple_controller.program_switch(f"127.0.0.1:{FIRST_PORT + device}", device, file, str(build.parent),
                                                 str(OUT / f"{name}-requests.txt"), str(runtime))
        network.ping_all()
        reader = bmv2.Bmv2SwitchConnection(name="s1", address=f"127.0.0.1:{FIRST_PORT}", device_id=0)
        self.addCleanup(reader.shutdown)
        table = helper.P4InfoHelper(str(info)).get_tables_id("MyIngress.ipv4_lpm")
        read = [entity.table_entry for answer in reader.ReadTableEntries(table) for entity in answer.entities]
        self.assertEqual([1, 2, 3, 4], sorted(entry.action.action.params[1].value[-1] for entry in read))


if __name__ == "__main__":
    unittest.main(verbosity=2)
