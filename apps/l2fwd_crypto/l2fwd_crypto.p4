/* Encrypts or decrypts what frames carry, then forwards them by their port (DPDK's example of this
 * name). The cipher is an extern in C over OpenSSL's libcrypto, cipher.c:
 *
 *   cd apps/l2fwd_crypto
 *   bacus stf l2fwd_crypto.p4 l2fwd_crypto.stf --extern cipher.c --extern pkg:libcrypto
 *
 * The papers state: encryption and decryption "based on the input parameters", then layer 2 with a
 * static mapping of ports. Chosen:
 *   the cipher    AES-128-CBC under one key, -D KEY=… . libcrypto rather than intel-ipsec-mb, whose
 *                 gain is in jobs of several packets at once.
 *   the mapping   a port encrypts, decrypts or only forwards, to one other port. Addresses stay.
 *   sealed frames EtherType 0x88b5, bytes of the ciphertext, number of the frame; then the
 *                 ciphertext. What is behind it pads the frame.
 *   the plaintext payload; padding 1, 2, 3, …; trailer: EtherType, bytes of the payload, low half
 *                 of the number. The whole is a multiple of 16 bytes.
 *   the IV        the number, encrypted (NIST SP 800-38A, appendix C). Numbers begin with 0 as the
 *                 switch starts.
 * Padding and trailer reveal a wrong key or a changed last block (a frame of garbage passes once in
 * 2^48), but CBC does not protect what is before it. What cannot be opened is dropped and counted:
 * nothing of it is sent. What is sealed is not sealed again. */
#include <core.p4>
#include <v1model.p4>

#ifndef KEY
#define KEY 0x000102030405060708090a0b0c0d0e0f
#endif

const bit<16> TYPE_SEALED = 0x88b5;
const bit<32> ETHERNET_AND_SEALED_BYTES = 24;
const bit<16> BLOCK_BYTES = 16;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_PORT = 1;
const bit<32> DROP_ROOM = 2;
const bit<32> DROP_SEALED = 3;
const bit<32> DROP_NOT_SEALED = 4;
const bit<32> DROP_BLOCK = 5;
const bit<32> DROP_KEY = 6;
const bit<32> DROP_REASONS = 7;

/* AES-128-CBC for whole payloads. One object has one key. */
@payload
extern Cipher {
    Cipher(bit<128> key);
    /* Encrypts payload, padding and trailer. False, and nothing has changed, where the buffer has no room for them. */
    bool seal(in bit<16> type, out bit<16> bytes, out bit<64> number);
    /* Decrypts so many bytes and takes off the rest, padding and trailer. False where they are not those of `seal`. */
    bool open(in bit<16> bytes, in bit<64> number, out bit<16> type);
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header sealed_t {
    bit<16> bytes;
    bit<64> number;
}

struct headers_t {
    ethernet_t ethernet;
    sealed_t   sealed;
}

struct metadata_t {
    bool seal;
    bool open;
}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
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

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control Crypto(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;
    Cipher(KEY) cipher;

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard);
        exit;
    }

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    action encrypt(bit<9> port) {
        meta.seal = true;
        standard.egress_spec = port;
    }

    action decrypt(bit<9> port) {
        meta.open = true;
        standard.egress_spec = port;
    }

    action no_port() {
        drop(DROP_PORT);
    }

    table ports {
        key = {
            standard.ingress_port : exact;
        }
        actions = {
            encrypt;
            decrypt;
            forward;
            no_port;
        }
        size = 512;
        const default_action = no_port();
    }

    apply {
        if (!hdr.ethernet.isValid()) {
            drop(DROP_SHORT);
        }
        ports.apply();
        if (meta.seal) {
            bit<16> bytes;
            bit<64> number;

            /* The header of a sealed frame is no part of the payload, and would be lost. */
            if (hdr.ethernet.type == TYPE_SEALED) {
                drop(DROP_SEALED);
            }
            if (!cipher.seal(hdr.ethernet.type, bytes, number)) {
                drop(DROP_ROOM);
            }
            hdr.sealed = { bytes, number };
            hdr.ethernet.type = TYPE_SEALED;
        } else if (meta.open) {
            bit<16> type;

            if (hdr.ethernet.type != TYPE_SEALED) {
                drop(DROP_NOT_SEALED);
            }
            if (!hdr.sealed.isValid()) {
                drop(DROP_SHORT);
            }
            if (hdr.sealed.bytes == 0 || hdr.sealed.bytes % BLOCK_BYTES != 0 ||
                (bit<32>)hdr.sealed.bytes > standard.packet_length - ETHERNET_AND_SEALED_BYTES) {
                drop(DROP_BLOCK);
            }
            if (!cipher.open(hdr.sealed.bytes, hdr.sealed.number, type)) {
                drop(DROP_KEY);
            }
            hdr.ethernet.type = type;
            hdr.sealed.setInvalid();
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
    }
}

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(FrameParser(), NoChecksum(), Crypto(), NoEgress(), NoChecksum(), FrameDeparser()) main;
