//! The state of an evaluation: the program's declarations, the slots of its variables, its objects, and the packet.

use std::collections::HashMap;
use std::rc::Rc;

use num_bigint::BigInt;
use p4::ast::{Declaration, DeclarationId, DeclarationKind, Expression, ExpressionKind, Path, Program};

use super::buffer::Buffer;
use super::environment::{Binding, Env, Instance, find};
use super::externs::Object;
use super::packages::Package;
use super::profile::Profile;
use super::reentry::{Cloned, List};
use super::table::Table;
use super::value::{StructureType, Type, Value};
use super::{Run, unsupported};

/// Statements and states after which a packet is given up.
const STEPS: u64 = 2_000_000;

pub struct Machine<'a> {
    pub(super) globals: HashMap<&'a str, Vec<&'a Declaration>>,
    pub(super) errors: Vec<Rc<str>>,
    pub(super) structures: HashMap<DeclarationId, Rc<StructureType>>,
    pub(super) constants: HashMap<DeclarationId, Value>,
    pub(super) instances: HashMap<DeclarationId, Rc<Instance<'a>>>,
    /// The control-plane names of actions.
    pub(super) action_paths: HashMap<DeclarationId, String>,
    pub(super) slots: Vec<Value>,
    pub(super) tables: Vec<Table<'a>>,
    pub(super) value_sets: Vec<(String, Vec<Value>)>,
    /// The table whose default action runs, if it may add an entry, and the key that missed.
    pub(super) missed: Option<(usize, Vec<Value>)>,
    /// Contents of action profiles by their control-plane names.
    pub(super) profiles: HashMap<String, Profile>,
    pub(super) objects: Vec<Object>,
    /// The parsers and controls that are running, the innermost last.
    pub(super) running: Vec<Rc<Instance<'a>>>,
    pub(super) package: Package<'a>,
    pub buffer: Buffer,
    /// The packet as it came in, and how many bits of it were taken.
    pub(super) packet: Vec<bool>,
    pub(super) cursor: usize,
    /// What the deparser has appended.
    pub(super) output: Vec<bool>,
    pub(super) truncated: Option<usize>,
    /// What the control that runs has requested: the field list of a resubmission or a recirculation, and a clone.
    pub(super) resubmitted: Option<List>,
    pub(super) recirculated: Option<List>,
    pub(super) cloned: Option<Cloned>,
    /// Whether egress is what runs.
    pub(super) in_egress: bool,
    /// Whether lists leave out the fields of invalid headers.
    pub(super) leave_out_invalid: bool,
    pub(super) std_slot: Option<usize>,
    steps: u64,
    /// Values used that neither the specification nor docs/language.md defines.
    pub undefined: Vec<String>,
}

impl<'a> Machine<'a> {
    /// Makes all objects of a program.
    pub fn new(program: &'a Program) -> Run<Machine<'a>> {
        let mut machine = Machine {
            globals: HashMap::new(),
            errors: Vec::new(),
            structures: HashMap::new(),
            constants: HashMap::new(),
            instances: HashMap::new(),
            action_paths: HashMap::new(),
            slots: Vec::new(),
            tables: Vec::new(),
            value_sets: Vec::new(),
            missed: None,
            profiles: HashMap::new(),
            objects: Vec::new(),
            running: Vec::new(),
            package: Package::None,
            buffer: Buffer::default(),
            packet: Vec::new(),
            cursor: 0,
            output: Vec::new(),
            truncated: None,
            resubmitted: None,
            recirculated: None,
            cloned: None,
            in_egress: false,
            leave_out_invalid: false,
            std_slot: None,
            steps: 0,
            undefined: Vec::new(),
        };
        for declaration in &program.declarations {
            machine.globals.entry(declaration.name.as_str()).or_default().push(declaration);
            if let DeclarationKind::Error(members) = &declaration.kind {
                machine.errors.extend(members.iter().map(|member| Rc::from(member.name.as_str())));
            }
        }
        machine.make_package()?;
        Ok(machine)
    }

    pub(super) fn start_counting(&mut self) {
        self.steps = 0;
    }

    pub(super) fn step(&mut self) -> Run<()> {
        self.steps += 1;
        if self.steps > STEPS { unsupported("a packet that does not end") } else { Ok(()) }
    }

    pub(super) fn new_slot(&mut self, value: Value) -> usize {
        self.slots.push(value);
        self.slots.len() - 1
    }

    pub(super) fn note_undefined(&mut self, what: impl Into<String>) {
        if self.undefined.len() < 8 {
            self.undefined.push(what.into());
        }
    }

    /// What a name means here; `.name` is one of the program (6.9).
    pub(super) fn lookup(&mut self, path: &'a Path, env: &Env<'a>) -> Run<Binding<'a>> {
        let name = path.name.as_str();
        if !path.absolute
            && let Some(binding) = find(env, name)
        {
            return Ok(binding);
        }
        match self.global(name)? {
            Some(binding) => Ok(binding),
            None => unsupported(format!("unknown name {name}")),
        }
    }

    pub(super) fn global(&mut self, name: &str) -> Run<Option<Binding<'a>>> {
        let Some(declarations) = self.globals.get(name) else { return Ok(None) };
        let declarations = declarations.clone();
        let first = declarations[0];
        Ok(Some(match &first.kind {
            DeclarationKind::Constant(constant) => {
                if let Some(value) = self.constants.get(&first.id) {
                    return Ok(Some(Binding::Constant(value.clone())));
                }
                let of = self.resolve(&constant.of_type, &None)?;
                let value = self.evaluate(&constant.value, &None)?;
                let value = super::convert::convert(value, &of);
                self.constants.insert(first.id, value.clone());
                Binding::Constant(value)
            }
            DeclarationKind::Instance(_) => Binding::Instance(self.global_instance(first)?),
            DeclarationKind::Function(_) | DeclarationKind::Action { .. } => Binding::Code(declarations, None),
            DeclarationKind::Parser(_)
            | DeclarationKind::Control(_)
            | DeclarationKind::Extern(_)
            | DeclarationKind::Package(_) => Binding::Class(declarations.last().copied().unwrap_or(first)),
            _ => Binding::Type(self.declared_type(first, &[])?),
        }))
    }

    /// An expression that must be known at compile time, as a number.
    pub(super) fn number(&mut self, expression: &'a Expression, env: &Env<'a>) -> Run<BigInt> {
        let value = self.evaluate(expression, env)?;
        match value.number() {
            Some(number) => Ok(number),
            None => unsupported(format!("{expression} is no number")),
        }
    }

    pub(super) fn size(&mut self, expression: &'a Expression, env: &Env<'a>) -> Run<usize> {
        let number = self.number(expression, env)?;
        usize::try_from(&number).or_else(|_| unsupported(format!("{number} is no size")))
    }

    /// The type that an expression names, if it names one: the `E` of `E.A`, the `C` of `C.apply()`.
    pub(super) fn named_type(&mut self, expression: &'a Expression, env: &Env<'a>) -> Run<Option<Type>> {
        match &expression.kind {
            ExpressionKind::Type(of) => self.resolve(of, env).map(Some),
            ExpressionKind::Path(path) => Ok(match self.lookup(path, env)? {
                Binding::Type(of) => Some(of),
                _ => None,
            }),
            _ => Ok(None),
        }
    }
}
