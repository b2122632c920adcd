"""Networks of p4-utils in Mininet: its own example, and those of p4-learning. Each starts `simple_switch` by name, fills its tables by
`simple_switch_CLI`, and is controlled from Mininet's command line.

P4UTILS is a checkout of nsg-ethz/p4-utils, LEARNING one of nsg-ethz/p4-learning, BACUS the command, OUT a folder for what a test leaves
behind. p4-utils and Mininet end processes by their names: each network runs with processes of its own.
"""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

BACUS = os.environ["BACUS"]
OUT = pathlib.Path(os.environ["OUT"]) / "p4utils"
P4UTILS = pathlib.Path(os.environ["P4UTILS"])
LEARNING = os.environ.get("LEARNING")
NAMES = ["simple_switch", "simple_switch_grpc", "simple_switch_CLI", "p4c", "p4c-bm2-ss"]
# Root needs no sudo, which would take away the PATH that has our commands, and the packages that scripts import.
SUDO = 'exec env "$@"'
# What the scripts start besides, where the machine has none: iproute2 knows bridges.
STAND_INS = {
    "brctl": 'case "$1" in addbr) ip link add "$2" type bridge;; delbr) ip link del "$2";; addif) ip link set "$3" master "$2";; esac',
}
LIMIT_SECONDS = 300
# A lost ping takes ten seconds without a limit.
READY = "sh until echo help | simple_switch_CLI > /dev/null; do sleep 0.2; done"
SENT = "sh test $(stat -c %s pcap/s1-eth2_out.pcap) -gt 24 && echo sent more"
# 50,000 routes come in the background.
ROUTED = "sh sleep 10; while pgrep -f 'controller_[ot]' > /dev/null; do sleep 1; done"
REACHED = [r"Results: 0% dropped"]
LOST = [r"Results: 100% dropped"]


def counted(counter):
    """The program counts all packets, and drops them."""
    return [READY, "pingall 1", f'sh echo "counter_read {counter}" | simple_switch_CLI'], [*LOST, r"packets=[1-9]| [1-9]\d* packets"]


# Pings of the first round may come before an address is learnt.
LEARNT = ["sh sleep 8", "pingall 1", "sh sleep 3", "pingall 1"]


def learning(technique):
    """With the controller that the README starts by hand."""
    return [f"sh python3 l2_learning_controller.py s1 {technique} > s1.controller.log 2>&1 &", *LEARNT]


# Packets on the switch's own side of a link, at the intervals of the README: with one second, the meter of half a packet a second drops every other one.
# The first packet of the second run may come too early. The sender does not end by itself.
METERED = (
    [READY, *(f"sh timeout 30 python3 -u send_and_receive.py {seconds} 2> /dev/null" for seconds in (1, 2))],
    [r"(?s)(Sent one\nReceived one\nSent one\n){3}.*interval 2\n(Sent one\n)?(Sent one\nReceived one\n){3}"],
)

# Network: commands for Mininet, and what the end of the output must have. Others only have to reach each other.
EXAMPLES = {
    "counter/network_direct.py": counted("direct_port_counter 0"),
    "counter/network_indirect.py": counted("port_counter 1"),
    "l2_learning/network_cpu.py": (learning("cpu"), REACHED),
    "l2_learning/network_cpu_multi.py": (LEARNT, REACHED),
    "l2_learning/network_digest.py": (learning("digest"), REACHED),
    "l2_learning/network_digest_multi.py": (LEARNT, REACHED),
    "meter/network_direct.py": METERED,
    "meter/network_indirect.py": METERED,
    # All leaves by port 2: its capture has more than a header.
    "recirculate/network.py": ([READY, "pingall 1", SENT], [*LOST, "sent more"]),
    "recirculate_and_add_header/network.py": ([READY, "h1 python3 send_carrier.py 5", SENT], ["sent more"]),
    "reflector/network.py": ([READY, "h1 (sleep 2; echo; sleep 3) | timeout 12 python3 -u send_receive.py"], ["A packet was reflected"]),
    "simple_fast_convergence/network_one_table.py": ([ROUTED, "pingall 1"], REACHED),
    "simple_fast_convergence/network_two_tables.py": ([ROUTED, "pingall 1"], REACHED),
}
# A program that reads fields which a script writes into p4c's v1model.p4, for a BMv2 that was built for it (docs/dropin.md).
LEFT_OUT = ["multiqueueing/network.py"]


def names():
    """A folder with the commands that setups start."""
    folder = OUT / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(BACUS)
    missing = {name: script for name, script in STAND_INS.items() if shutil.which(name) is None}
    for name, script in {"sudo": SUDO, **missing}.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return folder


def output(folder, script, commands):
    """What a network prints that runs in a copy of its folder."""
    copy = OUT / f"{folder.name}-{pathlib.Path(script).stem}"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    environment = {**os.environ, "PATH": f"{names()}:{os.environ['PATH']}"}
    apart = ["timeout", "-k", "5", str(LIMIT_SECONDS), "unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    inside = f"mount -t sysfs sysfs /sys; ip link set lo up; exec python3 {script}"
    ran = subprocess.run([*apart, "sh", "-c", inside], cwd=copy, env=environment, input="\n".join([*commands, "exit", ""]), text=True, errors="replace",
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = re.sub(r"\x1b\[\d*m", "", ran.stdout)
    (copy / "output").write_text(text)
    return text


class Networks(unittest.TestCase):
    def runs(self, folder, script, commands, expected):
        # At its end, p4-utils fails where a script of its own has ended before.
        text = output(folder, script, commands)
        self.assertNotIn("thrift client exited with error", text)
        for pattern in expected:
            self.assertRegex(text.split("Starting mininet CLI")[-1], pattern)

    def test_the_example_of_p4utils(self):
        # Its tasks: a ping and a flow of UDP, after ten seconds.
        self.runs(P4UTILS / "examples/switches", "network.py", [READY, "pingall 1"], REACHED)

    @unittest.skipUnless(LEARNING, "there is no checkout of nsg-ethz/p4-learning")
    def test_the_examples_of_p4_learning(self):
        examples = pathlib.Path(LEARNING) / "examples"
        wanted = os.environ.get("EXAMPLE", "")
        for network in sorted(examples.glob("*/network*.py")):
            name = str(network.relative_to(examples))
            if name in LEFT_OUT or wanted not in name:
                continue
            with self.subTest(network=name):
                self.runs(network.parent, network.name, *EXAMPLES.get(name, ([READY, "pingall 1"], REACHED)))
                print(f"{name}: passed", flush=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
