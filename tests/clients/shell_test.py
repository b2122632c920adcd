"""What users of p4runtime-shell do with a switch."""

import collections
import time
import unittest

import p4runtime_sh.shell as sh
import testbed
from p4.v1 import p4runtime_pb2
from p4runtime_sh.p4runtime import P4RuntimeWriteException
from testbed import ethernet, ipv4, mac

Config = collections.namedtuple("Config", ["p4info", "bin"])


def mac_text(number):
    return mac(number).hex(":")


class Case(unittest.TestCase):
    def setUp(self):
        self.switch = testbed.Switch("--device-id", 0)
        self.addCleanup(self.switch.stop)
        self.wires = self.switch.wires
        config = Config(str(testbed.p4info(testbed.EDGE)), str(testbed.EDGE))
        sh.setup(device_id=0, grpc_addr=self.switch.address, election_id=(0, 1), config=config, verbose=False)
        self.addCleanup(sh.teardown)

    def entry(self, table, action, match, priority=0, **parameters):
        entry = sh.TableEntry(table)(action=action)
        for name, value in match.items():
            entry.match[name] = value
        for name, value in parameters.items():
            entry.action[name] = value
        if priority:
            entry.priority = priority
        return entry

    def host(self, number, port):
        return self.entry("EdgeIngress.dmac", "forward", {"hdr.ethernet.dst": mac_text(number)}, port=str(port))

    def acl(self, action, port, **parameters):
        match = {"standard.ingress_port": f"{port}&&&0x1ff"}
        return self.entry("EdgeIngress.acl", action, match, priority=10, **parameters)


class Tables(Case):
    def test_version(self):
        self.assertTrue(sh.APIVersion().startswith("1.5"), sh.APIVersion())

    def test_routing(self):
        for prefix, port, to in [("10.0.0.0/8", 1, 4), ("10.1.0.0/16", 2, 5)]:
            self.entry("routes", "route", {"hdr.ipv4.dst": prefix}, port=str(port), dst=mac_text(to)).insert()
        for address, port, to in [("10.2.0.1", 1, 4), ("10.1.0.1", 2, 5)]:
            self.wires[3].send(ipv4(address))
            self.assertEqual(ipv4(address, ttl=63, to=to, by=9), self.wires[port].receive())
        read = [entry.match["hdr.ipv4.dst"].lpm.prefix_len for entry in sh.TableEntry("routes").read()]
        self.assertEqual([8, 16], sorted(read))
        sh.TableEntry("routes").read(lambda entry: entry.delete())
        self.assertEqual([], list(sh.TableEntry("routes").read()))

    def test_default_action(self):
        default = sh.TableEntry("dmac")(action="forward", is_default=True)
        default.action["port"] = "3"
        default.modify()
        self.wires[1].send(ethernet(9, 1))
        self.assertEqual(ethernet(9, 1), self.wires[3].receive())
        sh.TableEntry("dmac")(is_default=True).modify()
        self.wires[1].send(ethernet(9, 1))
        self.assertIsNone(self.wires[3].receive(0.5))

    def test_errors(self):
        self.host(1, 1).insert()
        with self.assertRaisesRegex(P4RuntimeWriteException, "ALREADY_EXISTS"):
            self.host(1, 1).insert()
        with self.assertRaisesRegex(P4RuntimeWriteException, "NOT_FOUND"):
            self.host(2, 1).delete()
        const_default = sh.TableEntry("smac")(action="NoAction", is_default=True)
        with self.assertRaisesRegex(P4RuntimeWriteException, "PERMISSION_DENIED|INVALID_ARGUMENT"):
            const_default.modify()

    def test_learning_and_aging(self):
        digest = sh.DigestEntry("host_t")
        digest.max_list_size = 1
        digest.ack_timeout_ns = 1_000_000_000
        digest.insert()
        lists, idle = sh.DigestList(), sh.IdleTimeoutNotification()
        self.wires[3].send(ethernet(2, 7))
        learned = [list.digest.data for list in lists.sniff(timeout=2)]
        members = [[member.bitstring for member in data.struct.members] for data in learned[0]]
        self.assertEqual([[mac(7), b"\x03"]], members)
        entry = self.entry("smac", "NoAction", {"hdr.ethernet.src": mac_text(7)})
        entry.idle_timeout_ns = 300_000_000
        entry.insert()
        aged = [notification.idle_timeout_notification.table_entry for notification in idle.sniff(timeout=1)]
        self.assertGreaterEqual(len(aged), 1)
        self.assertEqual(mac(7), aged[0][0].match[0].exact.value)


class Packets(Case):
    def test_packet_in_and_out(self):
        packets = sh.PacketIn()
        self.acl("to_controller", 2).insert()
        self.wires[2].send(ethernet(8, 1))
        got = [message.packet for message in packets.sniff(timeout=1)]
        self.assertEqual([ethernet(8, 1)], [packet.payload for packet in got])
        self.assertEqual([(1, b"\x02"), (2, b"\x07")], [(m.metadata_id, m.value) for m in got[0].metadata])
        sh.PacketOut(ethernet(1, 8), egress_port="3").send()
        self.assertEqual(ethernet(1, 8), self.wires[3].receive())

    def test_multicast_and_clone(self):
        sh.MulticastGroupEntry(5).add(1, 1).add(2, 1).add(3, 1).insert()
        self.entry("dmac", "flood", {"hdr.ethernet.dst": "ff:ff:ff:ff:ff:ff"}, group="5").insert()
        frame = bytes([255] * 6) + ethernet(1, 1)[6:]
        self.wires[1].send(frame)
        self.assertEqual([None, frame, frame], [self.wires[1].receive(0.5), self.wires[2].receive(), self.wires[3].receive()])
        session = sh.CloneSessionEntry(4).add(3, 0)
        session.packet_length_bytes = 20
        session.insert()
        self.host(2, 2).insert()
        self.acl("mirror", 1, session="4").insert()
        self.wires[1].send(ethernet(2, 1))
        self.assertEqual([ethernet(2, 1), ethernet(2, 1)[:20]], [self.wires[2].receive(), self.wires[3].receive()])
        self.assertEqual([5], [group.group_id for group in sh.MulticastGroupEntry().read()])
        self.assertEqual([(4, 20)], [(one.session_id, one.packet_length_bytes) for one in sh.CloneSessionEntry().read()])


class Elements(Case):
    def test_counters(self):
        self.host(2, 2).insert()
        permit = self.acl("permit", 1)
        permit.insert()
        for _ in range(3):
            self.wires[1].send(ethernet(2, 1))
            self.assertEqual(ethernet(2, 1), self.wires[2].receive())
        counter = sh.CounterEntry("port_packets")
        self.assertEqual(16, len(list(counter.read())))
        counter.index = 1
        self.assertEqual([(3, 180)], [(c.packet_count, c.byte_count) for c in counter.read()])
        direct = sh.DirectCounterEntry("acl_packets")
        direct.table_entry = permit
        self.assertEqual([(3, 180)], [(c.packet_count, c.byte_count) for c in direct.read()])
        direct.packet_count, direct.byte_count = 100, 0
        direct.modify()
        self.assertEqual([100], [c.packet_count for c in direct.read()])

    def test_meters(self):
        self.host(2, 2).insert()
        permit = self.acl("permit", 1)
        permit.insert()
        direct = sh.DirectMeterEntry("acl_meter")
        direct.table_entry = permit
        direct.cir, direct.cburst, direct.pir, direct.pburst = 1, 2, 1, 4
        direct.modify()
        for _ in range(8):
            self.wires[1].send(ethernet(2, 1))
        passed = 0
        while self.wires[2].receive(0.3) is not None:
            passed += 1
        self.assertIn(passed, [4, 5])
        self.assertEqual([(1, 2, 1, 4)], [(m.cir, m.cburst, m.pir, m.pburst) for m in direct.read()])
        meter = sh.MeterEntry("port_meter")
        meter.index = 3
        meter.cir, meter.cburst, meter.pir, meter.pburst = 10, 20, 30, 40
        meter.modify()
        self.assertEqual([(10, 20, 30, 40)], [(m.cir, m.cburst, m.pir, m.pburst) for m in meter.read()])


class Shell(unittest.TestCase):
    def test_write_needs_the_primary(self):
        """Two shells: the second has the smaller id and reads only."""
        switch = testbed.Switch(testbed.EDGE)
        self.addCleanup(switch.stop)
        sh.setup(grpc_addr=switch.address, election_id=(0, 9), verbose=False)
        first = sh.client
        self.addCleanup(first.tear_down)
        sh.setup(grpc_addr=switch.address, election_id=(0, 1), verbose=False)
        self.addCleanup(sh.teardown)
        entry = sh.TableEntry("dmac")(action="drop")
        entry.match["hdr.ethernet.dst"] = mac_text(1)
        with self.assertRaisesRegex(Exception, "(?i)permission_denied"):
            entry.insert()
        self.assertEqual([], list(sh.TableEntry("dmac").read()))
        first.tear_down = lambda: None
        first.stream_out_q.put(None)
        arbitration = None
        end = time.monotonic() + 5
        while arbitration is None and time.monotonic() < end:
            arbitration = sh.client.get_stream_packet("arbitration")
        self.assertEqual(5, arbitration.arbitration.status.code, "NOT_FOUND: there is no primary now")
        self.assertIsInstance(arbitration, p4runtime_pb2.StreamMessageResponse)


if __name__ == "__main__":
    unittest.main(verbosity=2)
