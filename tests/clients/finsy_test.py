"""What finsy's users do with a switch."""

import asyncio
import contextlib
import logging
import unittest

import finsy as fy
import testbed
from testbed import ethernet, ipv4, mac

SECOND = 1_000_000_000
logging.getLogger("finsy").setLevel(logging.ERROR)


class Case(unittest.IsolatedAsyncioTestCase):
    """A switch that waits for its pipeline, and a controller that pushes it."""

    def setUp(self):
        self.switch = testbed.Switch()
        self.addCleanup(lambda: self.switch.stop())
        self.wires = self.switch.wires
        self.info = testbed.p4info(testbed.EDGE)

    def controller(self, election_id=10, **options):
        options = {"p4info": self.info, "p4blob": testbed.EDGE, **options}
        return fy.Switch("edge", self.switch.address, fy.SwitchOptions(initial_election_id=election_id, **options))

    async def frame(self, number, seconds=3.0):
        return await asyncio.to_thread(self.wires[number].receive, seconds)

    async def next(self, messages, seconds=5.0):
        return await asyncio.wait_for(anext(messages), seconds)


def host(number, port):
    return fy.P4TableEntry("dmac", match=fy.Match({"dst": mac_text(number)}), action=fy.Action("forward", port=port))


def mac_text(number):
    return mac(number).hex(":")


def acl(action, port, **more):
    match = fy.Match({"ingress_port": port})
    return fy.P4TableEntry("acl", match=match, priority=10, action=action, **more)


class Tables(Case):
    async def test_learning_by_digest(self):
        async with self.controller() as switch:
            digests = switch.read_digests("host_t")
            await switch.write([+fy.P4DigestEntry("host_t", max_list_size=1, ack_timeout_ns=SECOND)])
            waiting = asyncio.ensure_future(self.next(digests))
            await asyncio.sleep(0)
            self.wires[3].send(ethernet(2, 7))
            learned = await waiting
            self.assertEqual([{"address": 0x020000000007, "port": 3}], learned.data)
            await switch.write([+host(7, 3), +fy.P4TableEntry(
                "smac", match=fy.Match({"src": mac_text(7)}), action=fy.Action("NoAction")), learned.ack()])
            self.wires[1].send(ethernet(7, 1))
            self.assertEqual(ethernet(7, 1), await self.frame(3))
            # Host 1 was learned by that packet, host 7 not again.
            self.assertEqual([{"address": 0x020000000001, "port": 1}], (await self.next(digests)).data)
            self.wires[3].send(ethernet(2, 7))
            with self.assertRaises(asyncio.TimeoutError):
                await self.next(digests, 0.5)

    async def test_routing(self):
        async with self.controller() as switch:
            route = lambda prefix, port, to: fy.P4TableEntry(
                "routes", match=fy.Match(dst=prefix), action=fy.Action("route", port=port, dst=mac_text(to)))
            await switch.insert([route("10.0.0.0/8", 1, 4), route("10.1.0.0/16", 2, 5), route("10.1.2.3/32", 3, 6)])
            for address, port, to in [("10.2.0.1", 1, 4), ("10.1.0.1", 2, 5), ("10.1.2.3", 3, 6)]:
                self.wires[1].send(ipv4(address))
                self.assertEqual(ipv4(address, ttl=63, to=to, by=9), await self.frame(port))
            read = [entry async for entry in switch.read(fy.P4TableEntry("routes"))]
            self.assertEqual([1, 2, 3], sorted(entry.action.args["port"] for entry in read))
            await switch.modify([route("10.1.2.3/32", 1, 4)])
            await switch.delete([route("10.1.0.0/16", 2, 5)])
            for address in ["10.1.2.3", "10.1.0.1"]:
                self.wires[2].send(ipv4(address))
                self.assertEqual(ipv4(address, ttl=63, to=4, by=9), await self.frame(1))

    async def test_errors_name_the_update(self):
        async with self.controller() as switch:
            await switch.insert([host(1, 1)])
            with self.assertRaises(fy.P4ClientError) as failed:
                await switch.insert([host(2, 2), host(1, 1), host(3, 3)])
            self.assertEqual(fy.GRPCStatusCode.UNKNOWN, failed.exception.code)
            self.assertEqual({1: fy.GRPCStatusCode.ALREADY_EXISTS},
                             {index: error.canonical_code for index, error in failed.exception.details.items()})
            hosts = [entry.action.args["port"] async for entry in switch.read(fy.P4TableEntry("dmac"))]
            self.assertEqual([1, 2, 3], sorted(hosts))
            await switch.delete([host(9, 9)], strict=False)
            await switch.delete_all()
            self.assertEqual([], [entry async for entry in switch.read(fy.P4TableEntry("dmac"))])

    async def test_idle_timeout(self):
        async with self.controller() as switch:
            idle = switch.read_idle_timeouts()
            waiting = asyncio.ensure_future(self.next(idle))
            await asyncio.sleep(0)
            entry = fy.P4TableEntry("smac", match=fy.Match({"src": mac_text(7)}), action=fy.Action("NoAction"),
                                    idle_timeout_ns=SECOND // 2)
            await switch.insert([entry])
            aged = await waiting
            self.assertEqual([mac_text(7)], [str(fy.MACAddress(entry.match["src"])).lower() for entry in aged])
            # It stays until the controller deletes it, and a packet makes it young.
            self.wires[1].send(ethernet(1, 7))
            await asyncio.sleep(0.1)
            probe = fy.P4TableEntry("smac", match=entry.match, time_since_last_hit=0)
            ages = [entry.time_since_last_hit async for entry in switch.read(probe)]
            self.assertEqual(1, len(ages))
            self.assertLess(ages[0], SECOND // 2)


class Packets(Case):
    async def test_packet_in_and_out(self):
        async with self.controller() as switch:
            packets = switch.read_packets()
            waiting = asyncio.ensure_future(self.next(packets))
            await asyncio.sleep(0)
            await switch.insert([acl(fy.Action("to_controller"), 2)])
            self.wires[2].send(ethernet(8, 1))
            packet = await waiting
            self.assertEqual(ethernet(8, 1), packet.payload)
            self.assertEqual({"ingress_port": 2, "reason": 7}, packet.metadata)
            await switch.write([fy.P4PacketOut(ethernet(1, 8), egress_port=3, padding=0)])
            self.assertEqual(ethernet(1, 8), await self.frame(3))

    async def test_multicast(self):
        async with self.controller() as switch:
            group = fy.P4MulticastGroupEntry(5, replicas=[(1, 1), (2, 1), (3, 1)])
            flood = fy.P4TableEntry("dmac", match=fy.Match({"dst": "ff:ff:ff:ff:ff:ff"}), action=fy.Action("flood", group=5))
            await switch.insert([group, flood])
            frame = bytes([255] * 6) + ethernet(1, 1)[6:]
            self.wires[1].send(frame)
            self.assertEqual([None, frame, frame], [await self.frame(1, 0.5), await self.frame(2), await self.frame(3)])
            await switch.modify([fy.P4MulticastGroupEntry(5, replicas=[(2, 1)])])
            self.wires[1].send(frame)
            self.assertEqual([frame, None], [await self.frame(2), await self.frame(3, 0.5)])
            read = [entry async for entry in switch.read(fy.P4MulticastGroupEntry())]
            self.assertEqual([5], [entry.multicast_group_id for entry in read])

    async def test_clone_session(self):
        async with self.controller() as switch:
            session = fy.P4CloneSessionEntry(4, replicas=[3], packet_length_bytes=20)
            await switch.insert([session, host(2, 2), acl(fy.Action("mirror", session=4), 1)])
            self.wires[1].send(ethernet(2, 1))
            self.assertEqual(ethernet(2, 1), await self.frame(2))
            self.assertEqual(ethernet(2, 1)[:20], await self.frame(3))
            await switch.delete([session])
            self.wires[1].send(ethernet(2, 1))
            self.assertEqual([ethernet(2, 1), None], [await self.frame(2), await self.frame(3, 0.5)])


class Elements(Case):
    async def test_counters(self):
        async with self.controller() as switch:
            await switch.insert([host(2, 2), acl(fy.Action("permit"), 1)])
            for _ in range(3):
                self.wires[1].send(ethernet(2, 1))
                self.assertEqual(ethernet(2, 1), await self.frame(2))
            counter = [entry.data async for entry in switch.read(fy.P4CounterEntry("port_packets", index=1))]
            self.assertEqual([fy.P4CounterData(packet_count=3, byte_count=180)], counter)
            every = [entry.index async for entry in switch.read(fy.P4CounterEntry("port_packets"))]
            self.assertEqual(list(range(16)), every)
            direct = [entry.data async for entry in switch.read(fy.P4DirectCounterEntry("acl_packets"))]
            self.assertEqual([fy.P4CounterData(packet_count=3, byte_count=180)], direct)
            with_counter = fy.P4TableEntry("acl", counter_data=fy.P4CounterData())
            self.assertEqual([3], [entry.counter_data.packet_count async for entry in switch.read(with_counter)])
            await switch.modify([fy.P4CounterEntry("port_packets", index=1, data=fy.P4CounterData())])
            counter = [entry.packet_count async for entry in switch.read(fy.P4CounterEntry("port_packets", index=1))]
            self.assertEqual([0], counter)

    async def test_meters(self):
        async with self.controller() as switch:
            slow = fy.P4MeterConfig(cir=1, cburst=2, pir=1, pburst=4)
            await switch.insert([host(2, 2), acl(fy.Action("permit"), 1, meter_config=slow)])
            await switch.modify([fy.P4MeterEntry("port_meter", index=1, config=slow)])
            for _ in range(8):
                self.wires[1].send(ethernet(2, 1))
            # Two green, two yellow, then red ones, which the program drops; a slow machine may let one more pass.
            passed = 0
            while await self.frame(2, 0.3) is not None:
                passed += 1
            self.assertIn(passed, [4, 5])
            colours = [entry.data async for entry in switch.read(fy.P4RegisterEntry("colours", index=1))]
            self.assertEqual([2], colours)
            config = [entry.config async for entry in switch.read(fy.P4MeterEntry("port_meter", index=1))]
            self.assertEqual([slow], config)
            # Without a configuration all packets are green.
            await switch.modify([fy.P4MeterEntry("port_meter", index=1), acl(fy.Action("permit"), 1)])
            for _ in range(8):
                self.wires[1].send(ethernet(2, 1))
                self.assertEqual(ethernet(2, 1), await self.frame(2))


class Controllers(Case):
    async def test_backup_takes_over(self):
        async with contextlib.AsyncExitStack() as stack:
            async with self.controller(20) as first:
                second = await stack.enter_async_context(self.controller(10))
                self.assertEqual([True, False], [first.is_primary, second.is_primary])
                await first.insert([host(1, 1)])
                with self.assertRaises(fy.P4ClientError) as refused:
                    await second.insert([host(2, 2)])
                self.assertEqual(fy.GRPCStatusCode.PERMISSION_DENIED, refused.exception.code)
                self.assertEqual(1, len([entry async for entry in second.read(fy.P4TableEntry("dmac"))]))
                promoted = second.ee.event_future(fy.SwitchEvent.BECOME_PRIMARY)
            await asyncio.wait_for(promoted, 5)
            await second.insert([host(2, 2)])
            self.assertEqual(2, len([entry async for entry in second.read(fy.P4TableEntry("dmac"))]))

    async def test_same_election_id(self):
        async with self.controller(10) as first, self.controller(10) as second:
            self.assertEqual([True, False], [first.is_primary, second.is_primary])
            self.assertEqual(9, second.election_id)

    async def test_pipeline_is_pushed_once(self):
        """The same cookie: finsy keeps the pipeline and its entries. Another: the entries go."""
        async with self.controller() as switch:
            await switch.insert([host(1, 1)])
        async with self.controller() as switch:
            self.assertEqual(1, len([entry async for entry in switch.read(fy.P4TableEntry("dmac"))]))
        async with self.controller(p4force=True) as switch:
            self.assertEqual(0, len([entry async for entry in switch.read(fy.P4TableEntry("dmac"))]))

    async def test_controller_without_a_program(self):
        """Finds no pipeline, then what another has pushed."""
        async with self.controller(p4info=None, p4blob=None) as switch:
            self.assertFalse(switch.p4info.exists)
        async with self.controller(30):
            async with self.controller(p4info=None, p4blob=None) as switch:
                self.assertIn("smac", [table.alias for table in switch.p4info.tables])

    async def test_reconnect(self):
        """A switch that starts anew gets its pipeline again."""
        ready = asyncio.Queue()

        async def on_ready(switch):
            await switch.insert([host(2, 2)])
            ready.put_nowait(None)

        async with fy.Controller([self.controller(ready_handler=on_ready)]):
            await asyncio.wait_for(ready.get(), 20)
            # finsy waits ten seconds if a connection lasted less than two.
            await asyncio.sleep(2)
            await asyncio.to_thread(self.switch.stop)
            self.switch = await asyncio.to_thread(testbed.Switch, port=self.switch.port)
            self.wires = self.switch.wires
            await asyncio.wait_for(ready.get(), 30)
            self.wires[1].send(ethernet(2, 1))
            self.assertEqual(ethernet(2, 1), await self.frame(2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
