//! Random functions, actions, tables and controls.

use super::Generator;
use super::code::{Applied, Code, Function, Mode, Parameter, Place, Table};
use super::forms::Inserted;
use super::random::hex;
use super::statements::indented;
use super::types::{Part, Ty, Variable};
use crate::architecture::Architecture;

/// A key of a table, as its entries need it.
pub struct Key {
    pub name: String,
    pub kind: &'static str,
    pub ty: Ty,
}

/// A table whose entries the control plane adds.
pub struct Filled {
    /// The table's name in its control; the control's instances give the rest.
    pub name: String,
    pub keys: Vec<Key>,
    /// Actions with the parameters that entries give values for.
    pub actions: Vec<(String, Vec<Parameter>)>,
}

impl Generator {
    fn parameters(&mut self, most: usize, data: bool) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for _ in 0..self.random.between(usize::from(!data), most) {
            let mode = *self.random.pick(&[Mode::In, Mode::In, Mode::Out, Mode::InOut, Mode::InOut]);
            let mut ty = if self.random.chance(70) { self.scalar() } else { self.composite() };
            if self.random.chance(8) && !data {
                ty = self.types.named("base_t");
            }
            let mode = if self.is_base(&ty) && mode == Mode::Out { Mode::InOut } else { mode };
            parameters.push(Parameter { mode, ty, name: self.fresh("p") });
        }
        if data {
            for _ in 0..self.random.below(3) {
                let ty = Ty::Bits(*self.random.pick(&[1, 4, 8, 9, 16, 33]));
                parameters.push(Parameter { mode: Mode::Data, ty, name: self.fresh("d") });
            }
        }
        parameters
    }

    fn listed(&self, parameters: &[Parameter]) -> String {
        let text = |parameter: &Parameter| {
            format!("{}{} {}", parameter.mode.text(), self.types.text(&parameter.ty), parameter.name)
        };
        parameters.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    pub fn variables(&self, parameters: &[Parameter]) -> Vec<Variable> {
        let variable = |parameter: &Parameter| Variable {
            text: parameter.name.clone(),
            ty: parameter.ty.clone(),
            writable: matches!(parameter.mode, Mode::Out | Mode::InOut),
            solid: self.is_base(&parameter.ty),
        };
        parameters.iter().map(variable).collect()
    }

    pub fn code(&mut self, place: Place, variables: Vec<Variable>, fuel: usize) -> Code {
        Code {
            place,
            variables,
            functions: self.functions.len(),
            actions: Vec::new(),
            tables: Vec::new(),
            controls: Vec::new(),
            registers: Vec::new(),
            declared: Vec::new(),
            returns: None,
            calls: true,
            loops: 0,
            focus: String::new(),
            fuel,
        }
    }

    pub fn function(&mut self) -> String {
        let parameters = self.parameters(4, false);
        let returns = self.random.chance(75).then(|| self.scalar());
        let name = self.fresh("f");
        let head = returns.as_ref().map_or("void".into(), |ty| self.types.text(ty));
        let variables = self.variables(&parameters);
        let mut code = self.code(Place::Function, variables, 7);
        code.returns = returns.clone();
        let mut text = format!("{head} {name}({}) {{\n", self.listed(&parameters));
        text.push_str(&self.statements(&mut code, 4, 1));
        if let Some(ty) = &returns {
            let value = self.expression(&mut code, ty, 2);
            text.push_str(&indented(1, &format!("return {value};")));
        }
        self.functions.push(Function { name, returns, parameters });
        text + "}\n"
    }

    fn action(&mut self, code: &mut Code) -> String {
        let parameters = self.parameters(2, true);
        let name = self.fresh("a");
        let mut variables = code.variables.clone();
        variables.extend(self.variables(&parameters));
        let mut inner = self.code(Place::Action, variables, 6);
        inner.actions.clone_from(&code.actions);
        inner.registers.clone_from(&code.registers);
        let annotation = if self.random.chance(15) { format!("@name(\"renamed_{name}\") ") } else { String::new() };
        let mut text = indented(1, &format!("{annotation}action {name}({}) {{", self.listed(&parameters)));
        text.push_str(&self.statements(&mut inner, 4, 2));
        if self.random.chance(20) {
            // What was written before is copied out nonetheless.
            let condition = self.expression(&mut inner, &Ty::Bool, 1);
            text.push_str(&indented(2, &format!("if ({condition}) {{ exit; }}")));
        }
        code.actions.push(Function { name, returns: None, parameters });
        text + &indented(1, "}")
    }

    fn key(&mut self, code: &mut Code, kind: &'static str) -> (Key, String) {
        let width = *self.random.pick(&[1, 2, 2, 3, 4]);
        let named = |part: &Part| {
            matches!(part.ty, Ty::Bits(_) | Ty::Int(_)) && part.guard.is_none() && !part.text.contains('@')
        };
        let parts: Vec<Part> = self.parts(code).into_iter().filter(named).collect();
        if kind != "exact" && kind != "optional" && self.random.chance(50) && !parts.is_empty() {
            let part = self.random.pick(&parts).clone();
            if !self.types.text(&part.ty).starts_with("int") {
                let text = format!("{} : {kind};", part.text);
                return (Key { name: part.text.clone(), kind, ty: part.ty }, text);
            }
        }
        if kind == "exact" && self.random.chance(15) {
            let header = self.random.pick(&["one", "two", "long"]);
            if code.variables.iter().any(|variable| variable.text == format!("hdr.{header}")) {
                let text = format!("hdr.{header}.isValid() : exact;");
                return (Key { name: format!("hdr.{header}.$valid$"), kind, ty: Ty::Bool }, text);
            }
        }
        let ty = if kind == "exact" && self.random.chance(10) { Ty::Bool } else { Ty::Bits(width) };
        let value = self.expression(code, &ty, 2);
        let name = self.fresh("k");
        let text = format!("{value} : {kind} @name(\"{name}\");");
        (Key { name, kind, ty }, text)
    }

    fn table(&mut self, code: &mut Code, filled: &mut Vec<Filled>) -> String {
        let name = self.fresh("t");
        let mut has_lpm = false;
        let mut keys = Vec::new();
        let mut text = indented(1, &format!("table {name} {{")) + &indented(2, "key = {");
        for _ in 0..self.random.below(4) {
            let mut kind = *self.random.pick(&["exact", "exact", "ternary", "lpm", "range", "optional"]);
            if kind == "lpm" && std::mem::replace(&mut has_lpm, true) {
                kind = "exact";
            }
            let (key, line) = self.key(code, kind);
            if keys.iter().any(|known: &Key| known.name == key.name) {
                continue;
            }
            text.push_str(&indented(3, &line));
            keys.push(key);
        }
        text.push_str(&(indented(2, "}") + &indented(2, "actions = {")));
        let mut actions = Vec::new();
        for action in code.actions.clone() {
            let bound: Vec<Parameter> =
                action.parameters.iter().filter(|parameter| parameter.mode != Mode::Data).cloned().collect();
            let data: Vec<Parameter> =
                action.parameters.iter().filter(|parameter| parameter.mode == Mode::Data).cloned().collect();
            let Some(given) = self.bound_arguments(code, &bound) else { continue };
            text.push_str(&indented(3, &format!("{}({given});", action.name)));
            actions.push((action.name.clone(), data, given));
        }
        text.push_str(&(indented(3, "NoAction;") + &indented(2, "}")));
        actions.push(("NoAction".into(), Vec::new(), String::new()));
        if self.random.chance(60) {
            let (name, data, given) = self.random.pick(&actions).clone();
            let values = data.iter().map(|parameter| self.literal(&parameter.ty)).collect::<Vec<_>>().join(", ");
            let joint = if given.is_empty() || values.is_empty() { "" } else { ", " };
            text.push_str(&indented(2, &format!("default_action = {name}({given}{joint}{values});")));
        }
        let names = actions.iter().map(|(name, ..)| name.clone()).collect();
        if !keys.is_empty() && self.random.chance(35) {
            text.push_str(&self.own_entries(&keys, &actions));
        } else {
            let actions = actions.into_iter().map(|(name, data, _)| (name, data)).collect();
            filled.push(Filled { name: name.clone(), keys, actions });
        }
        code.tables.push(Table { name, actions: names });
        text + &indented(1, "}")
    }

    /// Arguments in a table's list of actions: by place, for they are repeated.
    fn bound_arguments(&mut self, code: &mut Code, parameters: &[Parameter]) -> Option<String> {
        let mut given = Vec::new();
        for parameter in parameters {
            given.push(match parameter.mode {
                Mode::In | Mode::Data => self.value(code, &parameter.ty, 1)?,
                Mode::Out | Mode::InOut => self.l_value(code, &parameter.ty, parameter.mode == Mode::InOut)?,
            });
        }
        Some(given.join(", "))
    }

    /// Entries in the program: constant ones, of which the first wins, or with priorities.
    fn own_entries(&mut self, keys: &[Key], actions: &[(String, Vec<Parameter>, String)]) -> String {
        let constant = self.random.chance(60);
        let by_priority = keys.iter().any(|key| !matches!(key.kind, "exact" | "lpm"));
        let mut text = indented(2, &format!("{}entries = {{", if constant { "const " } else { "" }));
        let mut known = Vec::new();
        for at in 0..self.random.between(1, 6) {
            let sets: Vec<String> = keys.iter().map(|key| self.own_set(key)).collect();
            if known.contains(&sets) {
                continue;
            }
            let (name, data, given) = self.random.pick(actions).clone();
            let values = data.iter().map(|parameter| self.literal(&parameter.ty)).collect::<Vec<_>>().join(", ");
            let joint = if given.is_empty() || values.is_empty() { "" } else { ", " };
            let priority = if constant || !by_priority || self.random.chance(0) {
                String::new()
            } else {
                format!("priority = {}: ", 10 + 7 * at + self.random.below(6))
            };
            text.push_str(&indented(3, &format!("{priority}({}) : {name}({given}{joint}{values});", sets.join(", "))));
            known.push(sets);
        }
        text + &indented(2, "}")
    }

    fn own_set(&mut self, key: &Key) -> String {
        let width = self.types.width(&key.ty);
        let value = self.random.bits(width);
        match key.kind {
            "ternary" if self.random.chance(75) => {
                let mask = self.sparse(width);
                let masked: Vec<bool> = value.iter().zip(&mask).map(|(bit, mask)| *bit && *mask).collect();
                format!("{} &&& {}", hex(&masked), hex(&mask))
            }
            "lpm" => {
                let length = self.random.below(width.min(4) + 1);
                let mask: Vec<bool> = (0..width).map(|at| at < length).collect();
                let masked: Vec<bool> = value.iter().zip(&mask).map(|(bit, mask)| *bit && *mask).collect();
                format!("{} &&& {}", hex(&masked), hex(&mask))
            }
            "range" => {
                let (low, high) = self.ends(width);
                format!("{} .. {}", hex(&low), hex(&high))
            }
            "ternary" | "optional" if self.random.chance(50) => "_".into(),
            _ if key.ty == Ty::Bool => self.random.pick(&["true", "false"]).to_string(),
            _ => hex(&value),
        }
    }

    /// A mask with few bits, so that packets match.
    pub fn sparse(&mut self, width: usize) -> Vec<bool> {
        let mut mask = vec![false; width];
        for _ in 0..self.random.below(3) {
            let at = self.random.below(width);
            mask[at] = true;
        }
        mask
    }

    pub fn ends(&mut self, width: usize) -> (Vec<bool>, Vec<bool>) {
        let (one, two) = (self.random.bits(width), self.random.bits(width));
        if one <= two { (one, two) } else { (two, one) }
    }

    /// A control: parameters, a constructor parameter perhaps, locals, actions, tables, an apply block.
    pub fn control(&mut self, name: &str, parameters: &[Parameter], variables: Vec<Variable>, depth: usize) -> String {
        let mut code = self.code(Place::Control, variables, 16);
        let mut filled = Vec::new();
        let mut children = Vec::new();
        let mut text = match (name, self.architecture) {
            ("I" | "E", Architecture::Psa) => self.psa_locals(name),
            ("I", Architecture::Pna) => self.pna_locals(),
            _ => String::new(),
        };
        for applied in self.subcontrols.clone().into_iter().take(depth) {
            for _ in 0..self.random.between(1, 2) {
                let instance = self.fresh("c");
                let given = if applied.constructed { self.literal(&Ty::Bits(8)) } else { String::new() };
                text.push_str(&indented(1, &format!("{}({given}) {instance};", applied.instance)));
                children.push((instance.clone(), applied.instance.clone()));
                code.controls.push(Applied { instance, ..applied.clone() });
            }
        }
        if self.random.chance(35) {
            let (register, ty) = (self.fresh("r"), self.random.pick(&self.numbers.clone()).clone());
            let of = self.types.text(&ty);
            let declared = match self.architecture {
                Architecture::V1model => format!("register<{of}>(4) {register};"),
                Architecture::Psa | Architecture::Pna => format!("Register<{of}, bit<32>>(8) {register};"),
            };
            text.push_str(&indented(1, &declared));
            code.registers.push((register, ty));
        }
        for _ in 0..self.random.between(1, 3) {
            let ty = if self.random.chance(70) { self.scalar() } else { self.composite() };
            let local = self.fresh("w");
            let value = match ty {
                Ty::Named(_) | Ty::Array(..) | Ty::Tuple(_) => String::new(),
                _ if self.random.chance(50) => format!(" = {}", self.expression(&mut code, &ty, 2)),
                _ => String::new(),
            };
            text.push_str(&indented(1, &format!("{} {local}{value};", self.types.text(&ty))));
            code.variables.push(Variable { text: local, ty, writable: true, solid: false });
        }
        for _ in 0..self.random.between(1, 4) {
            text.push_str(&self.action(&mut code));
        }
        for _ in 0..self.random.below(4) {
            text.push_str(&self.table(&mut code, &mut filled));
        }
        let forms = if matches!(name, "I" | "E") { self.control_forms(name) } else { Inserted::default() };
        self.before.push_str(&forms.before);
        text.push_str(&forms.locals);
        text.push_str("    apply {\n");
        text.push_str(&self.prologue(name));
        let mut parts = [forms.statements, self.statements(&mut code, 12, 2)];
        self.random.shuffle(&mut parts);
        text.push_str(&parts.concat());
        text.push_str("    }\n");
        self.contents.push(super::Contents { control: name.into(), tables: filled, children });
        format!("control {name}({}) {{\n{text}}}\n", self.listed(parameters))
    }

    /// A control that others instantiate, with arguments of its own.
    pub fn subcontrol(&mut self, depth: usize) -> String {
        let name = self.fresh("Sub");
        let mut parameters = self.parameters(3, false);
        if self.random.chance(60) {
            let ty = self.types.named("headers_t");
            parameters.push(Parameter { mode: Mode::InOut, ty, name: "hdr".into() });
        }
        let mut variables = self.visible(&parameters);
        let constructed = self.random.chance(40);
        if constructed {
            variables.push(Variable { text: "size".into(), ty: Ty::Bits(8), writable: false, solid: false });
        }
        let mut text = self.control(&name, &parameters, variables, depth);
        if constructed {
            text = text.replacen(") {", ")(bit<8> size) {", 1);
        }
        self.subcontrols.push(Applied { instance: name, parameters, constructed });
        text
    }

    /// The variables that parameters are, those in `hdr` one by one.
    pub fn visible(&self, parameters: &[Parameter]) -> Vec<Variable> {
        let mut variables = Vec::new();
        for variable in self.variables(parameters) {
            if variable.ty == self.types.named("headers_t") {
                variables.extend(self.header_variables(variable.writable));
            } else {
                variables.push(variable);
            }
        }
        variables
    }
}
