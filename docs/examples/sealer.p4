/* A switch that seals what it carries: the payload is encrypted and a tag appended, and taken off again on the way back. The cipher is an extern, written
 * in C (sealer.c). Try it: bacus stf docs/examples/sealer.p4 docs/examples/sealer.stf --extern docs/examples/sealer.c --engine native */
#include <core.p4>
#include <v1model.p4>

/// A stream cipher with a tag of four bytes. One object, one key; it counts what it seals.
@payload
extern Sealer {
    Sealer(bit<128> key);
    /// Encrypts the payload and appends the tag. The number of the packet, which the receiver needs.
    bit<32> seal();
    /// Checks the tag and decrypts; false, and nothing has changed, if it does not fit.
    bool open(in bit<32> number);
    /// Of all that was sealed: packets and bytes.
    void sealed(out bit<32> packets, out bit<64> bytes);
}

/// Folds an address of any length to a port's bits, and returns whether any bit was set.
extern bool fold(in bit<48> address, in bit<128> salt, inout bit<16> sum, out bit<80> mixed);

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header sealed_t {
    bit<32> number;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
    sealed_t   sealed;
}

struct metadata_t {
    bit<80> mixed;
}

const bit<16> TYPE_SEALED = 0x88b5;
const bit<16> TYPE_COUNTS = 0x88b6;

parser Frames(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_SEALED: sealed;
            default: accept;
        }
    }
    state sealed {
        packet.extract(hdr.sealed);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Seal(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    Sealer(128w0x000102030405060708090a0b0c0d0e0f) sealer;

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }
    /// Towards the other side.
    action seal(bit<9> port) {
        hdr.sealed.setValid();
        hdr.sealed.number = sealer.seal();
        hdr.sealed.type = hdr.ethernet.type;
        hdr.ethernet.type = TYPE_SEALED;
        standard.egress_spec = port;
    }
    action drop() {
        mark_to_drop(standard);
    }

    table hosts {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; seal; drop; }
        default_action = drop();
    }

    apply {
        if (hdr.ethernet.type == TYPE_COUNTS) {
            bit<32> packets;
            bit<64> bytes;
            bit<16> sum = hdr.ethernet.type;
            sealer.sealed(packets, bytes);
            bool any = fold(hdr.ethernet.src, 128w0x80000000000000000000000000000001, sum, meta.mixed);
            hdr.ethernet.src = packets ++ (any ? 16w1 : 16w0);
            hdr.ethernet.dst = bytes[31:0] ++ sum;
            hdr.ethernet.type = meta.mixed[79:64];
            standard.egress_spec = standard.ingress_port;
            return;
        }
        if (hdr.sealed.isValid()) {
            if (!sealer.open(hdr.sealed.number)) {
                drop();
                return;
            }
            hdr.ethernet.type = hdr.sealed.type;
            hdr.sealed.setInvalid();
        }
        hosts.apply();
    }
}

control Send(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.sealed);
    }
}

V1Switch(Frames(), Verify(), Seal(), Send(), Compute(), Deparse()) main;
