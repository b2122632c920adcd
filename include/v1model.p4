// The architecture v1model: one parser, match-action in two halves around a buffer, one deparser; what `simple_switch` runs.
//
// V1MODEL_VERSION chooses between two forms of the same declarations. From 20200408 on ports have a type name of
// their own, and counters, meters and registers take the type of their index as a parameter.

#ifndef _V1_MODEL_P4_
#define _V1_MODEL_P4_

#include "core.p4"

#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif

const bit<32> __v1model_version = V1MODEL_VERSION;

match_kind {
    range,     /// between two values, both included
    optional,  /// one value, or any
    selector   /// not matched: input of the hash that an action selector chooses a member by
}

#if V1MODEL_VERSION >= 20200408
typedef bit<9> PortId_t;
#define V1MODEL_PORT PortId_t
#else
#define V1MODEL_PORT bit<9>
#endif

@metadata @name("standard_metadata")
struct standard_metadata_t {
    V1MODEL_PORT ingress_port;
    V1MODEL_PORT egress_spec;  // where ingress sends the packet; 511 drops it
    V1MODEL_PORT egress_port;  // where it is going, once in egress; read only
    bit<32> instance_type;     // 0 normal, 1 ingress clone, 2 egress clone, 4 recirculated, 5 replicated, 6 resubmitted
    bit<32> packet_length;     // bytes
    @alias("queueing_metadata.enq_timestamp")
    bit<32> enq_timestamp;     // microseconds
    @alias("queueing_metadata.enq_qdepth")
    bit<19> enq_qdepth;        // packets
    @alias("queueing_metadata.deq_timedelta")
    bit<32> deq_timedelta;     // microseconds in the queue
    @alias("queueing_metadata.deq_qdepth")
    bit<19> deq_qdepth;        // packets
    @alias("intrinsic_metadata.ingress_global_timestamp")
    bit<48> ingress_global_timestamp;  // microseconds since the switch started
    @alias("intrinsic_metadata.egress_global_timestamp")
    bit<48> egress_global_timestamp;
    @alias("intrinsic_metadata.mcast_grp")
    bit<16> mcast_grp;         // replicate to this group; 0 for none
    @alias("intrinsic_metadata.egress_rid")
    bit<16> egress_rid;        // which replica this is
    bit<1> checksum_error;     // 1 if verify_checksum found a difference
    error parser_error;        // why the parser stopped
    @alias("intrinsic_metadata.priority")
    bit<3> priority;           // the queue, larger is served first
}
#undef V1MODEL_PORT

enum CounterType { packets, bytes, packets_and_bytes }

enum MeterType { packets, bytes }

#define V1MODEL_METER_COLOR_GREEN  0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED    2

#if V1MODEL_VERSION >= 20200408

/// `size` counters, counted up by the program.
extern counter<I> {
    counter(bit<32> size, CounterType type);
    void count(in I index);
}

/// `size` two-rate three-colour meters.
extern meter<I> {
    meter(bit<32> size, MeterType type);
    void execute_meter<T>(in I index, out T result);
}

/// `size` elements of state that outlive a packet. An index out of range neither reads nor writes.
extern register<T, I> {
    register(bit<32> size);
    @noSideEffects
    void read(out T result, in I index);
    void write(in I index, in T value);
}

#else

extern counter {
    counter(bit<32> size, CounterType type);
    void count(in bit<32> index);
}

extern meter {
    meter(bit<32> size, MeterType type);
    void execute_meter<T>(in bit<32> index, out T result);
}

extern register<T> {
    register(bit<32> size);
    @noSideEffects
    void read(out T result, in bit<32> index);
    void write(in bit<32> index, in T value);
}

#endif

/// A counter for each entry of the table that names it in its `counters` property.
extern direct_counter {
    direct_counter(CounterType type);
    void count();
}

/// A meter for each entry of the table that names it in its `meters` property.
extern direct_meter<T> {
    direct_meter(MeterType type);
    void read(out T result);
}

/// Actions with their data, shared by the entries of the tables that name it in `implementation`.
extern action_profile {
    action_profile(bit<32> size);
}

/// A random number from `lo` to `hi`, both included.
extern void random<T>(out T result, in T lo, in T hi);

/// Sends `data` to the control plane.
extern void digest<T>(in bit<32> receiver, in T data);

enum HashAlgorithm { crc32, crc32_custom, crc16, crc16_custom, random, identity, csum16, xor16 }

@deprecated("Please use mark_to_drop(standard_metadata) instead.")
extern void mark_to_drop();

/// Sets egress_spec to the drop port and mcast_grp to 0. A later assignment to egress_spec takes it back.
@pure
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

/// base + (hash of `data`) mod `max`; a `max` of 0 gives `base`.
@pure
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

/// An action profile with groups; the hash over the `selector` keys chooses the member of a group.
extern action_selector {
    action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

enum CloneType { I2E, E2E }

@deprecated("Please use verify_checksum/update_checksum instead.")
extern Checksum16 {
    Checksum16();
    bit<16> get<D>(in D data);
}

/// Sets checksum_error if `condition` holds and `checksum` is not the checksum of `data`.
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
/// Writes the checksum of `data` if `condition` holds.
@pure
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);
/// The same two over `data` and all bytes that the parser left unread.
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
@noSideEffects
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

/// Sends a copy to the ports of mirror `session`: in ingress the packet as it came in, in egress as it is at the end of
/// egress. The copy keeps the metadata annotated `@field_list(index)`. The last call wins.
extern void clone(in CloneType type, in bit<32> session);
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);
@deprecated("Please use 'clone_preserving_field_list' instead")
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);

/// In ingress: the packet as it came in goes through the parser once more.
extern void resubmit_preserving_field_list(bit<8> index);
@deprecated("Please use 'resubmit_preserving_field_list' instead")
extern void resubmit<T>(in T data);

/// In egress: the deparsed packet goes through the parser once more.
extern void recirculate_preserving_field_list(bit<8> index);
@deprecated("Please use 'recirculate_preserving_field_list' instead")
extern void recirculate<T>(in T data);

/// The packet leaves with at most `length` bytes.
extern void truncate(in bit<32> length);

/// Claims about the program for testers and analysers; a false one is reported when the packet is processed.
extern void assert(in bool check);
extern void assume(in bool check);

/// Writes to the log of the switch; `{}` in `msg` is replaced by a field of `data`.
extern void log_msg(string msg);
extern void log_msg<T>(string msg, in T data);

parser Parser<H, M>(packet_in b, out H parsedHdr, inout M meta, inout standard_metadata_t standard_metadata);

/// Only calls of verify_checksum and its like.
control VerifyChecksum<H, M>(inout H hdr, inout M meta);

@pipeline
control Ingress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

@pipeline
control Egress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

/// Only calls of update_checksum and its like.
control ComputeChecksum<H, M>(inout H hdr, inout M meta);

@deparser
control Deparser<H>(packet_out b, in H hdr);

package V1Switch<H, M>(Parser<H, M> p, VerifyChecksum<H, M> vr, Ingress<H, M> ig, Egress<H, M> eg,
                       ComputeChecksum<H, M> ck, Deparser<H> dep);

#endif
