// The core library of P4_16: what every architecture may rely on.
//
// The declarations are those of the language specification (version 1.2.5); their order is part of it, because error
// codes are numbered in order of declaration.

#ifndef _CORE_P4_
#define _CORE_P4_

/// What can go wrong while parsing. Programs add their own members, numbered after these.
error {
    NoError,               /// nothing went wrong
    PacketTooShort,        /// the packet ends before the bits asked for
    NoMatch,               /// no case of a `select` matched
    StackOutOfBounds,      /// an element past the end of a header stack
    HeaderTooShort,        /// more bits than the varbit field can hold
    ParserTimeout,         /// the parser used up its budget of steps
    ParserInvalidArgument  /// a parser operation was given a value that the target cannot serve
}

/// The packet as a parser sees it: its bytes and a cursor.
extern packet_in {
    /// Fills a header of fixed size from the bytes at the cursor, makes it valid and moves the cursor past it.
    void extract<T>(out T hdr);
    /// The same for a header with one varbit field, which takes `variableFieldSizeInBits` bits.
    void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits);
    /// The bits at the cursor as a value of type T; the cursor stays.
    T lookahead<T>();
    /// Moves the cursor.
    void advance(in bit<32> sizeInBits);
    /// Bytes in the packet. Not every target knows this before the packet has come in whole.
    bit<32> length();
}

/// The packet as a deparser builds it.
extern packet_out {
    /// Appends the bits of a header if it is valid. Stacks, unions and structs append what they contain, in order.
    void emit<T>(in T hdr);
}

/// In a parser: goes on if `check` holds, else records `toSignal` as the parser's error and rejects the packet.
extern void verify(in bool check, in error toSignal);

/// The action of a table that names no other.
@noWarn("unused")
action NoAction() {}

/// How a key field is matched. Architectures add their own kinds.
match_kind {
    exact,    /// all bits equal
    ternary,  /// the bits under a mask equal
    lpm       /// the longest prefix that is equal
}

/// Stops the compilation with `message` unless `check` is true; true otherwise, so that it may initialise a constant.
extern bool static_assert(bool check, string message);
extern bool static_assert(bool check);

#endif
