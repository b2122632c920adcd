//! Random statements.

use super::Generator;
use super::code::{Applied, Code, Function, Place, Table};
use super::types::{Kind, MEMBERS, Part, Ty, Variable};
use crate::architecture::Architecture;

const COMPOUND: [&str; 10] = ["+=", "-=", "*=", "&=", "|=", "^=", "|+|=", "|-|=", "<<=", ">>="];

/// Lines of text, each with its indentation.
pub fn indented(depth: usize, text: &str) -> String {
    format!("{}{text}\n", "    ".repeat(depth))
}

impl Generator {
    /// Statements until the fuel runs out, at most `most`.
    pub fn statements(&mut self, code: &mut Code, most: usize, depth: usize) -> String {
        let outer = (code.variables.clone(), std::mem::take(&mut code.declared));
        let mut text = String::new();
        for _ in 0..self.random.between(1, most) {
            if code.fuel == 0 {
                break;
            }
            code.fuel -= 1;
            text.push_str(&self.statement(code, depth));
        }
        (code.variables, code.declared) = outer;
        text
    }

    fn statement(&mut self, code: &mut Code, depth: usize) -> String {
        let line = |text: String| indented(depth, &text);
        if !code.variables.is_empty() {
            code.focus = self.random.pick(&code.variables).text.clone();
        }
        match self.random.below(37) {
            0..=8 => self.assignment(code).map_or_else(String::new, line),
            9..=10 => self.local(code, depth),
            11..=13 => self.branch(code, depth),
            14..=16 => self.call(code).map_or_else(String::new, line),
            17..=18 if code.place == Place::Control => self.apply(code, depth),
            19 if matches!(code.place, Place::Control) => self.control_call(code).map_or_else(String::new, line),
            20..=21 => self.validity(code).map_or_else(String::new, line),
            22 if !matches!(code.place, Place::Action | Place::Parser) => self.switch(code, depth),
            23..=24 if code.place != Place::Parser && code.loops < 2 => self.a_loop(code, depth),
            25 => self.leave(code, depth),
            26 if code.place != Place::Parser => self.block(code, depth),
            30 => self.register(code).map_or_else(String::new, line),
            31..=34 => self.entangled(code).map_or_else(String::new, line),
            27 => self.compound(code).map_or_else(String::new, line),
            28..=29 | 35..=36 if code.place == Place::Control => self.action_call(code).map_or_else(String::new, line),
            _ => self.assignment(code).map_or_else(String::new, line),
        }
    }

    fn writable(&self, code: &Code) -> Vec<Part> {
        self.parts(code).into_iter().filter(|part| part.writable && !matches!(part.ty, Ty::Varbit(_))).collect()
    }

    fn assignment(&mut self, code: &mut Code) -> Option<String> {
        let parts = self.writable(code);
        if parts.is_empty() {
            return None;
        }
        let ty = self.random.pick(&parts).ty.clone();
        let ty = match ty {
            Ty::Bits(width) if width > 2 && self.random.chance(20) => Ty::Bits(self.random.between(1, width - 1)),
            other => other,
        };
        let target = self.l_value(code, &ty, false)?;
        let value = match &ty {
            Ty::Named(_) if self.is_opaque(&ty) => self.whole(code, &ty)?,
            Ty::Named(_) | Ty::Array(..) | Ty::Tuple(_) if self.random.chance(40) && !self.is_opaque(&ty) => {
                self.aggregate(code, &ty)
            }
            Ty::Named(_) | Ty::Array(..) | Ty::Tuple(_) => self.whole(code, &ty)?,
            _ => self.expression(code, &ty, 3),
        };
        Some(format!("{target} = {value};"))
    }

    /// A whole value of the same type.
    fn whole(&mut self, code: &mut Code, ty: &Ty) -> Option<String> {
        self.value(code, ty, 1)
    }

    /// Whether a type can only be copied: it has parts that no list can give.
    fn is_opaque(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Varbit(_) => true,
            Ty::Named(_) => {
                self.types.kind(ty) == Some(Kind::Union)
                    || self.types.fields(ty).iter().any(|(_, field)| self.is_opaque(field))
            }
            Ty::Array(..) => self.types.is_stack(ty),
            Ty::Tuple(_) => false,
            Ty::Bool | Ty::Bits(_) | Ty::Int(_) | Ty::Error | Ty::Enum | Ty::Serial => false,
        }
    }

    fn compound(&mut self, code: &mut Code) -> Option<String> {
        let fits = |part: &Part| matches!(part.ty, Ty::Bits(_) | Ty::Int(_)) && part.guard.is_none();
        let parts: Vec<Part> = self.writable(code).into_iter().filter(fits).collect();
        if parts.is_empty() {
            return None;
        }
        let ty = self.random.pick(&parts).ty.clone();
        let target = self.l_value(code, &ty, true)?;
        let operator = *self.random.pick(&COMPOUND);
        let value = if operator.starts_with("<<") || operator.starts_with(">>") {
            self.expression(code, &Ty::Bits(3), 2)
        } else {
            self.expression(code, &ty, 2)
        };
        Some(format!("{target} {operator} {value};"))
    }

    /// A variable of a block, with or without a value: docs/language.md defines that it begins as zero.
    fn local(&mut self, code: &mut Code, depth: usize) -> String {
        let ty = if self.random.chance(70) { self.scalar() } else { self.composite() };
        let hidden = self.hidden_name(code);
        let value = match ty {
            Ty::Named(_) | Ty::Array(..) | Ty::Tuple(_) => self.whole(code, &ty).filter(|_| self.random.chance(50)),
            _ if self.random.chance(75) => Some(self.expression(code, &ty, 2)),
            _ => None,
        };
        let text = self.types.text(&ty);
        let name = hidden.unwrap_or_else(|| self.fresh("v"));
        code.variables.retain(|variable| variable.text != name);
        code.declared.push(name.clone());
        code.variables.push(Variable { text: name.clone(), ty, writable: true, solid: false });
        match value {
            Some(value) => indented(depth, &format!("{text} {name} = {value};")),
            None => indented(depth, &format!("{text} {name};")),
        }
    }

    /// The name of a variable of an outer block, which a new one hides.
    fn hidden_name(&mut self, code: &Code) -> Option<String> {
        let outer = code.variables.iter().map(|variable| &variable.text);
        let outer: Vec<&String> = outer.filter(|name| name.starts_with('v') && !code.declared.contains(name)).collect();
        if outer.is_empty() || self.random.chance(75) { None } else { Some(self.random.pick(&outer).to_string()) }
    }

    /// Reads or writes a register, at an index that may be beyond its end in v1model.
    fn register(&mut self, code: &mut Code) -> Option<String> {
        if code.registers.is_empty() {
            return None;
        }
        let (name, ty) = self.random.pick(&code.registers).clone();
        let index = format!("(bit<32>) {}", self.expression(code, &Ty::Bits(3), 1));
        if self.random.chance(50) {
            let target = self.l_value(code, &ty, true)?;
            return Some(match self.architecture {
                Architecture::V1model => format!("{name}.read({target}, {index});"),
                Architecture::Psa | Architecture::Pna => format!("{target} = {name}.read({index});"),
            });
        }
        Some(format!("{name}.write({index}, {});", self.expression(code, &ty, 2)))
    }

    fn condition(&mut self, code: &mut Code) -> String {
        let condition = self.expression(code, &Ty::Bool, 2);
        if code.place == Place::Control && code.loops < 2 && !code.tables.is_empty() && self.random.chance(15) {
            let table = self.random.pick(&code.tables).name.clone();
            let result = *self.random.pick(&["hit", "miss"]);
            return match self.random.below(3) {
                0 => format!("{table}.apply().{result}"),
                1 => format!("{condition} && {table}.apply().{result}"),
                _ => format!("{table}.apply().{result} || {condition}"),
            };
        }
        condition
    }

    fn branch(&mut self, code: &mut Code, depth: usize) -> String {
        let condition = self.condition(code);
        let mut text = indented(depth, &format!("if ({condition}) {{"));
        text.push_str(&self.statements(code, 3, depth + 1));
        if self.random.chance(50) {
            text.push_str(&indented(depth, "} else {"));
            text.push_str(&self.statements(code, 3, depth + 1));
        }
        text + &indented(depth, "}")
    }

    fn block(&mut self, code: &mut Code, depth: usize) -> String {
        let annotation = *self.random.pick(&["", "@atomic ", "@note(\"x\") "]);
        indented(depth, &format!("{annotation}{{")) + &self.statements(code, 3, depth + 1) + &indented(depth, "}")
    }

    fn call(&mut self, code: &mut Code) -> Option<String> {
        if code.functions == 0 {
            return None;
        }
        let at = self.random.below(code.functions);
        let function = self.functions[at].clone();
        let arguments = self.arguments(code, &function.parameters, 2)?;
        Some(format!("{}({arguments});", function.name))
    }

    fn action_call(&mut self, code: &mut Code) -> Option<String> {
        let actions: Vec<Function> = code.actions.clone();
        if actions.is_empty() {
            return None;
        }
        let action = self.random.pick(&actions).clone();
        let arguments = self.arguments(code, &action.parameters, 2)?;
        Some(format!("{}({arguments});", action.name))
    }

    fn apply(&mut self, code: &mut Code, depth: usize) -> String {
        // Lowering unrolls loops that apply tables: not in the inner one of two.
        if code.tables.is_empty() || code.loops > 1 {
            return String::new();
        }
        let table: Table = self.random.pick(&code.tables).clone();
        if self.random.chance(50) {
            return indented(depth, &format!("{}.apply();", table.name));
        }
        let mut text = indented(depth, &format!("switch ({}.apply().action_run) {{", table.name));
        for action in &table.actions {
            if self.random.chance(25) {
                text.push_str(&indented(depth + 1, &format!("{action}:")));
            } else if self.random.chance(60) {
                text.push_str(&indented(depth + 1, &format!("{action}: {{")));
                text.push_str(&self.statements(code, 2, depth + 2));
                text.push_str(&indented(depth + 1, "}"));
            }
        }
        text.push_str(&indented(depth + 1, "default: {"));
        text.push_str(&self.statements(code, 2, depth + 2));
        text.push_str(&indented(depth + 1, "}"));
        text + &indented(depth, "}")
    }

    fn control_call(&mut self, code: &mut Code) -> Option<String> {
        if code.controls.is_empty() || code.loops > 0 {
            return None;
        }
        let applied: Applied = self.random.pick(&code.controls).clone();
        let arguments = self.arguments(code, &applied.parameters, 2)?;
        Some(format!("{}.apply({arguments});", applied.instance))
    }

    /// Makes headers valid or invalid, and shifts stacks, where nothing relies on them.
    fn validity(&mut self, code: &mut Code) -> Option<String> {
        let fits = |part: &Part| !part.solid && (self.types.is_header(&part.ty) || self.types.is_stack(&part.ty));
        let parts: Vec<Part> = self.writable(code).into_iter().filter(fits).collect();
        if parts.is_empty() {
            return None;
        }
        let part = self.random.pick(&parts).clone();
        let part = Part { text: part.text.replace('@', &self.random.below(2).to_string()), ..part };
        if self.types.is_stack(&part.ty) {
            let method = *self.random.pick(&["push_front", "pop_front"]);
            return Some(format!("{}.{method}({});", part.text, self.random.between(1, 3)));
        }
        let method = *self.random.pick(&["setValid", "setValid", "setInvalid"]);
        Some(format!("{}.{method}();", part.text))
    }

    /// A switch over values: labels without a body share the next one.
    fn switch(&mut self, code: &mut Code, depth: usize) -> String {
        let is_enum = self.random.chance(30);
        let ty = if is_enum { Ty::Enum } else { Ty::Bits(self.random.between(2, 4)) };
        let mut text = indented(depth, &format!("switch ({}) {{", self.expression(code, &ty, 2)));
        for (value, member) in MEMBERS.iter().enumerate() {
            let label = if is_enum { format!("colour_t.{member}") } else { value.to_string() };
            if self.random.chance(25) {
                text.push_str(&indented(depth + 1, &format!("{label}:")));
                continue;
            }
            text.push_str(&indented(depth + 1, &format!("{label}: {{")));
            text.push_str(&self.statements(code, 2, depth + 2));
            text.push_str(&indented(depth + 1, "}"));
        }
        text.push_str(&indented(depth + 1, "default: {"));
        text.push_str(&self.statements(code, 2, depth + 2));
        text.push_str(&indented(depth + 1, "}"));
        text + &indented(depth, "}")
    }

    fn a_loop(&mut self, code: &mut Code, depth: usize) -> String {
        let name = self.fresh("i");
        let arrays = self
            .parts(code)
            .into_iter()
            .filter(|part| matches!(&part.ty, Ty::Array(element, _) if !self.holds_header(element)));
        let arrays: Vec<Part> = arrays.filter(|part| part.guard.is_none() && !part.text.contains('@')).collect();
        let mut ty = Ty::Bits(8);
        let head = match self.random.below(4) {
            0 => {
                let start = self.random.below(3);
                format!("bit<8> {name} = {start}; {name} < {}; {name} = {name} + 1", start + self.random.below(4))
            }
            1 => {
                let width = *self.random.pick(&[1, 2]);
                let bound = self.expression(code, &Ty::Bits(width), 1);
                format!("bit<8> {name} = 0; {name} < (bit<8>) {bound}; {name} += 1")
            }
            2 if !arrays.is_empty() => {
                let array = self.random.pick(&arrays).clone();
                if let Ty::Array(element, _) = &array.ty {
                    ty = (**element).clone();
                }
                format!("{} {name} in {}", self.types.text(&ty), array.text)
            }
            _ => {
                let low = self.random.below(3);
                format!("bit<8> {name} in {low} .. {}", low + self.random.below(4))
            }
        };
        let mut text = indented(depth, &format!("for ({head}) {{"));
        code.loops += 1;
        code.variables.push(Variable { text: name, ty, writable: false, solid: false });
        // In a block of its own, so that what it declares hides nothing from the condition below.
        text.push_str(&indented(depth + 1, "{"));
        text.push_str(&self.begins_again(code, depth + 2));
        text.push_str(&self.statements(code, 3, depth + 2));
        text.push_str(&indented(depth + 1, "}"));
        if self.random.chance(35) {
            let word = *self.random.pick(&["break", "continue"]);
            let condition = self.expression(code, &Ty::Bool, 2);
            text.push_str(&indented(depth + 1, &format!("if ({condition}) {{ {word}; }}")));
            text.push_str(&self.statements(code, 1, depth + 1));
        }
        code.variables.pop();
        code.loops -= 1;
        text + &indented(depth, "}")
    }

    /// A variable of a loop's body that has no value at first: it begins as zero each time round.
    fn begins_again(&mut self, code: &mut Code, depth: usize) -> String {
        let ty = self.random.pick(&self.numbers[..3]).clone();
        let (Some(target), true) = (self.l_value(code, &ty, true), self.random.chance(40)) else {
            return String::new();
        };
        let (name, text) = (self.fresh("z"), self.types.text(&ty));
        let value = self.expression(code, &ty, 1);
        indented(depth, &format!("{text} {name};"))
            + &indented(depth, &format!("{target} = {target} + {name} + 1;"))
            + &indented(depth, &format!("{name} = {value};"))
    }

    /// `return`, `exit`, or an error, on some condition.
    fn leave(&mut self, code: &mut Code, depth: usize) -> String {
        let condition = self.expression(code, &Ty::Bool, 2);
        match code.place {
            Place::Parser => {
                let error = self.literal(&Ty::Error);
                indented(depth, &format!("verify({condition}, {error});"))
            }
            // What is emitted must begin with the headers that are always there.
            Place::Deparser => String::new(),
            Place::Function => {
                let value = match code.returns.clone() {
                    Some(ty) => format!(" {}", self.expression(code, &ty, 2)),
                    None => String::new(),
                };
                indented(depth, &format!("if ({condition}) {{ return{value}; }}"))
            }
            Place::Action | Place::Control => {
                let word = *self.random.pick(&["return", "exit"]);
                indented(depth, &format!("if ({condition}) {{ {word}; }}"))
            }
        }
    }
}
