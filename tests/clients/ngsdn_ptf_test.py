"""The PTF tests of the NG-SDN tutorial, from a checkout, on its solution.

They are written for Python 2 and a P4Runtime whose values have full width. A copy in OUT is rewritten for Python 3, by
lib2to3 and by the rules below; what the tests send and expect stays.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import testbed
from testbed import OUT

CHECKOUT = pathlib.Path(os.environ["CHECKOUT"])
COPY = OUT / "copy"

# Texts of bytes: hexadecimal digits, addresses, packets.
RULES = [
    (r"(return|s =) (.+)\.decode\('hex'\)", r"\1 bytes.fromhex(\2)"),
    (r'"".join\(chr\(b\) for b in bytes_\)', "bytes(bytes_)"),
    (r'addr\.decode\("utf-8"\)', "addr"),
    (r'str\((\w+), "utf-8"\)', r"\1"),
    (r"\bstr\((\w*pkt\w*)\)", r"bytes(\1)"),
    # Addresses of scapy are a kind of string.
    (r"type\(x\) == str", "isinstance(x, str)"),
    # Since version 1.2 of P4Runtime, values have their shortest form.
    (r"\{m\.metadata_id: m\.value$", r'{m.metadata_id: m.value.lstrip(b"\\0")'),
]


def convert():
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(CHECKOUT / "ptf/lib", COPY / "lib")
    shutil.copytree(CHECKOUT / "solution/ptf/tests", COPY / "tests")
    files = [file for file in COPY.glob("*/*.py") if file.name != "runner.py"]
    # Names of modules stay as they are: the folder is on the path.
    command = [sys.executable, "-m", "lib2to3", "--write", "--nobackups", "--nofix=import", *files]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for file in files:
        text = file.read_text()
        for pattern, replacement in RULES:
            text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
        file.write_text(text)


class Ptf(unittest.TestCase):
    def test_solution(self):
        if importlib.util.find_spec("lib2to3") is None:
            self.skipTest("Python has no lib2to3 from 3.13 on")
        convert()
        program = CHECKOUT / "solution/p4src/main.p4"
        switch = testbed.Switch(program)
        self.addCleanup(switch.stop)
        parameters = (f"grpcaddr='{switch.address}';p4info='{testbed.p4info(program)}';device_id='1';"
                      f"cpu_port='{testbed.CPU_PORT}'")
        command = [pathlib.Path(sys.executable).with_name("ptf"), "--test-dir", COPY / "tests", "--pypath", COPY / "lib",
                   "--log-dir", OUT / "logs", "--test-params", parameters]
        for number in switch.wires:
            command += ["--interface", f"{number}@host{number}"]
        run = subprocess.run(command, cwd=OUT, capture_output=True, text=True, timeout=600)
        (OUT / "ptf.log").write_text(run.stdout + run.stderr)
        self.assertEqual(0, run.returncode, run.stdout[-6000:] + run.stderr[-6000:])
        self.assertIn("Ran 11 tests", run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
