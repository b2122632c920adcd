//! Actions: their parameters, and their primitives as statements.

use hlir::{Notes, Parameter, Statement};

use crate::json::{At, Read};
use crate::reader::{Action, Reader};

impl<'j> Reader<'j> {
    pub fn read_actions(&mut self) -> Read<()> {
        for at in self.root.field("actions")?.items()? {
            let mut parameters = Vec::new();
            for parameter in at.list("runtime_data")? {
                let width = parameter.field("bitwidth")?.small()?;
                parameters.push(Parameter { name: parameter.name()?.to_string(), width, notes: Notes::default() });
            }
            let action = Action { name: at.name()?.to_string(), parameters, at: at.clone() };
            let id = at.id(&self.actions)?;
            self.actions.insert(id, action);
        }
        Ok(())
    }

    /// The action with an id.
    pub fn action(&self, id: &At<'_>) -> Read<Action<'j>> {
        let number = id.number()?;
        self.actions.get(&number).cloned().ok_or_else(|| id.error(format!("no action has the id {number}")))
    }

    /// The statements of an action.
    pub fn action_body(&mut self, action: &Action<'j>) -> Read<Vec<Statement>> {
        let widths = action.parameters.iter().map(|parameter| parameter.width).collect();
        let before = std::mem::replace(&mut self.parameters, widths);
        let body = self.statements(|reader| reader.primitives(&action.at.list("primitives")?));
        self.parameters = before;
        body
    }
}
