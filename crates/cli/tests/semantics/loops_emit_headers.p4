/* A loop of a deparser emits what it comes to, as it is then: in any order, again, and as often as the packet asks. */
#include <core.p4>
#include <v1model.p4>

header command_t {
    bit<8> what;
    bit<8> count;
}

header item_t {
    bit<16> v;
}

header options_t {
    bit<8>     length;
    varbit<64> data;
}

struct headers {
    command_t command;
    item_t[5] items;
    options_t options;
}

struct meta {
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.command);
        p.extract(h.options, (bit<32>)(p.lookahead<bit<8>>() & 7) * 8);
        transition item;
    }
    state item {
        p.extract(h.items.next);
        transition select(h.items.last.v[15:15]) {
            1: item;
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
        if (h.command.what == 4) { h.items[1].setInvalid(); }
    }
}

control no_egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply { }
}

control emit_some(packet_out p, in headers h) {
    command_t mark;
    apply {
        p.emit(h.command);
        if (h.command.what == 1) {
            for (bit<8> i in 0 .. 4) { p.emit(h.items[i]); }
        } else if (h.command.what == 2) {
            for (bit<8> i = 4; i != 255; i = i - 1) { p.emit(h.items[i]); }
        } else if (h.command.what == 3) {
            for (bit<8> i in 1 .. h.command.count) { p.emit(h.options); }
        } else {
            mark.setValid();
            for (bit<8> i in 0 .. 4) {
                mark = { i, h.command.count };
                if (i == h.command.count) { continue; }
                p.emit(mark);
                p.emit(h.items[i]);
                if (i == 3) { break; }
            }
        }
        p.emit(h.options);
    }
}

V1Switch(parse(), no_check(), ingress(), no_egress(), no_check(), emit_some()) main;
