//! What the controller's view needs of the source and the flat program does not keep: types, and annotations of mentions.

use std::collections::{HashMap, HashSet};

use hlir::{Notes, TableId};

use crate::ast::DeclarationId;
use crate::types::Type;

#[derive(Debug, Default)]
pub struct Facts {
    /// The declaration of each table, by its name.
    pub tables: HashMap<String, DeclarationId>,
    /// The types of a table's keys.
    pub keys: HashMap<TableId, Vec<Type>>,
    /// Objects by their names in the program: what a controller calls them, and their declarations.
    pub objects: HashMap<String, (String, Option<DeclarationId>)>,
    /// What precedes the actions in a table's list.
    pub uses: HashMap<TableId, Vec<Notes>>,
    /// Actions, by number, that a table's list does not have: no controller sees them.
    pub unlisted: HashSet<(TableId, u32)>,
    /// The types of the parameters of a table's actions, by number.
    pub action_types: HashMap<(TableId, u32), Vec<Type>>,
    /// What a table's actions, by number, are called in the controller's view.
    pub action_names: HashMap<(TableId, u32), String>,
    /// The types of an action's parameters, by the action's name in the controller's view.
    pub parameters: HashMap<String, Vec<Type>>,
    /// Whether the source makes objects of its architecture, or calls functions of v1model's kind.
    pub externs: bool,
    /// The fields of a value set, by its name.
    pub fields: HashMap<String, Vec<(Type, Notes)>>,
    /// The type of a register's elements or of a digest's record, by the object's name.
    pub element_types: HashMap<String, Type>,
    /// The type of an object's indexes, by the object's name.
    pub indexes: HashMap<String, Type>,
}
