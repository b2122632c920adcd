/* A variant of v1model: ports of 16 bits, and other widths of its own. */
#include <core.p4>

match_kind { range, optional, selector }

enum CloneType { I2E, E2E }

struct standard_metadata_t {
    bit<16> ingress_port;
    bit<16> egress_spec;
    bit<16> egress_port;
    bit<8>  instance_type;
    bit<16> packet_length;
    bit<64> ingress_global_timestamp;
    bit<64> egress_global_timestamp;
    bit<24> mcast_grp;
    bit<32> egress_rid;
    bit<1>  checksum_error;
    error   parser_error;
}

extern void mark_to_drop(inout standard_metadata_t standard_metadata);
extern void resubmit_preserving_field_list(bit<8> index);
extern void clone_preserving_field_list(in CloneType type, in bit<16> session, bit<8> index);

parser Parser<H, M>(packet_in b, out H h, inout M m, inout standard_metadata_t s);
control VerifyChecksum<H, M>(inout H h, inout M m);
control Ingress<H, M>(inout H h, inout M m, inout standard_metadata_t s);
control Egress<H, M>(inout H h, inout M m, inout standard_metadata_t s);
control ComputeChecksum<H, M>(inout H h, inout M m);
control Deparser<H>(packet_out b, in H h);
package V1Switch<H, M>(
    Parser<H, M> p, VerifyChecksum<H, M> vr, Ingress<H, M> ig, Egress<H, M> eg, ComputeChecksum<H, M> ck, Deparser<H> dep);
