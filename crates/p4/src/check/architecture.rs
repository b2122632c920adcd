//! Rules of the standard architectures beyond their declarations: objects attached to tables, and learning tables.
//!
//! They hold for programs that are to run, so they are looked at when `main` is known. Uses are noted during the walk.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::bindings::Bound;
use super::checker::{Checker, Place};
use super::limits::Limits;
use super::results::Reference;
use crate::ast::{Argument, Declaration, DeclarationId, DeclarationKind, Expression, Property, PropertyValue, Table};
use crate::evaluate::Value;
use crate::types::Type;

/// The packages that run, and how many parameters they have.
const RUNNABLE: [(&str, &[usize]); 3] = [("V1Switch", &[6]), ("PSA_Switch", &[4]), ("PNA_NIC", &[3, 4])];

/// What the walk notes for the rules of architectures.
#[derive(Default)]
pub(super) struct Uses {
    /// Calls of a counter or meter that belongs to a table: the object, the action around, the place.
    direct: Vec<(DeclarationId, Option<DeclarationId>, Span)>,
    /// Tables that such an object is attached to.
    attached: Vec<(DeclarationId, DeclarationId, Span)>,
    /// Calls of `add_entry`: the action around, the name of the action of the new entry, the place.
    learned: Vec<(Option<DeclarationId>, Option<String>, Span)>,
    pub tables: Vec<DeclarationId>,
    pub applied: Vec<super::direct::Applied>,
    /// Calls of functions that only some places of an architecture have.
    placed: Vec<Placed>,
    /// What targets ask of a program.
    pub limits: Limits,
}

struct Placed {
    function: String,
    /// The outermost declaration around, and the action if it is in one.
    owner: Option<DeclarationId>,
    action: Option<DeclarationId>,
    span: Span,
    last_argument: Option<Value>,
}

fn is_direct(of_type: &Type) -> bool {
    let Type::Extern(nominal) = of_type else { return false };
    matches!(nominal.name.as_ref(), "direct_counter" | "direct_meter" | "DirectCounter" | "DirectMeter")
}

impl<'a> Checker<'a> {
    fn action_around(&self) -> Option<DeclarationId> {
        let innermost = self.around.inside.last().copied()?;
        (self.around.place == Place::Action).then_some(innermost)
    }

    pub fn note_method(&mut self, span: Span, base: &'a Expression) {
        if let Reference::Declaration(object) = self.out.reference(base).clone()
            && is_direct(self.out.declared_type(object))
        {
            let around = self.action_around();
            self.uses.direct.push((object, around, span));
        }
    }

    pub fn note_function(&mut self, span: Span, name: &str, arguments: &'a [Argument]) {
        if matches!(name, "mirror_packet" | "set_entry_expire_time" | "restart_expire_timer") {
            let last_argument = arguments.last().and_then(|argument| self.value_of(&argument.value)).cloned();
            let owner = self.around.inside.first().copied();
            let action = self.action_around();
            self.uses.placed.push(Placed { function: name.to_owned(), owner, action, span, last_argument });
        }
        if name != "add_entry" {
            return;
        }
        let learned = arguments.first().and_then(|argument| match self.value_of(&argument.value) {
            Some(Value::String(text)) => Some(text.to_string()),
            _ => None,
        });
        let around = self.action_around();
        self.uses.learned.push((around, learned, span));
    }

    /// v1model's older calls name what a packet keeps of its metadata. Its headers are those that its parser finds.
    pub fn warn_kept_headers(&mut self, span: Span, name: &str, bound: &Bound) {
        if !matches!(name, "clone3" | "resubmit" | "recirculate") {
            return;
        }
        if bound.bindings.last().is_some_and(|kept| self.out.has_headers(&kept.of_type)) {
            let message = "the packet does not keep the headers in this argument";
            let report = Diagnostic::warning(message).kind("mismatch").label(span, "");
            self.report(report.hint("copy their fields to a struct of the metadata, and name that"));
        }
    }

    /// `counters = ...;`, `psa_direct_meter = ...;`, `implementation = ...;`
    pub fn check_attachment(&mut self, table: DeclarationId, property: &'a Property, value: &'a Expression) {
        let name = property.name.as_str();
        let of_type = self.out.used_type(value).clone();
        if is_direct(&of_type)
            && let Reference::Declaration(object) = self.out.reference(value).clone()
        {
            self.uses.attached.push((object, table, value.span));
        }
        let wanted = match name {
            "counters" | "psa_direct_counter" | "pna_direct_counter" => "ounter",
            "meters" | "psa_direct_meter" | "pna_direct_meter" => "eter",
            "implementation" | "psa_implementation" | "pna_implementation" => "",
            _ => return,
        };
        let fits = match &of_type {
            Type::Extern(nominal) => nominal.name.contains(wanted),
            other => other.is_unknown(),
        };
        if !fits {
            let message = format!("`{of_type}` cannot be the `{name}` of a table");
            let report = Diagnostic::error(message).kind("expected").label(value.span, "");
            self.when_run.push(report);
        }
    }

    pub fn note_table(&mut self, table: DeclarationId) {
        self.uses.tables.push(table);
    }

    /// Called once the program is known to have a `main`.
    pub fn check_architecture(&mut self) {
        self.check_attached_once();
        self.check_meters_are_read();
        self.check_direct_uses();
        self.check_learning();
        self.check_placed();
        self.check_applied_directly();
        self.check_limits();
    }

    /// A package whose meaning is not defined: its program can only be checked.
    pub fn warn_unknown_package(&mut self, main: DeclarationId) {
        let Type::Package(package) = self.out.declared_type(main) else { return };
        let (name, parameters) = (package.name.to_string(), self.out.parameters(package.declaration).len());
        if RUNNABLE.iter().any(|(known, sizes)| *known == name && sizes.contains(&parameters)) {
            return;
        }
        let message = format!("it is not defined how the parts of the package `{name}` work together");
        let report = Diagnostic::warning(message)
            .kind("unknown")
            .label(self.node(main).span(), "this program can be checked, but not compiled or run");
        self.report(report.hint("bacus runs V1Switch of v1model.p4, PSA_Switch of psa.p4 and PNA_NIC of pna.p4"));
    }

    /// The control that the package of PNA takes as its main control.
    fn main_control(&self) -> Option<DeclarationId> {
        let call = self.out.instance(self.out.main?)?;
        let named = |id: DeclarationId| self.name_of(id).as_ref() == "main_control";
        let place = call.bindings.iter().find(|binding| named(binding.parameter))?;
        let Some(DeclarationKind::Instance(instance)) = self.out.kind(self.out.main?) else { return None };
        let argument = self.out.argument(place, &instance.arguments)?;
        self.out.used_type(argument).nominal().map(|nominal| nominal.declaration)
    }

    /// Mirroring is for the main control of PNA, expiration for the actions of tables whose entries expire.
    fn check_placed(&mut self) {
        let Some(main_control) = self.main_control() else { return };
        for call in std::mem::take(&mut self.uses.placed) {
            let name = &call.function;
            if name == "mirror_packet" {
                let in_control =
                    call.owner.is_some_and(|owner| matches!(self.out.kind(owner), Some(DeclarationKind::Control(_))));
                if in_control && call.owner != Some(main_control) {
                    let message = format!("`{name}` can only be called in the main control");
                    self.error("invalid", call.span, message, "");
                } else if call.last_argument == Some(Value::Integer(num_bigint::BigInt::ZERO)) {
                    self.error("invalid", call.span, "mirror session 0 is reserved for the architecture", "");
                }
                continue;
            }
            let Some(action) = call.action else { continue };
            let expires = |id: &DeclarationId| match self.out.kind(*id) {
                Some(DeclarationKind::Table(table)) => {
                    self.is_true(table, "idle_timeout_with_auto_delete") || table.find("pna_idle_timeout").is_some()
                }
                _ => false,
            };
            let users = self.tables_with(action);
            if !users.is_empty() && !users.iter().any(expires) {
                let message = format!("`{name}` can only be called in actions of tables whose entries expire");
                self.report(Diagnostic::error(message).kind("invalid").label(call.span, "").hint(
                    "give the table the property `idle_timeout_with_auto_delete = true`, or a `pna_idle_timeout`",
                ));
            }
        }
    }

    fn check_attached_once(&mut self) {
        let attached = std::mem::take(&mut self.uses.attached);
        for (at, (object, table, span)) in attached.iter().enumerate() {
            if let Some((_, _, first)) = attached[..at].iter().find(|(other, _, _)| other == object) {
                let message = format!("`{}` is attached to two tables", self.name_of(*object));
                self.report(
                    Diagnostic::error(message)
                        .kind("invalid")
                        .label(*span, format!("second one, `{}`", self.name_of(*table)))
                        .label(*first, "first one"),
                );
            }
        }
        self.uses.attached = attached;
    }

    /// A direct counter or meter is used by actions of its table. In v1model the table counts and measures by itself, so a call may be
    /// anywhere, and tables without the object may share an action that calls it.
    fn check_direct_uses(&mut self) {
        for (object, action, span) in std::mem::take(&mut self.uses.direct) {
            let name = self.name_of(object);
            let owners: Vec<DeclarationId> = self
                .uses
                .attached
                .iter()
                .filter(|(other, _, _)| *other == object)
                .map(|(_, table, _)| *table)
                .collect();
            if self.is_of_v1model(object) {
                if owners.is_empty() && self.is_meter_of_v1model(object) {
                    let message = format!("direct meter `{name}` belongs to no table");
                    self.error("invalid", span, message, "a table has to name it as its `meters`");
                }
                continue;
            }
            let Some(action) = action else {
                let message = format!("`{name}` can only be used in the actions of its table");
                self.error("invalid", span, message, "this is not in an action");
                continue;
            };
            if let Some(stranger) = self.tables_with(action).iter().find(|table| !owners.contains(table)) {
                let message =
                    format!("`{name}` is not attached to table `{}`, which has this action", self.name_of(*stranger));
                let table = self.node(*stranger).span();
                self.report(Diagnostic::error(message).kind("invalid").label(span, "").label(table, "the table"));
            }
        }
    }

    fn is_of_v1model(&self, object: DeclarationId) -> bool {
        let name = self.out.declared_type(object).nominal().map(|nominal| nominal.name.clone());
        name.is_some_and(|name| name.starts_with("direct_"))
    }

    fn is_meter_of_v1model(&self, object: DeclarationId) -> bool {
        let of_type = self.out.declared_type(object);
        of_type.nominal().is_some_and(|nominal| nominal.name.as_ref() == "direct_meter")
    }

    /// A meter that no action reads colours no packet.
    fn check_meters_are_read(&mut self) {
        for (object, _, span) in self.uses.attached.clone() {
            if self.is_meter_of_v1model(object) && !self.uses.direct.iter().any(|(used, _, _)| *used == object) {
                let message = format!("direct meter `{}` is never read", self.name_of(object));
                self.error("invalid", span, message, "an action of this table has to read it");
            }
        }
    }

    fn tables_with(&self, action: DeclarationId) -> Vec<DeclarationId> {
        self.uses.tables.iter().copied().filter(|table| self.actions_of(*table).contains(&action)).collect()
    }

    /// `add_entry` is for the default action of a table with `add_on_miss`; the new entry has another of its actions.
    fn check_learning(&mut self) {
        for (around, learned, span) in std::mem::take(&mut self.uses.learned) {
            let Some(action) = around else {
                self.error("invalid", span, "`add_entry` can only be called in an action", "");
                continue;
            };
            for id in self.tables_with(action) {
                let Some(DeclarationKind::Table(table)) = self.out.kind(id) else { continue };
                let name = self.name_of(id);
                if !self.is_true(table, "add_on_miss") {
                    self.error("invalid", span, format!("table `{name}` has no `add_on_miss = true`"), "");
                    return;
                }
                if self.default_action_of(table) != Some(action) {
                    let message = format!("`add_entry` can only be called by the default action of table `{name}`");
                    self.error("invalid", span, message, "");
                    return;
                }
                let fits = learned.as_ref().is_none_or(|learned| {
                    self.actions_of(id)
                        .iter()
                        .any(|other| *other != action && self.name_of(*other).as_ref() == learned.as_str())
                });
                if !fits {
                    let message = format!("an entry of table `{name}` cannot have this action");
                    self.error("invalid", span, message, "it has to be one of the table's actions, not its default");
                    return;
                }
            }
        }
    }

    pub fn is_true(&self, table: &Table, name: &str) -> bool {
        match table.find(name).map(|property| &property.value) {
            Some(PropertyValue::Expression(value)) => self.value_of(value) == Some(&Value::Bool(true)),
            _ => false,
        }
    }

    fn default_action_of(&self, table: &Table) -> Option<DeclarationId> {
        match table.find("default_action").map(|property| &property.value) {
            Some(PropertyValue::Expression(value)) => self.action_of(value),
            _ => None,
        }
    }

    /// Names of tables that are absolute belong to one table.
    pub fn check_control_names(&mut self, declarations: &'a [Declaration]) {
        for declaration in declarations {
            let DeclarationKind::Control(control) = &declaration.kind else { continue };
            for local in control.locals.iter().filter(|local| matches!(local.kind, DeclarationKind::Table(_))) {
                self.check_shared_table(declaration, local);
            }
        }
    }

    /// A table with an absolute name in a control that is instantiated more than once.
    fn check_shared_table(&mut self, control: &'a Declaration, table: &'a Declaration) {
        let (given, span) = given_name(table);
        if !given.starts_with('.') {
            return;
        }
        let of_control = |call: &super::Call| call.result.nominal().is_some_and(|made| made.declaration == control.id);
        let declared = self.out.instances.values().filter(|call| of_control(call)).count();
        let called = self.out.calls.values().filter(|call| of_control(call)).count();
        if declared + called > 1 {
            let message = format!("name `{given}` is used for several tables");
            self.report(
                Diagnostic::error(message)
                    .kind("duplicate")
                    .label(span, "the table has this name in every instance of its control")
                    .label(control.name.span, "which there is more than one of"),
            );
        }
    }
}

/// The name that `@name` gives, or the one that is declared.
fn given_name(declaration: &Declaration) -> (String, Span) {
    if let Some(annotation) = declaration.attributes.find("name")
        && let Some(name) = annotation.string()
    {
        return (name, annotation.span);
    }
    (declaration.name.text.to_string(), declaration.name.span)
}
