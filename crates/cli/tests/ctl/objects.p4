/* One object of each kind that a controller writes, for the tests of `bacus ctl`. A frame from the controller leaves by the port that it names. */
#include <core.p4>
#include <v1model.p4>

const bit<9> CPU_PORT = 63;

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    bit<7> queue;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    packet_in_t  packet_in;
    packet_out_t packet_out;
    ethernet_t   ethernet;
}

struct metadata_t {
    bit<1> is_tagged;
    bit<2> colour;
}

struct station_t {
    bit<48> address;
    bit<9>  port;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    value_set<bit<16>>(4) tagged;

    state start {
        transition select(standard.ingress_port) {
            CPU_PORT: controller;
            default: ethernet;
        }
    }

    state controller {
        packet.extract(hdr.packet_out);
        transition accept;
    }

    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            tagged: tag;
            default: accept;
        }
    }

    state tag {
        meta.is_tagged = 1;
        transition accept;
    }
}

control Check(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Switch(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    direct_counter(CounterType.packets_and_bytes) host_frames;
    direct_meter<bit<2>>(MeterType.bytes) policed;
    counter(4, CounterType.packets) tags;
    meter(4, MeterType.packets) rates;
    register<bit<32>>(8) seen;
    action_selector(HashAlgorithm.crc16, 64, 16) uplinks;

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    action drop() {
        mark_to_drop(standard);
    }

    action to_controller(bit<7> reason) {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = standard.ingress_port;
        hdr.packet_in.reason = reason;
        standard.egress_spec = CPU_PORT;
        digest<station_t>(1, { hdr.ethernet.src, standard.ingress_port });
    }

    action allow() {
        policed.read(meta.colour);
    }

#ifdef PUNT
    @punt_on_miss
#endif
    table hosts {
        key = {
            hdr.ethernet.dst : exact;
        }
        actions = {
            forward;
            to_controller;
            drop;
        }
#ifndef PUNT
        default_action = drop;
#endif
        counters = host_frames;
        support_timeout = true;
        size = 4;
    }

    table policy {
        key = {
            hdr.ethernet.src  : ternary;
            hdr.ethernet.type : range;
        }
        actions = {
            allow;
        }
        meters = policed;
    }

    table balance {
        key = {
            hdr.ethernet.type : exact;
            hdr.ethernet.src  : selector;
        }
        actions = {
            forward;
            NoAction;
        }
        implementation = uplinks;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            standard.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            bit<2> colour;
            bit<32> count;

            tags.count((bit<32>)meta.is_tagged);
            rates.execute_meter<bit<2>>((bit<32>)standard.ingress_port & 3, colour);
            seen.read(count, 0);
            seen.write(0, count + 1);
            policy.apply();
            if (!balance.apply().hit) {
                hosts.apply();
            }
        }
    }
}

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply { }
}

control Update(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Check(), Switch(), Out(), Update(), Deparse()) main;
