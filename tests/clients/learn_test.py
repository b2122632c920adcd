"""The controller of apps/l2fwd, which learns hosts by digest."""

import subprocess
import sys
import unittest

import testbed
from testbed import ethernet

L2FWD = testbed.HERE.parents[1] / "apps" / "l2fwd"


class Learn(unittest.TestCase):
    def setUp(self):
        self.switch = testbed.Switch(L2FWD / "l2fwd.p4")
        self.addCleanup(self.switch.stop)
        self.controller = self.start()

    def start(self):
        command = [sys.executable, L2FWD / "learn.py", self.switch.address]
        controller = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(controller.stdout.close)
        self.addCleanup(controller.wait, 10)
        self.addCleanup(controller.terminate)
        return controller

    def expect_line(self, sentence):
        self.assertIn(sentence, self.controller.stdout.readline())

    def test_hosts_are_learned(self):
        wires = self.switch.wires
        self.expect_line("0 hosts are known")
        # To a host that is not known: the frame is dropped, its source learned.
        wires[3].send(ethernet(1, 7))
        self.expect_line("host 02:00:00:00:00:07 at port 3")
        wires[1].send(ethernet(7, 1))
        self.assertEqual(ethernet(7, 1), wires[3].receive())
        self.expect_line("host 02:00:00:00:00:01 at port 1")
        wires[3].send(ethernet(1, 7))
        self.assertEqual(ethernet(1, 7), wires[1].receive())
        # Another controller finds what this one has taught.
        self.controller.terminate()
        self.controller.wait(10)
        self.controller = self.start()
        self.expect_line("2 hosts are known")


if __name__ == "__main__":
    unittest.main(verbosity=2)
