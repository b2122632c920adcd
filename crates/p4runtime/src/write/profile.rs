//! Members of action profiles.

use super::{Writer, check_presence};
use crate::failure::{Failure, Outcome};
use crate::schema::ProfileSchema;
use control::Update;
use control::message::runtime::{self as message, update::Type};
use hlir::Scope;
use tonic::Code;

impl<'a> Writer<'a> {
    pub(super) fn member(&mut self, kind: Type, given: &message::ActionProfileMember) -> Outcome {
        let schema = self.schema;
        let profile = schema.profile(given.action_profile_id)?;
        check_id("member", given.member_id)?;
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

/// Every number but 0 is an id (P4Runtime 1.5, 9.2.1 and 9.2.2).
pub fn check_id(what: &str, id: u32) -> Outcome {
    if id == 0 { Err(Failure::invalid(format!("0 is no {what}"))) } else { Ok(()) }
}
