"""What the control plane does in a second. Needs finsy's environment (for the messages of P4Runtime); prints a line for each number.

    BACUS=target/release/bacus OUT=out python load.py [inserts] [writes] [read] [packets] [exchange]

The data plane runs at full load meanwhile: its port 1 has always packets (DPDK's null device). `exchange` needs the wires of scripts/test-clients.
Messages are encoded before the clock starts, so that what is measured is the switch.
"""

import pathlib
import queue
import sys
import threading
import time

import grpc
import testbed
from finsy.proto import p4r

PROGRAM = testbed.HERE / "load.p4"
MILLION = 1_000_000
IN_A_BATCH = 1000


class Client:
    """The primary controller of a switch, on messages as bytes."""

    def __init__(self, switch, program=PROGRAM):
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        self.channel = grpc.insecure_channel(switch.address, options=options)
        self.requests = queue.Queue()
        stream = self.channel.stream_stream("/p4.v1.P4Runtime/StreamChannel",
                                            p4r.StreamMessageRequest.SerializeToString)
        hello = p4r.StreamMessageRequest()
        hello.arbitration.device_id = 1
        hello.arbitration.election_id.low = 1
        self.answers = stream(iter(self.requests.get, None))
        self.requests.put(hello)
        next(self.answers)
        self.write = self.call("Write")
        self.read = self.channel.unary_stream("/p4.v1.P4Runtime/Read")
        self.push(program, "VERIFY_AND_COMMIT")
        info = p4r.GetForwardingPipelineConfigResponse.FromString(self.call("GetForwardingPipelineConfig")(
            p4r.GetForwardingPipelineConfigRequest(device_id=1).SerializeToString())).config.p4info
        self.table = info.tables[0].preamble.id
        self.action = next(one.preamble.id for one in info.actions if one.preamble.alias == "forward")

    def call(self, name):
        return self.channel.unary_unary(f"/p4.v1.P4Runtime/{name}")

    def push(self, program, action):
        request = p4r.SetForwardingPipelineConfigRequest(device_id=1, action=action)
        request.election_id.low = 1
        request.config.p4_device_config = program.read_bytes()
        self.call("SetForwardingPipelineConfig")(request.SerializeToString())

    def batch(self, numbers, kind="INSERT"):
        request = p4r.WriteRequest(device_id=1)
        request.election_id.low = 1
        for number in numbers:
            update = request.updates.add(type=kind)
            entry = update.entity.table_entry
            entry.table_id = self.table
            entry.match.add(field_id=1).exact.value = (0x020000000000 + number).to_bytes(6, "big")
            entry.action.action.action_id = self.action
            entry.action.action.params.add(param_id=1, value=b"\x03")
        return request.SerializeToString()

    def fill(self, count):
        """Inserts so many entries, and prints how long the switch took."""
        batches = [self.batch(range(at, at + IN_A_BATCH)) for at in range(0, count, IN_A_BATCH)]
        begin = time.perf_counter()
        for batch in batches:
            self.write(batch)
        return time.perf_counter() - begin

    def close(self):
        self.requests.put(None)
        self.channel.close()


def inserts(client):
    seconds = client.fill(MILLION)
    print(f"inserts in batches of {IN_A_BATCH}: {MILLION / seconds:,.0f} a second")


def writes(client):
    requests = [client.batch([2 * MILLION + number]) for number in range(20_000)]
    times = []
    for request in requests:
        begin = time.perf_counter()
        client.write(request)
        times.append(time.perf_counter() - begin)
    times.sort()
    p99 = times[len(times) * 99 // 100]
    print(f"single writes: {len(times) / sum(times):,.0f} a second, p99 {p99 * 1000:.2f} ms, slowest {times[-1] * 1000:.1f} ms")


def memory(switch):
    with open(f"/proc/{switch.process.pid}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return {name: int(lines[name].split()[0]) // 1024 for name in ["VmRSS", "VmHWM"]}


def read(client, switch):
    before = memory(switch)
    request = p4r.ReadRequest(device_id=1)
    request.entities.add().table_entry.table_id = client.table
    begin = time.perf_counter()
    answers = list(client.read(request.SerializeToString()))
    seconds = time.perf_counter() - begin
    entries = sum(len(p4r.ReadResponse.FromString(answer).entities) for answer in answers)
    peak = memory(switch)["VmHWM"]
    print(f"read of {entries:,} entries: {seconds:.2f} s; memory {before['VmRSS']} MB before, {peak} MB at most")


def packets(client, seconds=5.0):
    """Messages as they come; they are counted, not decoded."""
    count, end = 0, time.perf_counter() + seconds
    for _ in client.answers:
        count += 1
        if time.perf_counter() >= end:
            break
    print(f"packet-in: {count / seconds:,.0f} a second")


def exchange(client, switch):
    """Frames pass while the pipeline is exchanged for itself, with its entries."""
    frame = bytes.fromhex("020000000001") + testbed.ethernet(2, 1)[6:]
    stop, sent = threading.Event(), 0
    # The interface's own count: a socket that is not read holds few frames.
    arrived = lambda: int(pathlib.Path("/sys/class/net/host3/statistics/rx_packets").read_text())
    before = arrived()

    def send():
        nonlocal sent
        while not stop.is_set():
            switch.wires[1].send(frame)
            sent += 1
            time.sleep(0.0002)

    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(1)
    begin = time.perf_counter()
    client.push(PROGRAM, "RECONCILE_AND_COMMIT")
    seconds = time.perf_counter() - begin
    time.sleep(1)
    stop.set()
    sender.join()
    time.sleep(0.5)
    received = arrived() - before
    print(f"exchange with {MILLION:,} entries: {seconds:.2f} s; of {sent} frames {sent - received} were lost")


def main(wanted):
    if set(wanted) & {"inserts", "writes", "read"}:
        with_client(["--port", "1=net_null0"], (), lambda client, switch: [
            inserts(client), "writes" in wanted and writes(client), "read" in wanted and read(client, switch)])
    if "packets" in wanted:
        with_client(["--port", "2=net_null0"], (), lambda client, _: packets(client))
    if "exchange" in wanted:
        def measure(client, switch):
            client.fill(MILLION)
            exchange(client, switch)
        with_client([], (1, 3), measure)


def with_client(arguments, ports, work):
    switch = testbed.Switch(*arguments, ports=ports)
    try:
        client = Client(switch)
        work(client, switch)
        client.close()
    finally:
        switch.stop()


if __name__ == "__main__":
    main(sys.argv[1:] or ["inserts", "writes", "read", "packets"])
