/* A synthetic function, the fifth of PacketMill's: for each packet W random numbers, and N accesses
 * at random places of S MB of memory. W is for the core, N and S are for its caches; -D W=20 -D N=5
 * -D S=64 sets them at compile time.
 *
 * The paper names the function and gives no details. Chosen:
 *   the numbers   xorshift32 (Marsaglia 2003: 13, 17, 5). The seed is the low half of the source
 *                 address XOR the low half of the destination, or 1 where that is 0, so that a
 *                 packet's numbers depend on nothing but the packet.
 *   the accesses  reads of 32-bit words. Each takes one number more for its place, scaled to the
 *                 memory by a multiplication.
 *   the result    the last number XOR all words. It is XORed into the destination address, so that
 *                 no compiler leaves the work out.
 *   the frame     goes back as in forwarder, with its addresses exchanged. */
#include <core.p4>
#include <v1model.p4>

/* Random numbers for each packet, beside those that the accesses need. */
#ifndef W
#define W 4
#endif
/* Accesses for each packet. */
#ifndef N
#define N 1
#endif
/* MB of memory: at most 16383, for the number of words must fit 32 bits. */
#ifndef S
#define S 4
#endif

const bit<32> WORDS = S * 262144;
const bit<32> SEED = 1;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_REASONS = 1;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
}

bit<32> next(in bit<32> number) {
    bit<32> x = number;

    x = x ^ x << 13;
    x = x ^ x >> 17;
    x = x ^ x << 5;
    return x;
}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control Work(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;
    register<bit<32>>(WORDS) memory;

    apply {
        if (hdr.ethernet.isValid()) {
            bit<48> dst = hdr.ethernet.dst;
            bit<32> number = dst[31:0] ^ hdr.ethernet.src[31:0];
            bit<32> words = 0;

            if (number == 0) {
                number = SEED;
            }
            for (bit<32> i = 0; i < W; i += 1) {
                number = next(number);
            }
            for (bit<32> i = 0; i < N; i += 1) {
                bit<32> word;

                number = next(number);
                memory.read(word, (bit<32>)((bit<64>)number * (bit<64>)WORDS >> 32));
                words = words ^ word;
            }
            hdr.ethernet.dst = hdr.ethernet.src ^ (16w0 ++ (number ^ words));
            hdr.ethernet.src = dst;
            standard.egress_spec = standard.ingress_port;
        } else {
            dropped.count(DROP_SHORT);
            mark_to_drop(standard);
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
    }
}

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(FrameParser(), NoChecksum(), Work(), NoEgress(), NoChecksum(), FrameDeparser()) main;
