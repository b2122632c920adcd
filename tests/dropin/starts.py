"""The commands by which ONOS, DASH and the scripts of PTF start BMv2: listening in time, ended as they end it, and started again.

BACUS is the command, OUT a folder. Needs a network namespace of its own.
"""

import os
import pathlib
import socket
import subprocess
import time
import unittest

BACUS = os.environ["BACUS"]
OUT = pathlib.Path(os.environ["OUT"])
# `runptf.sh` sleeps so long before its first call.
LATEST = 2.0
# What a container of docker may do by default.
DOCKER = ["audit_write", "chown", "dac_override", "fowner", "fsetid", "kill", "mknod", "net_bind_service", "net_raw", "setfcap",
          "setgid", "setpcap", "setuid", "sys_chroot"]


def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


class Starts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for end in ["veth0", "veth2"]:
            subprocess.run(["ip", "link", "add", end, "type", "veth", "peer", "name", end + "p"], check=True)
            for name in [end, end + "p"]:
                subprocess.run(["ip", "link", "set", name, "up"], check=True)

    def starts(self, line, port):
        with open(OUT / "start.log", "w") as log:
            begin = time.monotonic()
            switch = subprocess.Popen(["simple_switch_grpc", *line.split()], executable=BACUS, cwd=OUT, stdout=log, stderr=log)
        self.addCleanup(switch.kill)
        while not listens(port):
            log = (OUT / "start.log").read_text()
            self.assertTrue(switch.poll() is None and time.monotonic() < begin + LATEST, log)
            time.sleep(0.01)
        print(f"listens after {time.monotonic() - begin:.2f} s", flush=True)
        return switch

    def test_onos(self):
        # tools/dev/mininet/bmv2.py; a switch is ended by SIGKILL, and its port is used again.
        line = "--device-id 1 -i 1@veth0 -i 2@veth2 --thrift-port 9190 --notifications-addr ipc:///tmp/bmv2-s1-notifications.ipc " \
               "-Lwarn --pcap --dump-packet-data 100 --no-p4 -- --cpu-port 255 --grpc-server-addr 0.0.0.0:50101"
        for _ in range(2):
            switch = self.starts(line, 50101)
            switch.kill()
            switch.wait()

    def container(self, capabilities):
        # The start script of the example for containerlab, with what a container may do.
        folder = OUT / "names"
        folder.mkdir(exist_ok=True)
        (folder / "simple_switch_grpc").unlink(missing_ok=True)
        (folder / "simple_switch_grpc").symlink_to(BACUS)
        allowed = ",".join(["-all", *(f"+{one}" for one in capabilities)])
        script = pathlib.Path(__file__).parent.parent.parent / "examples/containerlab/start"
        command = ["setpriv", "--bounding-set", allowed, "--inh-caps", allowed, script, "--no-p4", "--", "--grpc-server-addr",
                   "127.0.0.1:50103"]
        path = f"{folder}:{os.environ['PATH']}"
        with open(OUT / "container.log", "w") as log:
            switch = subprocess.Popen(command, env=dict(os.environ, PORTS="2", PATH=path), stdout=log, stderr=log)
        self.addCleanup(switch.kill)
        # Its interfaces come later.
        for port in [1, 2]:
            subprocess.run(["ip", "link", "add", f"eth{port}", "type", "veth", "peer", "name", f"peer{port}"], check=True)
            self.addCleanup(subprocess.run, ["ip", "link", "delete", f"eth{port}"], check=True)
        return switch

    def runs_in_a_container(self, capabilities):
        switch = self.container(capabilities)
        end = time.monotonic() + 30
        text = ""
        while "Server listening on 127.0.0.1:50103" not in text:
            text = (OUT / "container.log").read_text()
            self.assertTrue(switch.poll() is None and time.monotonic() < end, text)
            time.sleep(0.05)
        self.assertIn("Adding interface eth1 as port 1\nAdding interface eth2 as port 2\n", text)
        switch.terminate()
        self.assertEqual(0, switch.wait(30))

    def test_container_with_two_capabilities(self):
        self.runs_in_a_container(["net_admin", "net_raw"])

    def test_container_as_docker_makes_it(self):
        # The default capabilities of docker, and NET_ADMIN on top, which containerlab adds.
        self.runs_in_a_container([*DOCKER, "net_admin"])

    def test_container_with_net_admin_alone(self):
        # Packet sockets need NET_RAW: the message names it.
        switch = self.container(["net_admin"])
        self.assertEqual(3, switch.wait(30))
        text = (OUT / "container.log").read_text()
        self.assertIn("eth1", text)
        self.assertIn("NET_RAW", text)

    def test_dash(self):
        line = "--interface 0@veth0 --interface 1@veth2 --log-console --no-p4 -- --grpc-server-addr 0.0.0.0:50102"
        switch = self.starts(line, 50102)
        switch.terminate()
        self.assertEqual(0, switch.wait(30))

    def test_ptf(self):
        line = "--no-p4 -i 0@veth0 -i 1@veth2 --log-file ss-log --log-flush --dump-packet-data 10000"
        switch = self.starts(line, 9559)
        switch.terminate()
        self.assertEqual(0, switch.wait(30))


if __name__ == "__main__":
    unittest.main(verbosity=2)
