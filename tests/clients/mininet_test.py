"""The topologies of examples/mininet, with the distribution's Mininet or that of a checkout."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/mininet"


class Mininet(unittest.TestCase):
    def runs(self, *command):
        ran = subprocess.run([str(word) for word in command], cwd=ROOT, timeout=300, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        (pathlib.Path(os.environ["OUT"]) / f"{self.id()}.log").write_text(ran.stdout)
        self.assertEqual(0, ran.returncode, ran.stdout)
        return ran.stdout

    def test_two_hosts_and_a_switch(self):
        self.assertIn("0% dropped (2/2 received)", self.runs(sys.executable, EXAMPLE / "topology.py", "--test"))

    def test_switches_in_a_row(self):
        text = self.runs(sys.executable, EXAMPLE / "topology.py", "--switches", 3, "--test")
        self.assertIn("0% dropped (6/6 received)", text)

    def test_mn(self):
        if shutil.which("mn") is None:
            self.skipTest("there is no command mn")
        switch = "bacus,program=apps/l2switch/l2switch.p4,entries=apps/l2switch/entries.stf"
        text = self.runs("mn", "--custom", EXAMPLE / "bacus.py", "--switch", switch, "--controller", "none", "--topo",
                         "linear,2", "--test", "pingall")
        self.assertIn("0% dropped (2/2 received)", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
