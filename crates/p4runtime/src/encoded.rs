//! Answers to a Read, encoded while the switch is locked: a tenth of the room that the messages would take.

use control::message::runtime::Entity;
use prost::bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::encoding::{DecodeContext, WireType, message};
use prost::{DecodeError, Message};

/// Bytes from which on an answer is sent: well below the 4 MB that clients take.
const ENOUGH: usize = 256 * 1024;

/// A `ReadResponse` in its encoded form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded(Bytes);

impl Message for Encoded {
    fn encode_raw(&self, buffer: &mut impl BufMut) {
        buffer.put_slice(&self.0);
    }

    fn merge_field(
        &mut self,
        _tag: u32,
        _wire_type: WireType,
        _buffer: &mut impl Buf,
        _context: DecodeContext,
    ) -> Result<(), DecodeError> {
        panic!("the server reads no answers")
    }

    fn encoded_len(&self) -> usize {
        self.0.len()
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// Collects entities into answers.
#[derive(Default)]
pub struct Answers {
    full: Vec<Encoded>,
    open: BytesMut,
}

impl Answers {
    pub fn push(&mut self, entity: &Entity) {
        // The field `entities` of a ReadResponse.
        message::encode(1, entity, &mut self.open);
        if self.open.len() >= ENOUGH {
            self.full.push(Encoded(self.open.split().freeze()));
        }
    }

    pub fn finish(mut self) -> Vec<Encoded> {
        if !self.open.is_empty() {
            self.full.push(Encoded(self.open.freeze()));
        }
        self.full
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::message::runtime::{CounterEntry, Index, ReadResponse, entity};

    #[test]
    fn answers_are_what_a_client_decodes() {
        let entity = |index| Entity {
            entity: Some(entity::Entity::CounterEntry(CounterEntry {
                index: Some(Index { index }),
                ..Default::default()
            })),
        };
        let mut answers = Answers::default();
        (0..100_000).for_each(|index| answers.push(&entity(index)));
        let answers = answers.finish();
        assert!(answers.len() > 1);
        let decoded = answers.iter().flat_map(|answer| {
            let bytes = answer.encode_to_vec();
            assert_eq!(bytes.len(), answer.encoded_len());
            ReadResponse::decode(bytes.as_slice()).expect("it is one").entities
        });
        assert!(decoded.eq((0..100_000).map(entity)));
    }
}
