"""BMv2's command line and ours, at our switch and at a running BMv2: the same commands give the same lines and exit codes, four times.

commands.txt has the commands, and where they may differ. BMV2 is a checkout of p4lang/behavioral-model, BMV2_SWITCH the folder of a built
simple_switch; without one, the command lines are compared at our switch alone. BACUS is the command, OUT a folder for what a test leaves behind. Needs a network namespace of its own.
"""

import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

from thrift_clients import BACUS, BMV2, OUT, PROGRAM, free_port

BMV2_SWITCH = pathlib.Path(os.environ.get("BMV2_SWITCH", "")) / "simple_switch"
PROMPT = "RuntimeCmd: "
COMMAND_LINES = {
    "theirs": ([sys.executable, str(BMV2 / "targets/simple_switch/sswitch_CLI.py")], sys.executable),
    "ours": (["simple_switch_CLI"], BACUS),
}
SWITCHES = {"ours": BACUS} | ({"bmv2": str(BMV2_SWITCH)} if BMV2_SWITCH.is_file() else {})


def commands():
    """Marks and commands of commands.txt."""
    lines = (pathlib.Path(__file__).parent / "commands.txt").read_text().splitlines()
    return [line.split("|", 1) for line in lines if not line.startswith(";")]


def run(command_line, port, lines):
    """What each line prints. Where a traceback ends the command line, another one goes on with the next command."""
    words, executable = COMMAND_LINES[command_line]
    printed = []
    while len(printed) < len(lines):
        rest = lines[len(printed):]
        ran = subprocess.run([*words, "--thrift-port", str(port)], executable=executable, input="\n".join(rest) + "\n", cwd=OUT,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # The last prompt is that of the end of the input.
        parts = ran.stdout.split(PROMPT)[1:][:len(rest)]
        assert parts, f"after {lines[len(printed) - 1]}: {ran.stdout}{ran.stderr}"
        if ran.returncode != 0:
            parts[-1] += f"ends with {ran.returncode}\n"
        printed += parts
    # Times and numbers of ports differ.
    return [re.sub(r"(thrift_port +: )\d+", r"\1N", re.sub(r"\d+ms since hit", "Nms since hit", part)) for part in printed]


class CommandLines(unittest.TestCase):
    def all_printed(self, switch, command_line, lines):
        """At a switch that starts for it."""
        port = free_port()
        command = ["simple_switch", "--thrift-port", str(port), "-i", "1@v0", "-i", "2@v1", "everything.json", "--", "--enable-swap"]
        with open(OUT / f"{switch}.log", "w") as log:
            process = subprocess.Popen(command, executable=SWITCHES[switch], cwd=OUT, stdout=log, stderr=log)
        self.addCleanup(process.kill)
        words, executable = COMMAND_LINES[command_line]
        end = time.monotonic() + 60
        # A BMv2 that listens may refuse its first call.
        while "RuntimeCmd" not in subprocess.run([*words, "--thrift-port", str(port)], executable=executable, input="\n",
                                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout:
            self.assertTrue(process.poll() is None and time.monotonic() < end, (OUT / f"{switch}.log").read_text())
            time.sleep(0.1)
        printed = run(command_line, port, lines)
        process.kill()
        process.wait()
        return printed

    def test_command_lines_and_switches_are_the_same(self):
        for name in ["v0", "v1"]:
            subprocess.run(["ip", "link", "add", name, "type", "veth", "peer", "name", name + "p"], check=True)
            for end in [name, name + "p"]:
                # Without packets of the kernel's own, which would be counted.
                subprocess.run(["ip", "link", "set", end, "addrgenmode", "none", "up"], check=True)
        subprocess.run(["p4c", "-o", OUT / "everything.json", PROGRAM], executable=BACUS, check=True, stderr=subprocess.DEVNULL)
        marks, lines = zip(*commands())
        printed = {(switch, command_line): self.all_printed(switch, command_line, list(lines))
                   for switch in SWITCHES for command_line in COMMAND_LINES}
        wrong = []
        for at, (mark, line) in enumerate(zip(marks, lines)):
            here = {key: all_printed[at] for key, all_printed in printed.items()}
            differ = {
                "S": any(here[switch, command_line] != here["ours", command_line] for switch in SWITCHES for command_line in COMMAND_LINES),
                "C": any(here[switch, "theirs"] != here[switch, "ours"] for switch in SWITCHES),
            }
            found = "".join(sign for sign, differs in differ.items() if differs)
            # What BMv2 answers is unknown without it.
            if found != mark and (len(SWITCHES) > 1 or not set(found) <= set(mark)):
                wrong.append(f"{line}: marked `{mark}`, differ `{found}`\n" + "".join(f"  {key}: {text!r}\n" for key, text in here.items()))
        known = sum(1 for mark in marks if mark)
        print(f"{len(lines)} commands at {' and '.join(SWITCHES)}, of which {known} may differ", flush=True)
        self.assertFalse(wrong, "\n" + "\n".join(wrong))


if __name__ == "__main__":
    unittest.main(verbosity=2)
