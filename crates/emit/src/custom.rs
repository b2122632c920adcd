//! Custom externs: calls of the user's C functions, the objects they are called on, and the library through which the interpreter calls them.
//!
//! The user's files are included, so that the C compiler sees through the calls; what is linked instead is declared.

use crate::body::{Body, limbs};
use crate::c::{Expr, Item, Stmt};
use crate::call::fitted;
use crate::unit::Unit;
use hlir::externs::{Function, Shape, functions, objects};
use hlir::{Argument, Expression, ExternId, Place, Program, Type};
use std::collections::BTreeSet;

/// The user's C code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomCode {
    /// Paths of files to include.
    pub includes: Vec<String>,
    /// Functions that no included file has.
    pub linked: BTreeSet<String>,
}

fn name(text: impl Into<String>) -> Expr {
    Expr::name(text)
}

/// Types, declarations of what is linked, and the user's files.
pub fn user_items(program: &Program, code: &CustomCode, header: &str) -> Vec<Item> {
    let functions = functions(program);
    let objects = objects(program);
    if functions.is_empty() {
        return Vec::new();
    }
    let mut items = vec![Item::Comment("The user's code for the program's externs.".to_string())];
    items.push(Item::Directive(format!("include \"{header}\"")));
    let types: BTreeSet<&String> = functions.iter().filter_map(|function| function.object.as_ref()).collect();
    items.extend(types.into_iter().map(|of_type| declared(format!("struct {of_type}"))));
    for function in functions.iter().filter(|function| code.linked.contains(&function.name)) {
        items.push(declared(function.prototype()));
    }
    for id in objects {
        for prototype in object_prototypes(program, id) {
            if code.linked.contains(&prototype.0) {
                let line = declared(prototype.1);
                if !items.contains(&line) {
                    items.push(line);
                }
            }
        }
    }
    items.extend(code.includes.iter().map(|path| Item::Directive(format!("include \"{path}\""))));
    items.push(Item::Blank);
    items
}

/// `TEXT;`
fn declared(text: String) -> Item {
    let (of, name) =
        text.split_once(' ').map_or((String::new(), text.clone()), |(of, rest)| (of.to_string(), rest.to_string()));
    Item::Variable { of, name, value: None }
}

/// Names and declarations of the functions that make an object and let it go.
pub fn object_prototypes(program: &Program, id: ExternId) -> Vec<(String, String)> {
    let Some(object) = &program.externs[id].object else { return Vec::new() };
    let of_type = &object.of_type;
    let parameters: Vec<String> = (1..)
        .zip(&object.arguments)
        .map(
            |(number, (_, width))| {
                if *width > 64 { format!("const uint64_t *a{number}") } else { format!("uint64_t a{number}") }
            },
        )
        .collect();
    let parameters = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
    vec![
        (format!("{of_type}_new"), format!("struct {of_type} *{of_type}_new({parameters})")),
        (format!("{of_type}_delete"), format!("void {of_type}_delete(struct {of_type} *object)")),
    ]
}

/// Functions without types that make and let go each object.
fn object_items(program: &Program) -> Vec<Item> {
    let mut items = Vec::new();
    for (number, id) in objects(program).into_iter().enumerate() {
        let Some(object) = &program.externs[id].object else { continue };
        let mut body = Vec::new();
        let mut arguments = Vec::new();
        for (value, width) in &object.arguments {
            let mut digits: Vec<Expr> = value.iter_u64_digits().map(Expr::long).collect();
            digits.resize(limbs(*width) as usize, Expr::long(0));
            if *width <= 64 {
                arguments.push(digits.remove(0));
                continue;
            }
            let array = format!("wide{}", body.len() + 1);
            body.push(Stmt::declare("static const uint64_t", format!("{array}[]"), Expr::List(digits)));
            arguments.push(Expr::Name(array));
        }
        body.push(Stmt::result(Expr::call(format!("{}_new", object.of_type), arguments)));
        items.push(Item::Function {
            of: "static void *".to_string(),
            name: format!("object_{number}_create"),
            parameters: vec!["void".to_string()],
            body,
        });
        items.push(Item::Blank);
        items.push(Item::Function {
            of: "static void".to_string(),
            name: format!("object_{number}_destroy"),
            parameters: vec!["void *object".to_string()],
            body: vec![Stmt::call(format!("{}_delete", object.of_type), [name("object")])],
        });
        items.push(Item::Blank);
    }
    items
}

/// The members of an array of descriptors.
fn object_members(program: &Program, with_type: bool) -> Vec<Expr> {
    let member = |(number, id): (usize, ExternId)| {
        let custom = &program.externs[id];
        let mut members = vec![Expr::designated("name", Expr::text(&custom.name))];
        if let Some(object) = custom.object.as_ref().filter(|_| with_type) {
            members.push(Expr::designated("of_type", Expr::text(&object.of_type)));
        }
        members.push(Expr::designated("create", name(format!("object_{number}_create"))));
        members.push(Expr::designated("destroy", name(format!("object_{number}_destroy"))));
        Expr::List(members)
    };
    objects(program).into_iter().enumerate().map(member).collect()
}

impl Unit<'_> {
    /// What the pipeline's descriptor has for objects: functions and members.
    pub fn object_descriptors(&self) -> (Vec<Item>, Vec<Expr>) {
        (object_items(self.program), object_members(self.program, true))
    }

    /// Whether packets are changed behind their headers.
    pub fn changes_payload(&self) -> bool {
        functions(self.program).iter().any(|function| function.arguments.contains(&Shape::Payload))
    }
}

impl Body<'_, '_> {
    pub fn custom(&mut self, object: ExternId, function: &str, arguments: &[Argument], into: Option<Place>) {
        let mut given = Vec::new();
        let mut results = Vec::new();
        let place = objects(self.program()).iter().position(|id| *id == object);
        given.extend(place.map(|place| Expr::index(name("run->worker->shared->externs"), Expr::word(place as u32))));
        let mut payload = None;
        for argument in arguments {
            given.push(match argument {
                Argument::Payload => {
                    let lent = self.open_payload();
                    payload = Some(Expr::Name(format!("&{lent}")));
                    Expr::Name(format!("&{lent}.payload"))
                }
                Argument::In(value) => self.custom_input(value),
                Argument::Out(target) => self.custom_output(*target, false, &mut results),
                Argument::InOut(target) => self.custom_output(*target, true, &mut results),
            });
        }
        let kind = into.map(|into| self.program().place_type(into));
        match (into, kind) {
            (Some(into), Some(kind)) if kind.width() <= 64 => {
                let held = self.temporary("result");
                self.push(Stmt::declare("const uint64_t", &held, Expr::call(function, given)));
                results.push((into, Expr::Name(held)));
            }
            (Some(into), Some(kind)) => {
                let array = self.array(kind.width());
                given.push(array.clone());
                self.push(Stmt::call(function, given));
                results.push((into, array));
            }
            _ => self.push(Stmt::call(function, given)),
        }
        if let Some(payload) = payload {
            let arguments = [name("run->worker"), name("&state->packet"), name("state->cursor"), payload];
            self.push(Stmt::call("custom_close", arguments));
        }
        for (target, value) in results {
            self.custom_result(target, value);
        }
    }

    /// The name of the loan.
    fn open_payload(&mut self) -> String {
        let lent = self.temporary("loan");
        self.push(Stmt::Declare { of: "struct custom_loan".to_string(), name: lent.clone(), value: None });
        let loan = Expr::Name(format!("&{lent}"));
        let arguments = [name("run->worker"), name("&state->packet"), name("state->cursor"), loan];
        let (dropped, _) = self.branch(|body| body.drop_packet("segmented packet"));
        self.push(Stmt::when(Expr::unary("!", Expr::call("custom_open", arguments)), dropped));
        lent
    }

    fn custom_input(&mut self, value: &Expression) -> Expr {
        if self.width_of(value) > 64 {
            return self.wide(value);
        }
        self.value(value)
    }

    /// The address that the function writes to: memory of its own, so that nothing that it is given overlaps.
    fn custom_output(&mut self, target: Place, given: bool, results: &mut Vec<(Place, Expr)>) -> Expr {
        let width = self.program().place_type(target).width();
        let before = Expression::place(target);
        if width > 64 {
            let array = self.array(width);
            if given {
                let held = self.wide(&before);
                self.push(Stmt::call("memcpy", [array.clone(), held, Expr::word(8 * limbs(width))]));
            } else {
                self.push(Stmt::call("wide_zero", [array.clone(), Expr::word(width)]));
            }
            results.push((target, array.clone()));
            return array;
        }
        let before = if given { self.value(&before) } else { Expr::word(0) };
        let held = self.temporary("out");
        self.push(Stmt::declare("uint64_t", &held, before));
        results.push((target, Expr::Name(held.clone())));
        Expr::Name(format!("&{held}"))
    }

    /// Puts what the function gave in its place, cut to its width.
    fn custom_result(&mut self, target: Place, value: Expr) {
        match self.program().place_type(target) {
            Type::Bool => self.put(target, Expr::binary("!=", value, Expr::word(0))),
            Type::Bits(0) => {}
            Type::Bits(width) if width > 64 => {
                let high = width % 64;
                if high != 0 {
                    let top = Expr::index(value.clone(), Expr::word(limbs(width) - 1));
                    self.push(Stmt::Assign(top, "&=", Expr::long((1u64 << high) - 1)));
                }
                self.put_wide(target, value, width);
            }
            Type::Bits(width) => {
                let cut = fitted(value, 64, width);
                self.put(target, cut);
            }
        }
    }
}

/// The C text of the library through which the interpreter calls the user's code.
pub fn library(program: &Program, code: &CustomCode) -> String {
    let title = format!("How the interpreter calls the externs of {}.", program.name);
    let mut items = vec![Item::Comment(title)];
    for header in ["<stdbool.h>", "<stddef.h>", "<stdint.h>", "<stdlib.h>", "<string.h>"] {
        items.push(Item::Directive(format!("include {header}")));
    }
    items.push(Item::Blank);
    items.extend(user_items(program, code, "extern/payload.h"));
    items.extend(object_items(program));
    let functions = functions(program);
    for (number, function) in functions.iter().enumerate() {
        items.extend(library_call(number, function));
    }
    let listed = |(number, function): (usize, &Function)| {
        let call = Expr::designated("call", name(format!("call_{number}")));
        Expr::List(vec![Expr::designated("name", Expr::text(&function.name)), call])
    };
    let calls: Vec<Expr> = functions.iter().enumerate().map(listed).collect();
    let objects = object_members(program, false);
    let mut members = vec![
        Expr::designated("function_count", Expr::word(calls.len() as u32)),
        Expr::designated("object_count", Expr::word(objects.len() as u32)),
    ];
    for (list, of, values) in [("functions", "extern_function", calls), ("objects", "extern_object", objects)] {
        if values.is_empty() {
            continue;
        }
        let (of, array) = (format!("static const struct {of}"), format!("library_{list}"));
        items.push(Item::Variable { of, name: format!("{array}[]"), value: Some(Expr::List(values)) });
        items.push(Item::Blank);
        members.push(Expr::designated(list, Expr::Name(array)));
    }
    let of = "const struct extern_library".to_string();
    items.push(Item::Variable { of: format!("extern {of}"), name: "bacus_externs".to_string(), value: None });
    items.push(Item::Variable { of, name: "bacus_externs".to_string(), value: Some(Expr::List(members)) });
    crate::c::print(&items)
}

/// A function that takes its arguments from an array.
fn library_call(number: usize, function: &Function) -> [Item; 2] {
    let mut given: Vec<Expr> = function.object.iter().map(|_| name("object")).collect();
    let mut at = 0;
    for shape in &function.arguments {
        given.push(match shape {
            Shape::Payload => name("payload"),
            Shape::In(1) => Expr::index(name("limbs"), Expr::word(at)),
            Shape::In(_) | Shape::Out(_) | Shape::InOut(_) => Expr::binary("+", name("limbs"), Expr::word(at)),
        });
        at += shape.limbs();
    }
    let mut body: Vec<Stmt> =
        ["object", "payload", "limbs"].map(|parameter| Stmt::Do(Expr::cast("void", name(parameter)))).into();
    match function.result {
        Some(1) => body.push(Stmt::set(Expr::index(name("limbs"), Expr::word(at)), Expr::call(&function.name, given))),
        Some(_) => {
            given.push(Expr::binary("+", name("limbs"), Expr::word(at)));
            body.push(Stmt::call(&function.name, given));
        }
        None => body.push(Stmt::call(&function.name, given)),
    }
    let parameters = ["void *object", "struct extern_payload *payload", "uint64_t *limbs"].map(String::from).into();
    [Item::Function { of: "static void".to_string(), name: format!("call_{number}"), parameters, body }, Item::Blank]
}
