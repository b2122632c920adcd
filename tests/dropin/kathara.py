"""Kathará's P4 labs with their own start-up files, each device in namespaces instead of a container.

A device has a network namespace, process numbers of its own, and an overlay of the root directory with its files, as its container would.
CHECKOUT is a checkout of KatharaFramework/Kathara-Labs, BACUS the command. Needs root, in a network and mount namespace of its own
(scripts/test-dropin).
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LABS = pathlib.Path(os.environ["CHECKOUT"]) / "main-labs/p4"
BACUS = os.environ["BACUS"]
NNPY = pathlib.Path(__file__).parent / "nnpy.py"
SECONDS = 120

# What runs for a device: its root, then its start-up file, then nothing until the end.
DEVICE = """
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
[ -d "$2" ] && cp -r "$2/." "$1/upper/"
[ -d "$3" ] && cp -r "$3" "$1/upper/shared"
cp "$4" "$1/upper/startup"
cp "$6" "$1/upper/nnpy.py"
mkdir -p "$1/upper/usr/local/bin"
for name in simple_switch simple_switch_CLI p4c; do ln -sf "$5" "$1/upper/usr/local/bin/$name"; done
mount -t overlay none -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
for folder in dev sys; do mount --rbind "/$folder" "$1/root/$folder"; done
mount -t proc proc "$1/root/proc"
exec chroot "$1/root" bash -c 'cd /; bash /startup; echo "startup is done"; exec sleep 1000'
"""

# Sends a frame, and waits for the same bytes with the addresses exchanged.
REFLECTED = """
import socket, time
end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
end.bind(("eth0", 0))
end.settimeout(5)
there, here, rest = bytes(range(6)), bytes(range(6, 12)), b"\\x12\\x34" + bytes(50)
end.send(there + here + rest)
limit = time.monotonic() + 5
while time.monotonic() < limit:
    frame, address = end.recvfrom(2048)
    if address[2] != 4 and frame == here + there + rest:
        print("reflected")
        break
"""


def run(*command):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def must(*command):
    done = run(*command)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


class Lab:
    """A lab that runs."""

    def __init__(self, name):
        self.folder = LABS / name
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="lab-"))
        self.processes, self.logs = {}, {}
        domains = {}
        for device, number, domain in re.findall(r'^(\w+)\[(\d+)\]="?(\w+)', (self.folder / "lab.conf").read_text(), re.M):
            domains.setdefault(domain, []).append((device, number))
        self.devices = sorted({device for ends in domains.values() for device, _ in ends})
        for device in self.devices:
            must("ip", "netns", "add", device)
            must("ip", "-n", device, "link", "set", "lo", "up")
        for at, (domain, ends) in enumerate(sorted(domains.items())):
            self.wire(at, domain, ends)
        for device in sorted(self.devices, reverse=True):
            self.start(device)

    def wire(self, at, domain, ends):
        """Two ends are a cable; more are at a bridge."""
        if len(ends) == 2:
            names = [f"w{at}a", f"w{at}b"]
            must("ip", "link", "add", names[0], "type", "veth", "peer", "name", names[1])
        else:
            must("ip", "link", "add", f"b{at}", "type", "bridge")
            must("ip", "link", "set", f"b{at}", "up")
            names = []
            for end in range(len(ends)):
                names.append(f"w{at}n{end}")
                must("ip", "link", "add", names[-1], "type", "veth", "peer", "name", f"w{at}p{end}")
                must("ip", "link", "set", f"w{at}p{end}", "master", f"b{at}", "up")
        for name, (device, number) in zip(names, ends):
            must("ip", "link", "set", name, "netns", device)
            must("ip", "-n", device, "link", "set", name, "name", f"eth{number}")
            run("ip", "netns", "exec", device, "sysctl", "-qw", f"net.ipv6.conf.eth{number}.disable_ipv6=1")
            must("ip", "-n", device, "link", "set", f"eth{number}", "up")

    def start(self, device):
        root = self.scratch / device
        root.mkdir()
        self.logs[device] = self.scratch / f"{device}.log"
        startup = self.folder / f"{device}.startup"
        words = [root, self.folder / device, self.folder / "shared", startup if startup.exists() else "/dev/null", BACUS, NNPY]
        command = ["ip", "netns", "exec", device, "unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "bash",
                   "-ec", DEVICE, "device", *map(str, words)]
        with open(self.logs[device], "w") as log:
            self.processes[device] = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def inside(self, device, *command, **options):
        """A process in the namespaces and under the root of a device."""
        outer = self.processes[device].pid
        first = pathlib.Path(f"/proc/{outer}/task/{outer}/children").read_text().split()[0]
        process = subprocess.Popen(["nsenter", "--target", first, "--all", "--root", "--wd", *command], **options)
        self.processes[f"{device}: {command[0]}"] = process
        return process

    def switches(self):
        return [device for device in self.devices if "simple_switch " in (self.folder / f"{device}.startup").read_text()]

    def wait(self):
        """Until all start-up files have ended, and all switches that they leave in the background listen."""
        end = time.monotonic() + SECONDS
        waits = [(device, "startup is done") for device in self.devices]
        for device, line in waits + [(device, "Thrift server was started") for device in self.switches()]:
            while line not in self.log(device):
                assert time.monotonic() < end, f"{device} does not come up:\n{self.log(device)[-3000:]}"
                time.sleep(0.2)

    def log(self, device):
        return self.logs[device].read_text(errors="replace")

    def ping(self, device, address):
        text = ""
        for _ in range(3):
            text = run("ip", "netns", "exec", device, "ping", "-c", "2", "-i", "0.2", "-W", "1", address).stdout
            if " 0% packet loss" in text:
                return ""
        return text

    def end(self):
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        for process in self.processes.values():
            process.kill()
            process.wait()
        for device in self.devices:
            run("ip", "netns", "delete", device)
        for link in re.findall(r"^\d+: (b\d+)[@:]", run("ip", "link").stdout, re.M):
            run("ip", "link", "delete", link)
        shutil.rmtree(self.scratch, ignore_errors=True)


class Kathara(unittest.TestCase):
    def learns(self, lab, device, controller):
        """Its controller subscribes to the switch's notifications, and writes what it learns by simple_switch_CLI."""
        log = lab.scratch / "controller.log"
        with open(log, "w") as to:
            lab.inside(device, sys.executable, "-u", f"/{controller}", stdout=to, stderr=to)
        limit = time.monotonic() + SECONDS
        learned = 0
        while learned < 2:
            self.assertLess(time.monotonic(), limit, log.read_text())
            lab.ping("h1", "10.0.0.2")
            asked = lab.inside(device, "simple_switch_CLI", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            answer = asked.communicate("table_num_entries dmac_forward\n")[0]
            learned = int(re.search(r"RuntimeCmd: (\d+)", answer)[1])
        self.assertIn("ingress_port: 1", log.read_text())

    def runs(self, name, *pings, reflects=(), learns=None):
        if not (LABS / name).is_dir():
            self.skipTest("the checkout has no such lab")
        lab = Lab(name)
        try:
            lab.wait()
            for device in lab.switches():
                # A switch that is not ready yet is asked again.
                lines = [line for line in lab.log(device).splitlines() if "thrift client" not in line]
                # Two labs add an entry twice: BMv2 refuses the second, too.
                lines = [line for line in lines if "DUPLICATE_ENTRY" not in line]
                wrong = ["Error", "Invalid", "error:", "*** Unknown", "not found"]
                self.assertEqual([], [line for line in lines if any(word in line for word in wrong)], f"{name}: {device}")
            for device, address in pings:
                self.assertEqual("", lab.ping(device, address), f"{name}: {device} to {address}")
            for device in reflects:
                self.assertIn("reflected", must("ip", "netns", "exec", device, sys.executable, "-c", REFLECTED), device)
            if learns:
                self.learns(lab, lab.switches()[0], learns)
        finally:
            lab.end()

    def test_01_reflector(self):
        self.runs("01-reflector", reflects=["h1"])

    def test_02_repeater(self):
        self.runs("02-repeater", ("h1", "10.0.0.2"))

    def test_03_forwarding(self):
        self.runs("03-l2-basic-forwarding", ("h1", "10.0.0.2"), ("h3", "10.0.0.4"))

    def test_03_flooding_others(self):
        # Its commands have no group for what comes from h4.
        self.runs("03-l2-flooding-flood-others", ("h1", "10.0.0.2"), ("h3", "10.0.0.1"))

    def test_03_flooding_all(self):
        self.runs("03-l2_flooding_flood_all", ("h1", "10.0.0.2"))

    def test_04_learning_copy(self):
        if run("ip", "link", "add", "dummy0", "type", "dummy").returncode != 0:
            self.skipTest("the kernel has no interfaces of type dummy")
        self.runs("04-l2-learning-cpu-copy", ("h1", "10.0.0.2"))

    def test_04_learning_digest(self):
        self.runs("04-l2-learning-digest", ("h1", "10.0.0.2"), learns="l2_learning_controller.py")

    def test_04_mpls(self):
        self.runs("04-mpls-basics", ("h1", "10.7.2.2"), ("h1", "10.7.3.2"))

    def test_05_ecmp(self):
        self.runs("05-ecmp", ("h1", "10.0.6.2"))

    def test_05_flowlet(self):
        self.runs("05-flowlet-switching", ("h1", "10.0.6.2"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
