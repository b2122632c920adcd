/* Headers with a varbit field are read at an index known at run time, as others are: their validity, all of them, the field by itself, and in comparisons. */
#include <core.p4>
#include <v1model.p4>

header command_t {
    bit<8> what;
    bit<8> at;
    bit<8> result;
    bit<8> count;
}

header option_t {
    bit<8>     kind;
    bit<8>     length;
    varbit<64> data;
}

struct headers {
    command_t   command;
    option_t[3] options;
    option_t    last;
}

struct meta {
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.command);
        transition select(h.command.count) {
            0: accept;
            default: option;
        }
    }
    state option {
        p.extract(h.options.next, (bit<32>)p.lookahead<bit<16>>()[7:0] * 8);
        transition select(h.options.last.kind) {
            1: option;
            default: accept;
        }
    }
}

control no_check(inout headers h, inout meta m) {
    apply { }
}

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        switch (h.command.what) {
            1: { if (h.options[h.command.at].isValid()) { h.command.result = 1; } }
            2: { h.last = h.options[h.command.at]; }
            3: { h.options[0].data = h.options[h.command.at].data; }
            4: { if (h.options[0] == h.options[h.command.at]) { h.command.result = 1; } }
            default: { }
        }
    }
}

control no_egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply { }
}

control emit_all(packet_out p, in headers h) {
    apply {
        p.emit(h);
    }
}

V1Switch(parse(), no_check(), ingress(), no_egress(), no_check(), emit_all()) main;
