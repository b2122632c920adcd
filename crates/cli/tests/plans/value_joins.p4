/* A route gives a next hop of 32 bits. Some routes name a group whose number the action computes, some leave the next
 * hop as it is, and routes of a fixed next hop have it in their action. */
#include <core.p4>
#include <v1model.p4>

header route_t { bit<32> dst; bit<8> is_local; bit<8> mark; bit<32> next; }
struct headers { route_t route; }
struct metadata { bit<32> hop; }

parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start {
        p.extract(h.route);
        m.hop = h.route.next;
        transition accept;
    }
}

control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    direct_counter(CounterType.packets) of_routes;
    direct_counter(CounterType.packets_and_bytes) of_hops;
    action via(bit<32> hop, bit<8> mark) {
        m.hop = hop;
        h.route.mark = mark;
        of_routes.count();
    }
    action fixed() {
        m.hop = 0xffff0001;
    }
    action group(bit<16> number) {
        m.hop = 0xffff0000 | (bit<32>)number;
    }
    action as_written() { }
    action drop() {
        mark_to_drop(s);
        exit;
    }
    table routes {
        key = { h.route.dst: lpm; }
        actions = { via; fixed; group; as_written; drop; }
        default_action = as_written;
        counters = of_routes;
        size = 64;
    }
    action forward(bit<9> port) {
        s.egress_spec = port;
        of_hops.count();
    }
    action unknown() {
        s.egress_spec = 9;
    }
    table hops {
        key = { m.hop: exact; }
        actions = { forward; unknown; drop; }
        default_action = unknown;
        counters = of_hops;
        size = 64;
    }
    apply {
        routes.apply();
        if (h.route.is_local == 0) {
            h.route.next = m.hop;
            hops.apply();
        } else {
            s.egress_spec = 8;
        }
    }
}

control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h.route); } }

V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
