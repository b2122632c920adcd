//! The declared types of the controller's view.

use std::collections::{BTreeMap, BTreeSet};

use hlir::Notes;
use hlir::interface::{Definition, Member, NamedKind, SourceType, Translation, TypeSpec};
use num_bigint::BigUint;

use crate::ast::{AnnotationBody, Declaration, DeclarationId, DeclarationKind, Expression, ExpressionKind};
use crate::evaluate::Value;
use crate::lower::Lowering;
use crate::types::{Nominal, Type};

/// Types by what they are and their names, so that each is there once and their order is that of the names.
#[derive(Default)]
struct Declared(BTreeMap<(u8, String), SourceType>);

impl Lowering<'_> {
    /// The name of a type made by `type`, or of an enumeration that is no number; others show the controller their bits alone.
    pub(super) fn type_name(&self, of_type: &Type) -> Option<String> {
        let (Type::Newtype(nominal) | Type::Enum(nominal)) = of_type else { return None };
        Some(self.name_of_type(nominal))
    }

    /// The controller's name of a declared type; the arguments of a generic one become part of it, unless `@name` names it.
    fn name_of_type(&self, nominal: &Nominal) -> String {
        let written = self.external_name(nominal.declaration);
        let is_named = self.attributes_of(nominal.declaration).is_some_and(|attributes| attributes.has("name"));
        if nominal.arguments.is_empty() || is_named {
            return written;
        }
        let arguments = nominal.arguments.iter().map(|argument| {
            let text = argument.to_string();
            format!(
                "_{}",
                text.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect::<String>()
            )
        });
        format!("{written}{}", arguments.collect::<String>())
    }

    pub(super) fn spec(&self, of_type: &Type) -> TypeSpec {
        let named = |kind, nominal: &Nominal| TypeSpec::Named(kind, self.name_of_type(nominal));
        match of_type {
            Type::Bits { width, signed: false } => TypeSpec::Bits(*width),
            Type::Bits { width, signed: true } => TypeSpec::Signed(*width),
            Type::Varbit { width } => TypeSpec::Varbit(*width),
            Type::Bool => TypeSpec::Bool,
            Type::Error => TypeSpec::Error,
            Type::Tuple(parts) | Type::ListLiteral { elements: parts, .. } => {
                TypeSpec::Tuple(parts.iter().map(|part| self.spec(part)).collect())
            }
            Type::Struct(nominal) => named(NamedKind::Struct, nominal),
            Type::Header(nominal) => named(NamedKind::Header, nominal),
            Type::Union(nominal) => named(NamedKind::Union, nominal),
            Type::Enum(nominal) => named(NamedKind::Enumeration, nominal),
            Type::SerializableEnum(nominal) => named(NamedKind::Serializable, nominal),
            Type::Newtype(nominal) => named(NamedKind::New, nominal),
            Type::Stack { element, size } => match self.spec(element) {
                TypeSpec::Named(kind, name) => TypeSpec::Stack(kind, name, *size),
                // An array of plain values is as many of them.
                plain => TypeSpec::Tuple(vec![plain; *size as usize]),
            },
            _ => TypeSpec::Tuple(Vec::new()),
        }
    }

    /// All types that tables, actions and objects of the view mention, and those these are made of.
    pub(super) fn source_types(&self) -> Vec<SourceType> {
        let mut declared = Declared::default();
        let interface = &self.program.interface;
        let tables: BTreeSet<&str> = interface.tables.iter().map(|table| table.name.as_str()).collect();
        for (id, _) in self.program.tables.iter().filter(|(_, table)| tables.contains(table.name.as_str())) {
            self.facts.keys.get(&id).into_iter().flatten().for_each(|key| self.declare_type(key, &mut declared));
        }
        for action in &interface.actions {
            let types = self.facts.parameters.get(&action.name).into_iter().flatten();
            types.for_each(|parameter| self.declare_type(parameter, &mut declared));
        }
        for object in &interface.objects {
            let fields = self.facts.fields.get(&object.name).into_iter().flatten().map(|(of_type, _)| of_type);
            let element =
                self.facts.element_types.get(&object.name).into_iter().chain(self.facts.indexes.get(&object.name));
            fields.chain(element).for_each(|of_type| self.declare_type(of_type, &mut declared));
        }
        for (_, header) in self.controller_header_types() {
            for field in self.checked.fields_of(&header) {
                self.declare_scalars(&field.of_type, &mut declared);
            }
        }
        declared.0.into_values().collect()
    }

    /// Headers marked `@controller_header`.
    pub(super) fn controller_header_types(&self) -> Vec<(&Declaration, Type)> {
        let headers = self.checked.program.declarations.iter().filter(|declaration| {
            matches!(&declaration.kind, DeclarationKind::Structure(structure) if structure.type_parameters.is_empty())
                && declaration.attributes.has("controller_header")
        });
        let nominal = |declaration: &Declaration| Nominal {
            declaration: declaration.id,
            name: declaration.name.text.clone(),
            arguments: [].into(),
        };
        headers.map(|declaration| (declaration, Type::Header(nominal(declaration)))).collect()
    }

    /// The fields of structs in a header are fields of the header.
    fn declare_scalars(&self, of_type: &Type, into: &mut Declared) {
        if !matches!(of_type, Type::Struct(_)) {
            return self.declare_type(of_type, into);
        }
        for field in self.checked.fields_of(of_type) {
            self.declare_scalars(&field.of_type, into);
        }
    }

    fn declare_type(&self, of_type: &Type, into: &mut Declared) {
        match of_type {
            Type::Tuple(parts) | Type::ListLiteral { elements: parts, .. } => {
                parts.iter().for_each(|part| self.declare_type(part, into));
            }
            Type::Stack { element, .. } => self.declare_type(element, into),
            Type::Error => {
                let errors = self.program.errors.iter().map(|name| member(name.clone(), (), Notes::default()));
                self.add_type(6, String::new(), Notes::default(), into, |_, _| Definition::Errors(errors.collect()));
            }
            Type::Struct(nominal) => self.add_declared(0, nominal, into, |it, into| {
                Definition::Struct(it.type_fields(of_type, into, &|it, part, into| {
                    it.declare_type(part, into);
                    it.spec(part)
                }))
            }),
            Type::Header(nominal) => self.add_declared(1, nominal, into, |it, _| {
                let mut members = Vec::new();
                it.header_members(of_type, "", &mut members);
                Definition::Header(members)
            }),
            Type::Union(nominal) => self.add_declared(2, nominal, into, |it, into| {
                Definition::Union(it.type_fields(of_type, into, &|it, part, into| {
                    it.declare_type(part, into);
                    part.nominal().map(|nominal| it.name_of_type(nominal)).unwrap_or_default()
                }))
            }),
            Type::Enum(nominal) => self.add_declared(3, nominal, into, |it, _| {
                Definition::Enumeration(it.enumeration(nominal.declaration, |_| ()))
            }),
            Type::SerializableEnum(nominal) => self.add_declared(4, nominal, into, |it, _| {
                let (width, _) = it.number_type(of_type);
                let value = |id| match it.checked.constant_value(id) {
                    Some(Value::Integer(number)) => {
                        crate::evaluate::wrap(number, width, false).to_biguint().unwrap_or_default()
                    }
                    _ => BigUint::ZERO,
                };
                Definition::Serializable(width, it.enumeration(nominal.declaration, value))
            }),
            Type::Newtype(nominal) => self.add_declared(5, nominal, into, |it, _| it.newtype(of_type, nominal)),
            _ => {}
        }
    }

    fn add_declared(
        &self,
        rank: u8,
        nominal: &Nominal,
        into: &mut Declared,
        define: impl FnOnce(&Self, &mut Declared) -> Definition,
    ) {
        self.add_type(rank, self.name_of_type(nominal), self.notes_of(nominal.declaration), into, define);
    }

    fn add_type(
        &self,
        rank: u8,
        name: String,
        notes: Notes,
        into: &mut Declared,
        define: impl FnOnce(&Self, &mut Declared) -> Definition,
    ) {
        if into.0.contains_key(&(rank, name.clone())) {
            return;
        }
        let definition = define(self, into);
        into.0.insert((rank, name.clone()), SourceType { name, definition, notes });
    }

    fn type_fields<T>(
        &self,
        of_type: &Type,
        into: &mut Declared,
        value: &dyn Fn(&Self, &Type, &mut Declared) -> T,
    ) -> Vec<Member<T>> {
        let fields = self.checked.fields_of(of_type);
        let made = fields.iter().map(|field| {
            let value = value(self, &field.of_type, into);
            member(self.external_name(field.id), value, self.notes_of(field.id))
        });
        made.collect()
    }

    /// Structs inside of a header are taken apart.
    fn header_members(&self, of_type: &Type, prefix: &str, into: &mut Vec<Member<TypeSpec>>) {
        for field in self.checked.fields_of(of_type) {
            let name = Self::qualified(prefix, &self.external_name(field.id));
            if matches!(field.of_type, Type::Struct(_)) {
                self.header_members(&field.of_type, &name, into);
                continue;
            }
            let spec = match self.checked.representation(&field.of_type) {
                Type::Bool => TypeSpec::Bits(1),
                plain => self.spec(&plain),
            };
            into.push(member(name, spec, self.notes_of(field.id)));
        }
    }

    fn enumeration<T>(&self, declaration: DeclarationId, value: impl Fn(DeclarationId) -> T) -> Vec<Member<T>> {
        let declared = self.checked.node(declaration).declaration().map(|found| &found.kind);
        let Some(DeclarationKind::Enumeration(enumeration)) = declared else { return Vec::new() };
        let made = enumeration.members.iter();
        made.map(|found| member(found.name.to_string(), value(found.id), self.notes_of(found.id))).collect()
    }

    fn newtype(&self, of_type: &Type, nominal: &Nominal) -> Definition {
        let translation = self.attributes_of(nominal.declaration).and_then(|it| it.find("p4runtime_translation"));
        if let Some(annotation) = translation
            && let [Expression { kind: ExpressionKind::String(uri), .. }, to, ..] = annotation.expressions()
        {
            return Definition::Translated { uri: uri.to_string(), to: self.translation(to, &annotation.body) };
        }
        Definition::New(self.spec(&self.checked.representation(of_type)))
    }

    /// `32`, `bit<32>` or `string`.
    fn translation(&self, to: &Expression, body: &AnnotationBody) -> Translation {
        if let ExpressionKind::Integer(number) = &to.kind {
            return Translation::Bits(u32::try_from(&number.value).unwrap_or(0));
        }
        let AnnotationBody::Unstructured { tokens, .. } = body else { return Translation::Text };
        let words: Vec<&str> = tokens.iter().map(|token| &*token.text).collect();
        let width = words.iter().skip_while(|word| **word != "<").nth(1).and_then(|word| word.parse().ok());
        width.map_or(Translation::Text, Translation::Bits)
    }
}

fn member<T>(name: String, value: T, notes: Notes) -> Member<T> {
    Member { name, value, notes }
}
