"""Packets a second that BMv2 and our switch forward: the same JSON, entries and traffic, on the same pair of interfaces, one after the other.

BMV2_SWITCH is the folder of a built simple_switch, P4C and TUTORIALS are checkouts, BACUS is the command, OUT a folder. Needs a network namespace of
its own. Each rate is offered for a second; the packets that the switch has sent are counted by the kernel.
"""

import os
import pathlib
import socket
import subprocess
import sys
import time

BACUS = os.environ["BACUS"]
OUT = pathlib.Path(os.environ["OUT"])
FOLDERS = {"p4c": os.environ.get("P4C"), "tutorials": os.environ.get("TUTORIALS")}
# BMv2 prints nothing: no level of its log is on, whatever its build has.
SWITCHES = {
    "BMv2": (str(pathlib.Path(os.environ["BMV2_SWITCH"]) / "simple_switch"), ["-L", "off"]),
    "bacus": (BACUS, []),
}
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SECONDS = 1
# Offered in packets a second, until more is lost than a switch forwards; then as many as the sender can.
STEPS = [5_000 * 2**step for step in range(9)] + [0]
# To 10.0.0.7 by UDP, as the shortest frame without its check sequence.
FRAME = "02000000000102000000000708004500002e00000000401166b40a0000050a00000700010002001a0000" + "00" * 18
ROUTER = "020000000001"

PROGRAMS = [
    ("tutorials", "exercises/basic/solution/basic.p4", ["table_add ipv4_lpm ipv4_forward 10.0.0.0/8 => 02:00:00:00:00:09 2"]),
    ("p4c", "testdata/p4_16_samples/fabric_20190420/fabric.p4", [
        "table_add FabricIngress.filtering.ingress_port_vlan permit_with_internal_vlan 1 0 0&&&0 => 10 1",
        f"table_add FabricIngress.filtering.fwd_classifier set_forwarding_type 1 0x{ROUTER}&&&0xffffffffffff 0x0800 => 2 1",
        "table_add FabricIngress.forwarding.routing_v4 set_next_id_routing_v4 10.0.0.0/8 => 7",
        "table_add FabricIngress.next.next_vlan set_vlan 7 => 10",
        "act_prof_create_member FabricIngress.next.hashed_selector routing_hashed 2 0x02bb00000001 0x020000000009",
        "act_prof_create_group FabricIngress.next.hashed_selector",
        "act_prof_add_member_to_group FabricIngress.next.hashed_selector 0 0",
        "table_indirect_add_with_group FabricIngress.next.hashed 7 => 0",
        "table_add FabricEgress.egress_next.egress_vlan pop_vlan 10 2 =>",
    ]),
]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def sent():
    """By the switch, to its second interface."""
    return int(pathlib.Path("/sys/class/net/v1/statistics/tx_packets").read_text())


def command_line(port, commands):
    ran = subprocess.run(["simple_switch_CLI", "--thrift-port", str(port)], executable=BACUS, input="\n".join(commands) + "\n",
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return ran.returncode, ran.stdout


class Switch:
    def __init__(self, name, json, commands):
        executable, flags = SWITCHES[name]
        port = free_port()
        self.log = open(OUT / f"{name}.log", "w")
        line = ["simple_switch", "-i", "1@v0", "-i", "2@v1", "--thrift-port", str(port), *flags, str(json)]
        self.process = subprocess.Popen(line, executable=executable, stdout=self.log, stderr=self.log)
        end = time.monotonic() + 120
        while command_line(port, ["help"])[0] != 0:
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f"{name} has not started: {(OUT / f'{name}.log').read_text()}")
            time.sleep(0.1)
        code, printed = command_line(port, commands)
        if code != 0 or "Invalid" in printed or "Error" in printed:
            sys.exit(f"{name} refuses entries:\n{printed}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()


def forwarded(rate):
    """Packets a second that were offered, and that came out."""
    before = sent()
    offered = subprocess.run([str(OUT / "offer"), "v0p", str(rate), str(SECONDS), FRAME], check=True, stdout=subprocess.PIPE, text=True)
    # What is still in the switch's queues is not of this rate.
    after = sent()
    time.sleep(0.2)
    return int(offered.stdout) / SECONDS, (after - before) / SECONDS


def most(name, json, commands):
    """The most that the switch forwards, whatever is offered, and whether the sender can offer no more."""
    best = 0
    with Switch(name, json, commands):
        forwarded(1000)
        for rate in STEPS:
            offered, came = forwarded(rate)
            best = max(best, came)
            # A switch that is slower under more load than it can take has shown its best before.
            if came < offered / 4:
                break
    return best, came > 0.99 * offered


def main():
    for name in ["v0", "v1"]:
        subprocess.run(["ip", "link", "add", name, "type", "veth", "peer", "name", name + "p"], check=True)
        for end in [name, name + "p"]:
            # Without packets of the kernel's own.
            subprocess.run(["ip", "link", "set", end, "addrgenmode", "none", "up"], check=True)
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", OUT / "offer", pathlib.Path(__file__).parent / "offer.c"], check=True)
    version = subprocess.run([SWITCHES["BMv2"][0], "--version"], stdout=subprocess.PIPE, text=True).stdout.split()
    print(f"BMv2 {' '.join(version)}; best of {ROUNDS} rounds of each, in turn")
    for checkout, path, commands in PROGRAMS:
        if not FOLDERS[checkout]:
            print(f"skipped: {path}: DIRS has no checkout of it")
            continue
        json = OUT / pathlib.Path(path).with_suffix(".json").name
        subprocess.run(["p4c", "-o", json, f"{FOLDERS[checkout]}/{path}"], executable=BACUS, check=True, stderr=subprocess.DEVNULL)
        best = dict.fromkeys(SWITCHES, (0, False))
        for _ in range(ROUNDS):
            for name in SWITCHES:
                best[name] = max(best[name], most(name, json, commands))
        line = ", ".join(f"{name} {rate:,.0f}/s{' (all that is offered)' if is_all else ''}" for name, (rate, is_all) in best.items())
        print(f"{json.stem}: {line}, {best['bacus'][0] / best['BMv2'][0]:.1f} times", flush=True)


if __name__ == "__main__":
    main()
