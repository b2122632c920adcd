//! The message for a packet that missed in a table with `@punt_on_miss`: the protocol has none, so it travels as `other` of the stream.

use control::message::runtime::stream_message_response::Update as Message;
use prost::Message as _;
use prost_types::Any;

/// `bacus.v1.Miss`. The packet waits in the switch; it is looked up again when the controller has written.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Miss {
    /// The P4Runtime id of the table.
    #[prost(uint32, tag = "1")]
    pub table_id: u32,
    /// As it was received, whatever the program has changed of it.
    #[prost(bytes = "vec", tag = "2")]
    pub packet: Vec<u8>,
}

/// What `Any` calls it.
pub const TYPE: &str = "type.googleapis.com/bacus.v1.Miss";

impl Miss {
    pub fn message(&self) -> Message {
        Message::Other(Any { type_url: TYPE.to_string(), value: self.encode_to_vec() })
    }

    /// The miss that a message reports, if it does.
    pub fn of(message: &Message) -> Option<Miss> {
        match message {
            Message::Other(any) if any.type_url == TYPE => Miss::decode(&any.value[..]).ok(),
            Message::Other(_)
            | Message::Arbitration(_)
            | Message::Packet(_)
            | Message::Digest(_)
            | Message::IdleTimeoutNotification(_)
            | Message::Error(_) => None,
        }
    }
}
