/* v1model: a clone of egress runs through egress anew. Headers that are declared there, in a function, an action or the control itself, are invalid again. */
#include <core.p4>
#include <v1model.p4>

header byte_t {
    bit<8> v;
}

header_union either_t {
    byte_t one;
}

struct headers {
    byte_t    what;
    byte_t[4] found;
}

struct meta {
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.what);
        transition accept;
    }
}

control no_check(inout headers h, inout meta m) {
    apply { }
}

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
    }
}

/* Whether a header of its own is valid at the begin. */
bit<8> in_function() {
    byte_t own;
    bool known = own.isValid();

    own.setValid();
    own.v = 1;
    return known ? 8w1 : 0;
}

control egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    byte_t of_control;
    bit<8> found;

    action in_action() {
        either_t own;
        bool known = own.one.isValid();

        own.one.setValid();
        found = found | (known ? 8w2 : 0);
    }

    apply {
        byte_t[2] stack;

        found = in_function();
        in_action();
        found = found | (of_control.isValid() ? 8w4 : 0) | (stack[1].isValid() ? 8w8 : 0);
        of_control.setValid();
        stack[1].setValid();
        h.found[0].setValid();
        h.found[0].v = found;
        if (s.instance_type == 0) {
            clone(CloneType.E2E, 5);
        }
    }
}

control emit_all(packet_out p, in headers h) {
    apply {
        p.emit(h);
    }
}

V1Switch(parse(), no_check(), ingress(), egress(), no_check(), emit_all()) main;
