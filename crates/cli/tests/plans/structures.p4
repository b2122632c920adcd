/* Tables of every kind of key, for plans that give them every structure. Each table writes its own part of what leaves, so that one wrong lookup shows. */
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

header ipv4_t {
    bit<72> front;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> source;
    bit<32> destination;
}

header ports_t {
    bit<16> source;
    bit<16> destination;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ports_t    ports;
}

struct metadata_t {
    bit<8> station;
    bit<8> kind;
    bit<8> route;
    bit<8> rule;
    bit<8> port;
    bit<8> pair;
}

parser Read(packet_in packet, out headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(headers.ethernet);
        packet.extract(headers.ipv4);
        packet.extract(headers.ports);
        transition accept;
    }
}

control Sound(inout headers_t headers, inout metadata_t meta) { apply { } }

control Work(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) {
    action station(bit<8> number) { meta.station = number; }
    action kind(bit<8> number) { meta.kind = number; }
    action route(bit<8> number) { meta.route = number; }
    action rule(bit<8> number) { meta.rule = number; }
    action port(bit<8> number) { meta.port = number; }
    action pair(bit<8> number) { meta.pair = number; }

    table hosts {
        key = { headers.ethernet.source: exact; }
        actions = { station; NoAction; }
        default_action = NoAction();
        size = 30;
    }
    table kinds {
        key = { headers.ethernet.type: exact; }
        actions = { kind; NoAction; }
        default_action = NoAction();
        size = 30;
    }
    table routes {
        key = { headers.ipv4.destination: lpm; }
        actions = { route; NoAction; }
        default_action = NoAction();
        size = 100;
    }
    table rules {
        key = {
            headers.ipv4.source: ternary;
            headers.ipv4.destination: lpm;
            headers.ipv4.protocol: optional;
            headers.ports.source: range;
            headers.ports.destination: range;
        }
        actions = { rule; NoAction; }
        default_action = NoAction();
        size = 200;
    }
    table ports {
        key = { headers.ports.destination: range; }
        actions = { port; NoAction; }
        default_action = NoAction();
        size = 100;
    }
    table pairs {
        key = { headers.ethernet.destination: exact; headers.ipv4.source: lpm; }
        actions = { pair; NoAction; }
        default_action = NoAction();
        size = 100;
    }
    apply {
        hosts.apply();
        kinds.apply();
        routes.apply();
        rules.apply();
        ports.apply();
        pairs.apply();
        headers.ethernet.destination = meta.station ++ meta.kind ++ meta.route ++ meta.rule ++ meta.port ++ meta.pair;
        standard.egress_spec = standard.ingress_port;
    }
}

control Leave(inout headers_t headers, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }

control Sum(inout headers_t headers, inout metadata_t meta) { apply { } }

control Write(packet_out packet, in headers_t headers) {
    apply {
        packet.emit(headers.ethernet);
        packet.emit(headers.ipv4);
        packet.emit(headers.ports);
    }
}

V1Switch(Read(), Sound(), Work(), Leave(), Sum(), Write()) main;
