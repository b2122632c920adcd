/* The widths of ports and of the rest of the standard metadata are those of the file that declares them; dropping is the largest port. */
#include "wide_v1model.p4"

header data_t {
    bit<16> to;
    bit<16> from;
    bit<16> length;
    bit<8>  kind;
    bit<8>  group;
}

struct headers {
    data_t h;
}

struct meta {
    @field_list(1)
    bit<16> first;
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.h);
        m.first = m.first + s.ingress_port;
        transition accept;
    }
}

control none(inout headers h, inout meta m) { apply { } }

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = h.h.to;
        s.mcast_grp = (bit<24>)h.h.group;
        if (h.h.to == 3) { mark_to_drop(s); }
        if (h.h.to == 6 && s.instance_type == 0) { resubmit_preserving_field_list(1); }
        if (h.h.to == 7) { clone_preserving_field_list(CloneType.I2E, 5, 1); }
        h.h.from = m.first;
        if (s.instance_type == 6) { h.h.from = m.first | 0x100; }
        if (s.ingress_global_timestamp > 0xffffffffff) { h.h.from = 0; }
    }
}

control egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        h.h.length = s.packet_length;
        h.h.kind = s.instance_type;
        if (h.h.to == 4) { mark_to_drop(s); }
        if (s.instance_type != 0) { h.h.to = s.egress_port; }
    }
}

control emit_all(packet_out p, in headers h) { apply { p.emit(h.h); } }

V1Switch(parse(), none(), ingress(), egress(), none(), emit_all()) main;
