/* A stack of any length: elements are taken in order until it is full, shifted, read and written at an index known at run time. Beyond its end is an error
 * in a parser, and nothing elsewhere. */
#include <core.p4>
#include <v1model.p4>

header command_t {
    bit<8>  what;
    bit<8>  at;
    bit<8>  from;
    bit<8>  failed;
}

header item_t {
    bit<8>  more;
    bit<8>  v;
    bit<80> wide;
}

struct headers {
    command_t  command;
    item_t[12] items;
}

struct meta {
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.command);
        transition item;
    }
    state item {
        p.extract(h.items.next);
        transition select(h.items.last.more) {
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
        if (s.parser_error == error.StackOutOfBounds) { h.command.failed = 0xee; }
        if (s.parser_error == error.PacketTooShort) { h.command.failed = 0xdd; }
        switch (h.command.what) {
            1: {
                h.items.push_front(2);
                h.items[0].setValid();
                h.items[0] = { 0x11, 0x12, 0x13 };
            }
            2: { h.items.pop_front(3); }
            3: { h.items[h.command.at].v = h.items[h.command.from].v; }
            4: { h.items[h.command.at].setInvalid(); }
            5: { h.items[11] = h.items[h.command.from]; }
            6: { h.items[h.command.at].wide = h.items[h.command.from].wide + 1; }
            7: { if (h.items[h.command.at].isValid()) { h.command.failed = 0x77; } }
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
