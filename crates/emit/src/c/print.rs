//! Prints the tree as kernel-like C: tabs, functions with the type on a line of its own, parentheses where a reader wants them.
//!
//! Parentheses are wherever precedence needs them, and also where gcc and clang would ask "did you mean": shifts in sums, bits in bits.

use super::{Expr, Item, Member, Stmt, Struct};

/// The text of a whole file.
pub fn print(items: &[Item]) -> String {
    let mut printer = Printer { out: String::new(), depth: 0 };
    for item in items {
        printer.item(item);
    }
    printer.out
}

struct Printer {
    out: String,
    depth: usize,
}

/// Longest line before a list is broken; the runtime's own headers keep to it too.
const LINE: usize = 140;
/// Characters of a line of a comment, at least.
const LEAST_COMMENT: usize = 40;

impl Printer {
    fn line(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.push_str(&"\t".repeat(self.depth));
            self.out.push_str(text);
        }
        self.out.push('\n');
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Comment(text) => self.comment(text),
            Item::Directive(text) => self.line(&format!("#{text}")),
            Item::Enum { name, members } => {
                self.line(&format!("enum {name} {{"));
                self.depth += 1;
                self.filled(members.iter().map(|member| format!("{member},")));
                self.depth -= 1;
                self.line("};");
            }
            Item::Struct(structure) => self.structure(structure),
            Item::Function { of, name, parameters, body } => self.function(of, name, parameters, body),
            Item::Defined { by, name, arguments } => {
                let arguments = std::iter::once(name.clone()).chain(arguments.iter().map(expression));
                self.line(&format!("{by}({})", arguments.collect::<Vec<_>>().join(", ")));
            }
            Item::Variable { of, name, value } => match value {
                Some(value) => self.initialised(of, name, value),
                None => self.line(&format!("{};", declaration(of, name))),
            },
            Item::Blank => self.line(""),
        }
    }

    fn comment(&mut self, text: &str) {
        // In deep code, a comment is longer than a line rather than a column of words.
        let width = LINE.saturating_sub(3 + 8 * self.depth).max(LEAST_COMMENT);
        for (number, line) in wrapped(text, width).iter().enumerate() {
            let open = if number == 0 { "/* " } else { " * " };
            self.line(format!("{open}{line}").trim_end());
        }
        self.out.truncate(self.out.len() - 1);
        self.out.push_str(" */\n");
    }

    fn structure(&mut self, structure: &Struct) {
        self.line(&format!("struct {} {{", structure.name));
        self.depth += 1;
        self.members(&structure.members);
        self.depth -= 1;
        self.line("};");
    }

    fn members(&mut self, members: &[Member]) {
        for member in members {
            match member {
                Member::Plain { of, name, remark } if remark.is_empty() => {
                    self.line(&format!("{};", declaration(of, name)));
                }
                Member::Plain { of, name, remark } => {
                    let remark = remark.replace("*/", "* /");
                    self.line(&format!("{};\t/* {remark} */", declaration(of, name)));
                }
                Member::Union(members) => self.inner("union", "", members),
                Member::Inner { name, members } => match side_by_side(members) {
                    Some(members) if self.depth * 8 + members.len() + name.len() + 12 <= LINE => {
                        self.line(&format!("struct {{ {members} }} {name};"));
                    }
                    _ => self.inner("struct", name, members),
                },
            }
        }
    }

    fn inner(&mut self, kind: &str, name: &str, members: &[Member]) {
        self.line(&format!("{kind} {{"));
        self.depth += 1;
        self.members(members);
        self.depth -= 1;
        self.line(format!("}} {name}").trim_end());
        self.out.truncate(self.out.len() - 1);
        self.out.push_str(";\n");
    }

    fn function(&mut self, of: &str, name: &str, parameters: &[String], body: &[Stmt]) {
        let parameters = if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") };
        self.line(of);
        self.line(&format!("{name}({parameters})"));
        self.line("{");
        self.depth += 1;
        self.block(body);
        self.depth -= 1;
        self.line("}");
    }

    fn initialised(&mut self, of: &str, name: &str, value: &Expr) {
        let whole = format!("{} = {};", declaration(of, name), expression(value));
        let Expr::List(members) = value else { return self.line(&whole) };
        if self.depth * 8 + whole.len() <= LINE && !holds_names(members) {
            return self.line(&whole);
        }
        self.line(&format!("{} = {{", declaration(of, name)));
        self.list(members);
        self.line("};");
    }

    /// The members of an initialiser: plain ones as many as a line holds, others on lines of their own.
    fn list(&mut self, members: &[Expr]) {
        self.depth += 1;
        for some in members.chunk_by(|one, next| opened(one).is_none() && opened(next).is_none()) {
            match some {
                [member] if opened(member).is_some() => self.member(member),
                _ => self.filled(some.iter().map(|member| format!("{},", expression(member)))),
            }
        }
        self.depth -= 1;
    }

    /// A member of an initialiser, over several lines if one is too short.
    fn member(&mut self, member: &Expr) {
        let whole = format!("{},", expression(member));
        match opened(member).filter(|_| self.depth * 8 + whole.len() > LINE) {
            None => self.line(&whole),
            Some((open, members)) => {
                self.line(&open);
                self.list(members);
                self.line(if open.ends_with('{') { "}," } else { ")," });
            }
        }
    }

    /// Texts side by side, as many as a line holds.
    fn filled(&mut self, texts: impl Iterator<Item = String>) {
        let mut line = String::new();
        for text in texts {
            if !line.is_empty() && self.depth * 8 + line.len() + 1 + text.len() > LINE {
                self.line(&std::mem::take(&mut line));
            }
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(&text);
        }
        self.line(&line);
    }

    fn block(&mut self, body: &[Stmt]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn braced(&mut self, head: &str, body: &[Stmt]) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.block(body);
        self.depth -= 1;
        self.line("}");
    }

    /// `head` with its body: braces only where more than one line follows.
    fn governed(&mut self, head: &str, body: &[Stmt]) {
        if needs_braces(body) {
            self.braced(head, body);
            return;
        }
        self.line(head);
        self.depth += 1;
        self.block(body);
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Declare { of, name, value: Some(value) } => self.initialised(of, name, value),
            Stmt::Declare { of, name, value: None } => self.line(&format!("{};", declaration(of, name))),
            Stmt::Assign(target, operator, value) => self.assign(target, operator, value),
            Stmt::Do(value) => self.line(&format!("{};", expression(value))),
            Stmt::If { condition, then, otherwise } => self.choice(condition, then, otherwise),
            Stmt::Switch { on, cases, default } => self.switch(on, cases, default),
            Stmt::Count { name, from, to, step, body } => {
                let step = match step.number() {
                    Some(1) => format!("{name}++"),
                    _ => format!("{name} += {}", expression(step)),
                };
                let (from, to) = (expression(from), operand(to, 6));
                self.governed(&format!("for (uint32_t {name} = {from}; {name} < {to}; {step})"), body);
            }
            Stmt::While(condition, body) => self.governed(&format!("while ({})", expression(condition)), body),
            Stmt::Block(body) => {
                self.line("{");
                self.depth += 1;
                self.block(body);
                self.depth -= 1;
                self.line("}");
            }
            Stmt::Label(name) => {
                self.depth -= 1;
                self.line(&format!("{name}: ;"));
                self.depth += 1;
            }
            Stmt::Goto(_) | Stmt::Return(_) | Stmt::Break => jump(statement).iter().for_each(|jump| self.line(jump)),
            Stmt::Comment(text) => self.comment(text),
            Stmt::Blank => self.line(""),
        }
    }

    fn assign(&mut self, target: &Expr, operator: &str, value: &Expr) {
        let target = expression(target);
        match (operator, value.number()) {
            ("+=", Some(1)) => self.line(&format!("{target}++;")),
            ("-=", Some(1)) => self.line(&format!("{target}--;")),
            _ => self.line(&format!("{target} {operator} {};", expression(value))),
        }
    }

    fn choice(&mut self, condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        let head = format!("if ({})", expression(condition));
        if otherwise.is_empty() {
            self.governed(&head, then);
            return;
        }
        if let [Stmt::If { condition, then: inner, otherwise: last }] = otherwise {
            self.line(&format!("{head} {{"));
            self.depth += 1;
            self.block(then);
            self.depth -= 1;
            self.out.push_str(&"\t".repeat(self.depth));
            self.out.push_str("} else ");
            let start = self.out.len();
            self.choice(condition, inner, last);
            let indent = self.depth;
            self.out.replace_range(start..start + indent, "");
            return;
        }
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.block(then);
        self.depth -= 1;
        self.braced("} else", otherwise);
    }

    fn switch(&mut self, on: &Expr, cases: &[(Vec<Expr>, Vec<Stmt>)], default: &[Stmt]) {
        self.line(&format!("switch ({}) {{", expression(on)));
        for (values, body) in cases {
            if let ([value], Some(jump)) = (values.as_slice(), only_jump(body)) {
                self.line(&format!("case {}: {jump}", expression(value)));
                continue;
            }
            for value in values {
                self.line(&format!("case {}:", expression(value)));
            }
            self.case(body);
        }
        if default.is_empty() {
            self.line("default: break;");
        } else if let Some(jump) = only_jump(default) {
            self.line(&format!("default: {jump}"));
        } else {
            self.line("default:");
            self.case(default);
        }
        self.line("}");
    }

    fn case(&mut self, body: &[Stmt]) {
        let braces = body.iter().any(|statement| matches!(statement, Stmt::Declare { .. }));
        if braces {
            self.out.truncate(self.out.len() - 1);
            self.out.push_str(" {\n");
        }
        self.depth += 1;
        self.block(body);
        if !body.last().is_some_and(Stmt::is_jump) {
            self.line("break;");
        }
        self.depth -= 1;
        if braces {
            self.line("}");
        }
    }
}

/// Members without remarks, for one line.
fn side_by_side(members: &[Member]) -> Option<String> {
    let each = members.iter().map(|member| match member {
        Member::Plain { of, name, remark } => remark.is_empty().then(|| format!("{};", declaration(of, name))),
        Member::Union(_) | Member::Inner { .. } => None,
    });
    Some(each.collect::<Option<Vec<String>>>()?.join(" "))
}

/// A body that is no more than a jump.
fn only_jump(body: &[Stmt]) -> Option<String> {
    if let [statement] = body { jump(statement) } else { None }
}

fn jump(statement: &Stmt) -> Option<String> {
    Some(match statement {
        Stmt::Goto(label) => format!("goto {label};"),
        Stmt::Return(Some(value)) => format!("return {};", expression(value)),
        Stmt::Return(None) => "return;".to_string(),
        Stmt::Break => "break;".to_string(),
        Stmt::Declare { .. }
        | Stmt::Assign(..)
        | Stmt::Do(_)
        | Stmt::If { .. }
        | Stmt::Switch { .. }
        | Stmt::Count { .. }
        | Stmt::While(..)
        | Stmt::Block(_)
        | Stmt::Label(_)
        | Stmt::Comment(_)
        | Stmt::Blank => return None,
    })
}

/// A member of an initialiser that is a list: the text before its members, and these.
fn opened(member: &Expr) -> Option<(String, &[Expr])> {
    if let Expr::List(members) = member {
        return Some(("{".to_string(), members));
    }
    if let Expr::Cast(of, value) = member {
        return opened(value).map(|(open, members)| (format!("({of}){open}"), members));
    }
    if let Expr::Designated(name, value) = member {
        return opened(value).map(|(open, members)| (format!(".{name} = {open}"), members));
    }
    let Expr::Call(function, arguments) = member else { return None };
    // A call of plain values is one itself.
    let is_list = arguments.iter().any(|argument| matches!(argument, Expr::Call(..)));
    let (first, rest) = arguments.split_first().filter(|_| is_list)?;
    Some((format!("{function}({},", expression(first)), rest))
}

fn holds_names(members: &[Expr]) -> bool {
    members.iter().any(|member| matches!(member, Expr::Designated(_, _) | Expr::List(_)))
}

/// A body of one plain line needs none.
fn needs_braces(body: &[Stmt]) -> bool {
    !matches!(body, [Stmt::Assign(..) | Stmt::Do(_) | Stmt::Goto(_) | Stmt::Return(_) | Stmt::Break])
}

/// `uint8_t *` and `name` make `uint8_t *name`.
fn declaration(of: &str, name: &str) -> String {
    if of.ends_with('*') { format!("{of}{name}") } else { format!("{of} {name}") }
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let text = text.replace("*/", "* /").replace("/*", "/ *");
    let mut lines: Vec<String> = Vec::new();
    for part in text.split('\n') {
        let words = part.trim_start();
        let mut line = " ".repeat(part.len() - words.len());
        // What goes on under an indented line is indented deeper.
        let further = if line.is_empty() { String::new() } else { format!("{line}  ") };
        for (number, word) in words.split(' ').enumerate() {
            if number > 0 && line.len() + 1 + word.len() > width {
                lines.push(std::mem::replace(&mut line, further.clone()));
            } else if number > 0 {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// How tightly an operator binds, C's order.
fn strength(operator: &str) -> u8 {
    match operator {
        "*" | "/" | "%" => 10,
        "+" | "-" => 9,
        "<<" | ">>" => 8,
        "<" | "<=" | ">" | ">=" => 7,
        "==" | "!=" => 6,
        "&" => 5,
        "^" => 4,
        "|" => 3,
        "&&" => 2,
        "||" => 1,
        _ => panic!("`{operator}` is no binary operator of C"),
    }
}

/// Whether `inner` may be without parentheses on the left of `outer`. Sums of products, tests of sums and chains of tests read well without; the rest is
/// where readers (and compilers) hesitate.
fn bare_left(outer: &str, inner: &str) -> bool {
    if outer == inner {
        return !matches!(outer, "<" | "<=" | ">" | ">=" | "==" | "!=" | "<<" | ">>");
    }
    let (outer, inner) = (strength(outer), strength(inner));
    match outer {
        9 | 10 => inner > 8 && inner >= outer,
        6 | 7 => inner > 8,
        2 => inner == 6 || inner == 7,
        1 => inner == 6 || inner == 7,
        _ => false,
    }
}

fn bare_right(outer: &str, inner: &str) -> bool {
    match outer {
        "-" | "/" | "%" | "<<" | ">>" | "*" => strength(outer) == 9 && strength(inner) == 10,
        _ if outer == inner => false,
        _ => bare_left(outer, inner) && strength(outer) != strength(inner),
    }
}

/// `value` as an operand of something that binds with `least`.
fn operand(value: &Expr, least: u8) -> String {
    let bare = match value {
        Expr::Binary(operator, _, _) => strength(operator) > least,
        Expr::Conditional(..) => false,
        Expr::Unary(..) | Expr::Cast(..) => least < 12,
        Expr::Name(_)
        | Expr::Number { .. }
        | Expr::Text(_)
        | Expr::Call(..)
        | Expr::Index(..)
        | Expr::List(_)
        | Expr::Designated(..) => true,
    };
    if bare { expression(value) } else { format!("({})", expression(value)) }
}

pub fn expression(value: &Expr) -> String {
    match value {
        Expr::Name(name) => name.clone(),
        Expr::Number { value, long } => number(*value, *long),
        Expr::Text(text) => quoted(text),
        Expr::Call(function, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(expression).collect();
            format!("{function}({})", arguments.join(", "))
        }
        Expr::Index(array, index) => match index.number() {
            Some(number) => format!("{}[{number}]", operand(array, 12)),
            None => format!("{}[{}]", operand(array, 12), expression(index)),
        },
        Expr::Unary(operator, inner) => format!("{operator}{}", operand(inner, 11)),
        Expr::Cast(to, inner) => format!("({to}){}", operand(inner, 11)),
        Expr::Binary(operator, left, right) => {
            let left = side(operator, left, |inner| bare_left(operator, inner));
            let right = side(operator, right, |inner| bare_right(operator, inner));
            format!("{left} {operator} {right}")
        }
        Expr::Conditional(condition, then, otherwise) => {
            format!("{} ? {} : {}", operand(condition, 5), operand(then, 0), operand(otherwise, 0))
        }
        Expr::List(members) => {
            let members: Vec<String> = members.iter().map(expression).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Expr::Designated(name, value) => format!(".{name} = {}", expression(value)),
    }
}

fn side(operator: &str, value: &Expr, bare: impl Fn(&str) -> bool) -> String {
    // `!a == b` is asked about by compilers and readers alike.
    if matches!(value, Expr::Unary("!", _)) && strength(operator) > 2 {
        return format!("({})", expression(value));
    }
    if matches!(value, Expr::Binary(inner, _, _) if bare(inner)) {
        return expression(value);
    }
    operand(value, 10)
}

/// Small numbers are counted by people, large ones are patterns.
pub fn digits(value: u64) -> String {
    if value < 1024 { value.to_string() } else { format!("{value:#x}") }
}

fn number(value: u64, long: bool) -> String {
    let suffix = if long { "ull" } else { "u" };
    digits(value) + suffix
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'?' => out.push_str("\\?"),
            0x20..=0x7e => out.push(byte as char),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}
