//! Value sets of parsers, and which digests are wanted.

use super::{Writer, check_presence, only_modify};
use crate::failure::{Failure, Outcome};
use crate::value;
use control::message::runtime::{self as message, update::Type};
use control::plane::DigestConfig;
use control::{Record, Update};
use tonic::Code;

impl<'a> Writer<'a> {
    pub(super) fn value_set(&mut self, kind: Type, given: &message::ValueSetEntry) -> Outcome {
        only_modify(kind, "a value set")?;
        let schema = self.schema;
        let set = schema.value_set(given.value_set_id)?;
        let mut members = Vec::with_capacity(given.members.len());
        for member in &given.members {
            let matches = set.keys.read(&member.r#match, &schema.dictionaries)?;
            if members.contains(&matches) {
                let sentence = format!("a member of value set `{}` is given twice", set.name);
                return Err(Failure::new(Code::AlreadyExists, sentence));
            }
            members.push(matches);
        }
        self.apply(&Update::SetValueSet { set: set.set, members })
    }

    pub(super) fn digest(&mut self, kind: Type, given: &message::DigestEntry) -> Outcome {
        let digest = self.schema.digest(given.digest_id)?;
        let before = self.plane().store().digest(digest.digest);
        check_presence(kind, before.is_some(), "configuration of digest", digest.id)?;
        let config = match kind {
            Type::Delete => None,
            Type::Insert | Type::Modify | Type::Unspecified => {
                let given = given.config.unwrap_or_default();
                let size = u32::try_from(given.max_list_size);
                Some(DigestConfig {
                    timeout_ns: value::count(given.max_timeout_ns, "the timeout of a list")?,
                    largest_list: size.map_err(|_| Failure::invalid("the size of a list is negative"))?,
                    acknowledge_ns: value::count(given.ack_timeout_ns, "the timeout of an acknowledgement")?,
                })
            }
        };
        self.apply(&Update::Record(Record::Digest { digest: digest.digest, config }))
    }
}
