//! The order of the controller's view: that of the source, as if every control had been written where it is instantiated.
//!
//! Actions of the whole program come before those of the first control that uses them.

use std::collections::{HashMap, HashSet};

use crate::ast::walk::block_expressions;
use crate::ast::{ActionReference, Declaration, DeclarationId, DeclarationKind, PropertyValue, Table};
use crate::check::{Callee, Node};
use crate::lower::Lowering;
use crate::lower::objects::{Block, Object, ObjectId};
use crate::lower::scope::Binding;
use crate::lower::value::Value;

/// Tables, actions and objects may have the same name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Table,
    Action,
    Object,
}

/// Names in their order.
#[derive(Default)]
struct Order {
    names: Vec<(Kind, String)>,
    seen: HashSet<ObjectId>,
}

impl<'a> Lowering<'a> {
    pub(super) fn order_interface(&mut self) {
        let mut order = Order::default();
        let mut packages = Vec::new();
        for declaration in &self.checked.program.declarations {
            if let DeclarationKind::Instance(_) = &declaration.kind {
                order.names.push((Kind::Object, self.external_name(declaration.id)));
                packages.extend(self.bound_object(self.globals.lookup(declaration.id)));
            }
        }
        // Packages are opened level by level.
        let mut at = 0;
        while at < packages.len() {
            let object = packages[at];
            at += 1;
            if let Object::Package(package) = self.object(object) {
                packages.extend(
                    package
                        .arguments
                        .iter()
                        .filter_map(|argument| match argument {
                            Value::Object(inner) if !packages.contains(inner) => Some(*inner),
                            _ => None,
                        })
                        .collect::<Vec<_>>(),
                );
            }
        }
        for object in packages {
            let Object::Block(block) = self.object(object) else { continue };
            let mut used = Vec::new();
            self.global_actions(&block, &mut HashSet::new(), &mut used);
            order.names.extend(used.into_iter().map(|action| (Kind::Action, self.external_name(action))));
            self.order_block(object, &mut order);
        }
        let mut places: HashMap<(Kind, String), usize> = HashMap::new();
        for (at, (kind, name)) in order.names.into_iter().enumerate() {
            places.entry((kind, Self::qualified("", &name))).or_insert(at);
        }
        let place = |kind, name: &String| places.get(&(kind, name.clone())).copied().unwrap_or(usize::MAX);
        let interface = &mut self.program.interface;
        interface.tables.sort_by_key(|table| place(Kind::Table, &table.name));
        interface.actions.sort_by_key(|action| place(Kind::Action, &action.name));
        interface.objects.sort_by_key(|object| place(Kind::Object, &object.name));
    }

    fn bound_object(&self, binding: Option<Binding>) -> Option<ObjectId> {
        match binding? {
            Binding::Value(Value::Object(object)) => Some(object),
            Binding::Value(_) | Binding::Target(_) => None,
        }
    }

    fn order_block(&self, object: ObjectId, order: &mut Order) {
        let Object::Block(block) = self.object(object) else { return };
        if !order.seen.insert(object) {
            return;
        }
        for declaration in self.locals_of(&block) {
            let kind = match &declaration.kind {
                DeclarationKind::Table(_) => Kind::Table,
                DeclarationKind::Action { .. } => Kind::Action,
                _ => Kind::Object,
            };
            order.names.push((kind, Self::qualified(&block.name, &self.external_name(declaration.id))));
            if let Some(instance) = self.local_instance(&block, declaration) {
                self.order_block(instance, order);
            }
        }
        self.direct_instances(&block).into_iter().for_each(|instance| self.order_block(instance, order));
    }

    fn locals_of(&self, block: &Block) -> &'a [Declaration] {
        match self.checked.node(block.declaration) {
            Node::Declaration(Declaration { kind: DeclarationKind::Control(control), .. }) => &control.locals,
            Node::Declaration(Declaration { kind: DeclarationKind::Parser(parser), .. }) => {
                parser.body.as_ref().map_or(&[], |body| &body.locals)
            }
            _ => &[],
        }
    }

    fn local_instance(&self, block: &Block, declaration: &Declaration) -> Option<ObjectId> {
        let is_instance = matches!(declaration.kind, DeclarationKind::Instance(_));
        is_instance.then(|| self.bound_object(block.scope.lookup(declaration.id))).flatten()
    }

    /// The instances that `T.apply()` makes in a block.
    fn direct_instances(&self, block: &Block) -> Vec<ObjectId> {
        let mut direct: Vec<_> = self.direct.iter().filter(|((_, path), _)| *path == block.name).collect();
        direct.sort_by_key(|((expression, _), _)| expression.0);
        direct.into_iter().map(|(_, instance)| *instance).collect()
    }

    /// Actions of the whole program that this block and those inside use, in the order in which they do.
    fn global_actions(&self, block: &Block, seen: &mut HashSet<ObjectId>, used: &mut Vec<DeclarationId>) {
        let mut inner = |object: ObjectId, used: &mut Vec<DeclarationId>| {
            if let Object::Block(block) = self.object(object)
                && seen.insert(object)
            {
                self.global_actions(&block, seen, used);
            }
        };
        for declaration in self.locals_of(block) {
            match &declaration.kind {
                DeclarationKind::Table(table) => self.listed_actions(table, used),
                DeclarationKind::Action { body, .. } => self.called_in(body, used),
                _ => {
                    if let Some(instance) = self.local_instance(block, declaration) {
                        inner(instance, used);
                    }
                }
            }
        }
        self.direct_instances(block).into_iter().for_each(|instance| inner(instance, used));
        if let Node::Declaration(Declaration { kind: DeclarationKind::Control(control), .. }) =
            self.checked.node(block.declaration)
            && let Some(body) = &control.apply
        {
            self.called_in(body, used);
        }
        let is_global = |id: &DeclarationId| self.checked.program.declarations.iter().any(|found| found.id == *id);
        used.retain(is_global);
    }

    fn listed_actions(&self, table: &'a Table, used: &mut Vec<DeclarationId>) {
        let listed: &'a [ActionReference] = match table.find("actions").map(|found| &found.value) {
            Some(PropertyValue::Actions(listed)) => listed,
            _ => &[],
        };
        let calls = listed.iter().filter_map(|listed| self.checked.call(&listed.action));
        used.extend(calls.filter_map(|call| match call.callee {
            Callee::Action(action) => Some(action),
            _ => None,
        }));
        used.extend(self.no_action_declaration().filter(|_| table.find("default_action").is_none()));
    }

    fn called_in(&self, body: &'a crate::ast::Block, into: &mut Vec<DeclarationId>) {
        block_expressions(body, &mut |expression| {
            if let Some(Callee::Action(action)) = self.checked.call(expression).map(|call| &call.callee) {
                into.push(*action);
            }
        });
    }

    /// The action that core.p4 declares for tables without a default.
    pub fn no_action_declaration(&self) -> Option<DeclarationId> {
        let mut declarations = self.checked.program.declarations.iter();
        let is_action = |found: &&Declaration| matches!(found.kind, DeclarationKind::Action { .. });
        declarations.find(|found| is_action(found) && found.name.as_str() == "NoAction").map(|found| found.id)
    }
}
