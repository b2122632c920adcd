//! Statements in which a variable and a call that changes it meet: what they mean depends on the order of evaluation and of copies.

use super::Generator;
use super::code::{Code, Function, Mode, Parameter};
use super::types::{Part, Ty};

/// Of so many types of numbers there is a function that distinguishes its two arguments.
const MIXED: usize = 3;

impl Generator {
    pub fn mixing_functions(&mut self) -> String {
        let text = |(at, ty): (usize, &super::types::Ty)| {
            let ty = self.types.text(ty);
            format!("{ty} mix{at}(in {ty} one, in {ty} two) {{\n    return one - (two << 1);\n}}\n")
        };
        self.numbers[..MIXED].iter().enumerate().map(text).collect()
    }

    /// A statement about a variable and a call that is given it for an `inout` or `out` parameter.
    pub fn entangled(&mut self, code: &mut Code) -> Option<String> {
        let (function, at) = self.changing_function(code)?;
        let ty = function.parameters[at].ty.clone();
        let returned = function.returns.clone()?;
        let fits = |part: &Part| part.ty == ty && part.writable && part.guard.is_none() && !part.text.contains('@');
        let parts: Vec<Part> = self.parts(code).into_iter().filter(fits).collect();
        let variable = self.one_of(code, &parts)?.text;
        let call = self.call_with(code, &function, &[(at, &variable)])?;
        let value = cast(&returned, &ty, &call);
        let operator = *self.random.pick(&["+", "-", "^", "|+|", "&"]);
        if self.random.chance(15) {
            return self.index_and_element(code, (&variable, &ty));
        }
        if self.random.chance(15) {
            return self.element_and_call(code, (&variable, &ty), (&call, &returned));
        }
        if self.random.chance(25)
            && let Some(at) = self.numbers[..MIXED].iter().position(|known| *known == ty)
        {
            let target = self.l_value(code, &ty, false)?;
            let arguments = match self.random.below(3) {
                0 => format!("{variable}, {value}"),
                1 => format!("two = {variable}, one = {value}"),
                _ => format!("one = {value}, two = {variable}"),
            };
            return Some(format!("{target} = mix{at}({arguments});"));
        }
        Some(match self.random.below(8) {
            0 => format!("{variable} {operator}= {value};"),
            1 => format!("{} = ({variable} {operator} {value});", self.l_value(code, &ty, false)?),
            2 => format!("{} = ({value} {operator} {variable});", self.l_value(code, &ty, false)?),
            3 | 7 => self.passed_on(code, (&variable, &ty), (&call, &returned))?,
            4 => self.indexed_by(code, (&variable, &ty), (&call, &returned))?,
            5 => {
                let target = self.l_value(code, &Ty::Bool, false)?;
                let first = self.expression(code, &Ty::Bool, 1);
                let join = *self.random.pick(&["&&", "||"]);
                format!("{target} = ({first} {join} ({value} < {variable}));")
            }
            _ => {
                let condition = self.expression(code, &Ty::Bool, 1);
                format!("{} = ({condition} ? {variable} : {value});", self.l_value(code, &ty, false)?)
            }
        })
    }

    /// A function that returns a number and changes one, and the parameter by which it does.
    fn changing_function(&mut self, code: &Code) -> Option<(Function, usize)> {
        let mut found = Vec::new();
        for function in
            self.functions[..code.functions].iter().filter(|known| known.returns.as_ref().is_some_and(is_number))
        {
            for (at, parameter) in function.parameters.iter().enumerate() {
                if matches!(parameter.mode, Mode::Out | Mode::InOut) && is_number(&parameter.ty) {
                    found.push((function.clone(), at));
                }
            }
        }
        if found.is_empty() { None } else { Some(self.random.pick(&found).clone()) }
    }

    /// A call with some arguments that are given, by the number of their parameter.
    fn call_with(&mut self, code: &mut Code, function: &Function, given: &[(usize, &str)]) -> Option<String> {
        let mut arguments = Vec::new();
        for (index, parameter) in function.parameters.iter().enumerate() {
            if let Some((_, argument)) = given.iter().find(|(at, _)| *at == index) {
                arguments.push((*argument).to_string());
                continue;
            }
            arguments.push(match parameter.mode {
                Mode::In | Mode::Data => self.value(code, &parameter.ty, 1)?,
                Mode::Out | Mode::InOut => self.l_value(code, &parameter.ty, parameter.mode == Mode::InOut)?,
            });
        }
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }

    /// A function or action that can be called here, and two of its parameters that fit.
    fn callee_of_two(
        &mut self,
        code: &Code,
        fits: impl Fn(&Parameter, &Parameter) -> bool,
    ) -> Option<(Function, usize, usize)> {
        let mut found = Vec::new();
        for function in self.functions[..code.functions].iter().chain(&code.actions) {
            let parameters = &function.parameters;
            for one in 0..parameters.len() {
                for other in (0..parameters.len()).filter(|other| *other != one) {
                    if fits(&parameters[one], &parameters[other]) {
                        found.push((function.clone(), one, other));
                    }
                }
            }
        }
        if found.is_empty() { None } else { Some(self.random.pick(&found).clone()) }
    }

    /// Both as arguments of another call, the variable first or last.
    fn passed_on(
        &mut self,
        code: &mut Code,
        (variable, ty): (&str, &Ty),
        (call, returned): (&str, &Ty),
    ) -> Option<String> {
        let (function, one, other) = self.callee_of_two(code, |takes_variable, takes_call| {
            let is_read = matches!(takes_call.mode, Mode::In | Mode::Data);
            takes_variable.ty == *ty && is_read && is_number(&takes_call.ty)
        })?;
        let value = cast(returned, &function.parameters[other].ty, call);
        let call = self.call_with(code, &function, &[(one, variable), (other, &value)])?;
        Some(format!("{call};"))
    }

    /// The variable as an argument that is changed, beside an element that it is the index of.
    fn index_and_element(&mut self, code: &mut Code, (variable, ty): (&str, &Ty)) -> Option<String> {
        let index = self.small_index(variable, ty)?;
        let parts: Vec<Part> = self.parts(code).into_iter().filter(is_open_element).collect();
        let (function, one, other) = self.callee_of_two(code, |one, other| {
            let are_changed = [one, other].iter().all(|taken| matches!(taken.mode, Mode::Out | Mode::InOut));
            are_changed && parts.iter().any(|part| part.ty == other.ty) && one.ty == *ty
        })?;
        let parts: Vec<Part> = parts.into_iter().filter(|part| part.ty == function.parameters[other].ty).collect();
        let element = self.one_of(code, &parts)?.text.replace('@', &index);
        let call = self.call_with(code, &function, &[(one, variable), (other, &element)])?;
        Some(format!("{call};"))
    }

    /// An element that the variable is the index of, or a slice that begins at the variable's value, as an argument that is changed; the call that
    /// changes the variable is a later or an earlier argument.
    fn element_and_call(
        &mut self,
        code: &mut Code,
        (variable, ty): (&str, &Ty),
        (call, returned): (&str, &Ty),
    ) -> Option<String> {
        let index = self.small_index(variable, ty)?;
        let parts = self.parts(code);
        let element = |wanted: &Ty| -> Vec<String> {
            let elements = parts.iter().filter(|part| is_open_element(part) && part.ty == *wanted);
            let elements = elements.map(|part| part.text.replace('@', &index));
            let slices = parts.iter().filter_map(|part| match (&part.ty, wanted) {
                (Ty::Bits(width), Ty::Bits(narrow)) if is_plain(part) && *width >= narrow + 4 => {
                    Some(format!("{}[{index}+:{narrow}]", part.text))
                }
                _ => None,
            });
            elements.chain(slices).collect()
        };
        let (function, one, other) = self.callee_of_two(code, |changed, read| {
            let is_read = matches!(read.mode, Mode::In | Mode::Data) && is_number(&read.ty);
            is_read && matches!(changed.mode, Mode::Out | Mode::InOut) && !element(&changed.ty).is_empty()
        })?;
        let elements = element(&function.parameters[one].ty);
        let element = self.random.pick(&elements).clone();
        let value = cast(returned, &function.parameters[other].ty, call);
        let call = self.call_with(code, &function, &[(one, &element), (other, &value)])?;
        Some(format!("{call};"))
    }

    fn small_index(&self, variable: &str, ty: &Ty) -> Option<String> {
        match ty {
            Ty::Bits(width) if *width > 2 => Some(format!("{variable}[1:0]")),
            Ty::Bits(_) => Some(variable.to_string()),
            _ => None,
        }
    }

    /// The variable as the index of what the call is assigned to, or is an argument beside.
    fn indexed_by(
        &mut self,
        code: &mut Code,
        (variable, ty): (&str, &Ty),
        (call, returned): (&str, &Ty),
    ) -> Option<String> {
        let index = self.small_index(variable, ty)?;
        let parts: Vec<Part> = self.parts(code).into_iter().filter(is_open_element).collect();
        let part = self.one_of(code, &parts)?;
        let operator = *self.random.pick(&["=", "=", "+=", "^="]);
        Some(format!("{} {operator} {};", part.text.replace('@', &index), cast(returned, &part.ty, call)))
    }
}

fn is_number(ty: &Ty) -> bool {
    matches!(ty, Ty::Bits(_) | Ty::Int(_))
}

/// A number in an array or stack whose index is still open.
fn is_open_element(part: &Part) -> bool {
    part.writable && part.guard.is_none() && part.text.contains('@') && is_number(&part.ty)
}

/// A variable that is there whatever an index or a validity is.
fn is_plain(part: &Part) -> bool {
    part.writable && part.guard.is_none() && !part.text.contains('@') && !part.text.contains('[')
}

/// A number as one of another type, through bits where the sign and the width change.
fn cast(from: &Ty, to: &Ty, value: &str) -> String {
    match (from, to) {
        (from, to) if from == to => value.to_string(),
        (Ty::Bits(_), Ty::Bits(width)) => format!("((bit<{width}>) {value})"),
        (Ty::Int(_), Ty::Int(width)) => format!("((int<{width}>) {value})"),
        (Ty::Int(narrow), Ty::Bits(width)) => format!("((bit<{width}>) (bit<{narrow}>) {value})"),
        (Ty::Bits(_), Ty::Int(width)) => format!("((int<{width}>) (bit<{width}>) {value})"),
        _ => value.to_string(),
    }
}
