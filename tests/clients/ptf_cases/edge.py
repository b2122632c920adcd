"""PTF's way: packets made with scapy, entries written by the generated stubs of P4Runtime."""

import queue

import google.protobuf.text_format
import grpc
import ptf
import ptf.testutils as tu
from p4.config.v1 import p4info_pb2
from p4.v1 import p4runtime_pb2 as p4
from p4.v1 import p4runtime_pb2_grpc
from ptf.base_tests import BaseTest
from ptf.mask import Mask
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

ALL = 0x0FFF


class EdgeTest(BaseTest):
    """Pushes the program, and writes entries as the primary controller."""

    def setUp(self):
        super().setUp()
        self.dataplane = ptf.dataplane_instance
        self.dataplane.flush()
        self.channel = grpc.insecure_channel(tu.test_param_get("grpcaddr"))
        self.stub = p4runtime_pb2_grpc.P4RuntimeStub(self.channel)
        self.info = p4info_pb2.P4Info()
        with open(tu.test_param_get("p4info")) as text:
            google.protobuf.text_format.Merge(text.read(), self.info)
        self.requests, self.answers = queue.Queue(), None
        self.answers = self.stub.StreamChannel(iter(self.requests.get, None))
        hello = p4.StreamMessageRequest()
        hello.arbitration.device_id = 1
        hello.arbitration.election_id.low = 1
        self.requests.put(hello)
        assert next(self.answers).arbitration.status.code == 0
        push = p4.SetForwardingPipelineConfigRequest(device_id=1, action="VERIFY_AND_COMMIT")
        push.election_id.low = 1
        push.config.p4info.CopyFrom(self.info)
        with open(tu.test_param_get("config"), "rb") as program:
            push.config.p4_device_config = program.read()
        self.stub.SetForwardingPipelineConfig(push)

    def tearDown(self):
        self.requests.put(None)
        self.channel.close()
        super().tearDown()

    def named(self, objects, alias):
        return next(one for one in objects if one.preamble.alias == alias)

    def update(self, table, match, action, priority=0, **parameters):
        """The update that inserts an entry. `match` sets the fields, in the order of the table."""
        table = self.named(self.info.tables, table)
        action = self.named(self.info.actions, action)
        update = p4.Update(type="INSERT")
        entry = update.entity.table_entry
        entry.table_id, entry.priority = table.preamble.id, priority
        entry.match.extend(match)
        entry.action.action.action_id = action.preamble.id
        for parameter in action.params:
            entry.action.action.params.add(param_id=parameter.id, value=parameters[parameter.name])
        return update

    def write(self, *updates, atomicity="CONTINUE_ON_ERROR"):
        request = p4.WriteRequest(device_id=1, updates=updates, atomicity=atomicity)
        request.election_id.low = 1
        self.stub.Write(request)


def exact(value):
    return p4.FieldMatch(field_id=1, exact=p4.FieldMatch.Exact(value=value))


def lpm(value, length):
    return p4.FieldMatch(field_id=1, lpm=p4.FieldMatch.LPM(value=value, prefix_len=length))


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


class Forward(EdgeTest):
    def runTest(self):
        packet = tu.simple_arp_packet(eth_dst="02:00:00:00:00:02", eth_src="02:00:00:00:00:01")
        tu.send_packet(self, 1, packet)
        tu.verify_no_other_packets(self)
        self.write(self.update("dmac", [exact(mac("02:00:00:00:00:02"))], "forward", port=b"\x02"))
        tu.send_packet(self, 1, packet)
        tu.verify_packets(self, packet, [2])


class Route(EdgeTest):
    def runTest(self):
        dst = mac("02:00:00:00:00:05")
        self.write(self.update("routes", [lpm(b"\x0a\0\0\0", 8)], "route", port=b"\x03", dst=dst))
        packet = tu.simple_tcp_packet(eth_dst="02:00:00:00:00:09", ip_dst="10.1.2.3", ip_ttl=64)
        routed = packet.copy()
        routed[Ether].src, routed[Ether].dst, routed[IP].ttl = "02:00:00:00:00:09", "02:00:00:00:00:05", 63
        expected = Mask(routed)
        # The program leaves the checksum of the header as it came.
        expected.set_do_not_care_scapy(IP, "chksum")
        tu.send_packet(self, 1, packet)
        tu.verify_packets(self, expected, [3])


class PacketIn(EdgeTest):
    def runTest(self):
        self.write(self.update("dmac", [exact(mac("02:00:00:00:00:08"))], "punt"))
        packet = tu.simple_arp_packet(eth_dst="02:00:00:00:00:08", eth_src="02:00:00:00:00:01")
        tu.send_packet(self, 2, packet)
        got = next(self.answers).packet
        self.assertEqual(bytes(packet), got.payload)
        self.assertEqual([(1, b"\x02"), (2, b"\x07")], [(one.metadata_id, one.value) for one in got.metadata])
        out = p4.StreamMessageRequest()
        out.packet.payload = bytes(packet)
        out.packet.metadata.add(metadata_id=1, value=b"\x01")
        out.packet.metadata.add(metadata_id=2, value=b"\x00")
        self.requests.put(out)
        tu.verify_packets(self, packet, [1])


class Batches(EdgeTest):
    """All or nothing where the batch is atomic, each alone where it does not."""

    def runTest(self):
        host = lambda n: self.update("dmac", [exact(bytes([2, 0, 0, 0, 0, n]))], "forward", port=b"\x02")
        entries = p4.ReadRequest(device_id=1)
        entries.entities.add().table_entry.table_id = self.named(self.info.tables, "dmac").preamble.id
        count = lambda: sum(len(answer.entities) for answer in self.stub.Read(entries))
        self.write(host(1))
        for atomicity, left in [("ROLLBACK_ON_ERROR", 1), ("DATAPLANE_ATOMIC", 1), ("CONTINUE_ON_ERROR", 3)]:
            with self.assertRaises(grpc.RpcError) as refused:
                self.write(host(2), host(1), host(3), atomicity=atomicity)
            self.assertEqual(grpc.StatusCode.UNKNOWN, refused.exception.code())
            self.assertEqual(left, count(), atomicity)
        # A whole batch, after which packets pass as before.
        self.write(host(4), host(5), atomicity="DATAPLANE_ATOMIC")
        self.assertEqual(5, count())
        packet = tu.simple_arp_packet(eth_dst="02:00:00:00:00:05", eth_src="02:00:00:00:00:01")
        tu.send_packet(self, 1, packet)
        tu.verify_packets(self, packet, [2])
