"""Runs the cases of ptf_cases with PTF's own command, once for each: each pushes its pipeline."""

import pathlib
import subprocess
import sys
import unittest

import testbed


class Ptf(unittest.TestCase):
    def test_cases(self):
        switch = testbed.Switch()
        self.addCleanup(switch.stop)
        info = testbed.p4info(testbed.EDGE)
        parameters = f"grpcaddr='{switch.address}';p4info='{info}';config='{testbed.EDGE}'"
        command = [pathlib.Path(sys.executable).with_name("ptf"), "--test-dir", testbed.HERE / "ptf_cases",
                   "--log-dir", testbed.OUT / "logs", "--test-params", parameters]
        for number in switch.wires:
            command += ["--interface", f"{number}@host{number}"]
        run = subprocess.run(command, cwd=testbed.OUT, capture_output=True, text=True, timeout=300)
        self.assertEqual(0, run.returncode, run.stdout[-4000:] + run.stderr[-4000:])
        self.assertIn("Ran 4 tests", run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
