// A program with something of every kind that a controller can write.
#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

@p4runtime_translation("example.org/vrf", string)
type bit<10> vrf_t;
@p4runtime_translation("example.org/tag", 32)
type bit<12> tag_t;

@controller_header("packet_in")
header packet_in_t { bit<9> ingress_port; @padding bit<7> pad; }
@controller_header("packet_out")
header packet_out_t { bit<9> egress_port; @padding bit<7> pad; }
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t { bit<32> src; bit<32> dst; bit<16> sport; bit<16> dport; bit<8> class; }

struct headers { packet_in_t packet_in; packet_out_t packet_out; ethernet_t ethernet; ipv4_t ipv4; }
struct metadata { vrf_t vrf; tag_t tag; bit<2> colour; bit<2> other; }
struct learned_t { bit<48> address; bit<9> port; }

#define CPU_PORT 510

parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    value_set<bit<16>>(4) ipv4_types;
    state start {
        transition select(s.ingress_port) { CPU_PORT: from_controller; default: from_port; }
    }
    state from_controller { p.extract(h.packet_out); transition from_port; }
    state from_port {
        p.extract(h.ethernet);
        transition select(h.ethernet.type) { ipv4_types: ipv4; default: accept; }
    }
    state ipv4 { p.extract(h.ipv4); transition accept; }
}

control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    direct_counter(CounterType.packets_and_bytes) host_counter;
    direct_meter<bit<2>>(MeterType.bytes) acl_meter;
    counter<bit<9>>(512, CounterType.packets_and_bytes) port_counter;
    meter<bit<9>>(16, MeterType.packets) port_meter;
    register<bit<32>, bit<32>>(8) last;
    action_selector(HashAlgorithm.crc16, 32, 16) selector;
    action_selector(HashAlgorithm.crc16, 32, 16) spreader;
    action_profile(4) profile;

    action drop() { mark_to_drop(s); }
    action forward(bit<9> port) { s.egress_spec = port; }
    action flood(bit<16> group) { s.mcast_grp = group; }
    action learn() { digest<learned_t>(1, { h.ethernet.src, s.ingress_port }); }
    action punt() { s.egress_spec = CPU_PORT; }
    action set_vrf(vrf_t vrf) { m.vrf = vrf; }
    action set_tag(tag_t tag) { m.tag = tag; }

    table hosts {
        key = { h.ethernet.dst: exact; }
        actions = { forward; flood; drop; @defaultonly punt; @tableonly learn; }
        default_action = drop();
        size = 64;
        counters = host_counter;
        support_timeout = true;
    }
    table routes {
        key = { h.ipv4.dst: lpm; }
        actions = { forward; drop; NoAction; }
        size = 4096;
    }
    table acl {
        key = { h.ipv4.src: ternary; h.ipv4.dport: range; h.ipv4.class: optional; }
        actions = { forward; drop; NoAction; }
        const default_action = NoAction();
        meters = acl_meter;
    }
    table fixed {
        key = { s.ingress_port: exact; }
        actions = { forward; NoAction; }
        const entries = { 7: forward(3); 8: NoAction(); }
    }
    table paths {
        key = { h.ethernet.type: exact; h.ipv4.src: selector; }
        actions = { forward; drop; }
        implementation = selector;
    }
    table spread {
        key = { h.ethernet.type: exact; h.ipv4.src: selector; }
        actions = { forward; drop; }
        implementation = spreader;
    }
    table shared {
        key = { h.ethernet.src: exact; }
        actions = { forward; drop; NoAction; }
        implementation = profile;
    }
    table tenants {
        key = { m.vrf: exact; m.tag: exact; }
        actions = { set_vrf; set_tag; NoAction; }
    }

    apply {
        if (h.packet_out.isValid()) {
            s.egress_spec = h.packet_out.egress_port;
            h.packet_out.setInvalid();
        } else {
            port_counter.count(s.ingress_port);
            port_meter.execute_meter(s.ingress_port, m.other);
            last.write(0, h.ethernet.dst[31:0]);
            fixed.apply();
            shared.apply();
            tenants.apply();
            hosts.apply();
            paths.apply();
            spread.apply();
            if (h.ipv4.isValid()) {
                routes.apply();
                acl_meter.read(m.colour);
                acl.apply();
            }
        }
    }
}

control egress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    apply {
        if (s.egress_port == CPU_PORT) {
            h.packet_in.setValid();
            h.packet_in.ingress_port = s.ingress_port;
            h.packet_in.pad = 0;
        }
    }
}
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) {
    apply { p.emit(h.packet_in); p.emit(h.ethernet); p.emit(h.ipv4); }
}
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
