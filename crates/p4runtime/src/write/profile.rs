//! Members of action profiles.

use super::{Writer, check_presence};
use crate::failure::{Failure, Outcome};
use crate::schema::ProfileSchema;
use control::Update;
use control::message::runtime::{self as message, update::Type};
use control::store::FIRST_SET;
use hlir::Scope;
use tonic::Code;

impl<'a> Writer<'a> {
    pub(super) fn member(&mut self, kind: Type, given: &message::ActionProfileMember) -> Outcome {
        let schema = self.schema;
        let profile = schema.profile(given.action_profile_id)?;
        check_id(kind, "member", given.member_id)?;
        let (member, id) = (given.member_id, profile.profile);
        let is_there = self.plane().store().member(id, member).is_some();
        check_presence(kind, is_there, "member", member)?;
        if kind == Type::Delete {
            return self.apply(&Update::DeleteMember { profile: id, member });
        }
        let action = given.action.as_ref().ok_or_else(|| Failure::invalid("a member needs an action"))?;
        let call = profile.actions.read(action, Scope::DefaultOnly, &schema.dictionaries)?;
        if kind == Type::Insert {
            self.check_room(profile)?;
        }
        self.apply(&Update::SetMember { profile: id, member, call })
    }

    /// The size of a selector limits its groups, that of a profile its members.
    fn check_room(&mut self, profile: &ProfileSchema) -> Outcome {
        let members = self.plane().store().members(profile.profile).count() as u64;
        if profile.selector.is_none() && profile.size > 0 && members >= profile.size {
            let sentence = format!("action profile `{}` has room for {} members", profile.name, profile.size);
            return Err(Failure::new(Code::ResourceExhausted, sentence));
        }
        Ok(())
    }
}

pub fn check_id(kind: Type, what: &str, id: u32) -> Outcome {
    match (id, kind) {
        (0, _) => Err(Failure::invalid(format!("0 is no {what}"))),
        (FIRST_SET.., Type::Insert) => {
            Err(Failure::invalid(format!("ids of a {what} end below {FIRST_SET:#x}: the switch uses the others")))
        }
        (FIRST_SET.., _) => Err(Failure::missing(format!("there is no {what} {id}"))),
        _ => Ok(()),
    }
}
