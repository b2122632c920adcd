//! What DPDK's pipeline cannot do, and so what a program for it is refused for.
//!
//! A program that includes `dpdk/psa.p4` or `dpdk/pna.p4` names DPDK's pipeline (`rte_swx_pipeline`) as its target, whatever runs it in the
//! end. Each limit is one that `p4c-dpdk` reports; the same program with `psa.p4` or `pna.p4` is for any target, and has none of them.

use hlir::diagnostic::Diagnostic;
use hlir::source::{SourceMap, Span};

use super::limits::TARGET_LIMIT;
use super::results::Checked;
use crate::ast::walk::{block_expressions, declaration_expressions};
use crate::ast::{
    BinaryOperator, Declaration, DeclarationKind, Expression, ExpressionKind, PropertyValue, Table, UnaryOperator,
};
use crate::types::Type;

/// What the pipeline's instructions compute with; of what is wider they know 128 bits alone, for addresses of IPv6.
const WIDEST: u32 = 64;
const ADDRESS: u32 = 128;

/// Names that the pipeline's own side of an `ipsec_accelerator` has: the header in front of a packet that comes from it, and the registers
/// with its ports.
const OF_IPSEC: [&str; 5] = [
    "platform_hdr_t",
    "ipsec_port_out_inbound",
    "ipsec_port_out_outbound",
    "ipsec_port_in_inbound",
    "ipsec_port_in_outbound",
];

/// The limits that a program for DPDK's pipeline breaks; none if it is for another target. The check has to have found no error.
pub fn dpdk_limits(checked: &Checked<'_>, map: &SourceMap) -> Vec<Diagnostic> {
    let Some(file) = architecture_file(checked, map).filter(|file| is_of_dpdk(file)) else { return Vec::new() };
    let name = file.rsplit('/').next().unwrap_or_default().to_string();
    let mut limits = Limits { checked, general: name, has_ipsec: false, found: Vec::new() };
    let own: Vec<&Declaration> = checked
        .program
        .declarations
        .iter()
        .filter(|declaration| checked.program.included.binary_search(&declaration.id).is_err())
        .collect();
    limits.has_ipsec = own.iter().any(|declaration| limits.makes_ipsec(declaration));
    own.into_iter().for_each(|declaration| limits.declaration(declaration));
    limits.found
}

/// The file that declares the package of `main`.
fn architecture_file(checked: &Checked<'_>, map: &SourceMap) -> Option<String> {
    let package = checked.instance(checked.main()?)?.result.nominal()?.declaration;
    Some(map.locate(checked.node(package).span().start).file.to_string())
}

fn is_of_dpdk(file: &str) -> bool {
    ["dpdk/psa.p4", "dpdk/pna.p4"].iter().any(|known| file.ends_with(known))
}

struct Limits<'a, 'c> {
    checked: &'c Checked<'a>,
    /// The file that is for any target.
    general: String,
    has_ipsec: bool,
    found: Vec<Diagnostic>,
}

impl<'a> Limits<'a, '_> {
    fn refusal(&self, message: String, span: Span, label: &str, hint: &str) -> Diagnostic {
        let general = format!("or include <{}>, if the program is not for DPDK's pipeline", self.general);
        Diagnostic::error(message).kind(TARGET_LIMIT).label(span, label).hint(hint).hint(general)
    }

    fn makes_ipsec(&self, declaration: &Declaration) -> bool {
        match &declaration.kind {
            DeclarationKind::Instance(_) => {
                let object = self.checked.declared_type(declaration.id).nominal();
                object.is_some_and(|object| &*object.name == "ipsec_accelerator")
            }
            DeclarationKind::Control(control) => control.locals.iter().any(|local| self.makes_ipsec(local)),
            _ => false,
        }
    }

    fn declaration(&mut self, declaration: &'a Declaration) {
        let name = &declaration.name;
        if self.has_ipsec && OF_IPSEC.contains(&name.as_str()) {
            let message = format!("`{name}` is a name of DPDK's pipeline where there is an `ipsec_accelerator`");
            let refusal = Diagnostic::error(message).kind(TARGET_LIMIT).label(name.span, "");
            self.found.push(refusal.hint("give it another name"));
        }
        match &declaration.kind {
            DeclarationKind::Control(control) => {
                control.locals.iter().for_each(|local| self.declaration(local));
                let mut all = Vec::new();
                control.apply.iter().for_each(|body| block_expressions(body, &mut |one| all.push(one)));
                self.widths(&all);
            }
            DeclarationKind::Table(table) => {
                self.prefix_among_exact(table);
                self.profile_alone(declaration, table);
            }
            _ => {
                let mut all = Vec::new();
                declaration_expressions(declaration, &mut |one| all.push(one));
                self.widths(&all);
            }
        }
    }

    /// A key of `lpm` is beside `exact` ones only: the library has no table with others.
    fn prefix_among_exact(&mut self, table: &Table) {
        let Some(PropertyValue::Keys(keys)) = table.find("key").map(|found| &found.value) else { return };
        let Some(prefix) = keys.iter().find(|key| key.match_kind.as_str() == "lpm") else { return };
        let other = keys.iter().find(|key| !matches!(key.match_kind.as_str(), "lpm" | "exact"));
        let Some(other) = other else { return };
        let message = "DPDK's pipeline has no table with `lpm` and other keys than `exact`".to_string();
        let hint = "match the prefix as `ternary`, or split the table in two";
        let refusal = self.refusal(message, other.match_kind.span, "beside a prefix, this key", hint);
        self.found.push(refusal.label(prefix.match_kind.span, "the prefix"));
    }

    /// A table with an action profile or selector is several tables there, of which none has the entry's counter.
    fn profile_alone(&mut self, declaration: &Declaration, table: &Table) {
        let named = |names: &[&str]| names.iter().find_map(|name| table.find(name));
        let profile = named(&["psa_implementation", "pna_implementation"]);
        let direct = ["psa_direct_counter", "psa_direct_meter", "pna_direct_counter", "pna_direct_meter"];
        let (Some(profile), Some(direct)) = (profile, named(&direct)) else { return };
        let name = &declaration.name;
        let message =
            format!("DPDK's pipeline has no direct counters and meters in a table with a profile, as `{name}` is");
        let refusal = self.refusal(message, direct.name.span, "", "count or meter by an index");
        self.found.push(refusal.label(profile.name.span, "the profile"));
    }

    /// Constants of more than 64 bits, and what is computed of values that wide.
    fn widths(&mut self, all: &[&'a Expression]) {
        let mut inside: Option<Span> = None;
        for one in all {
            // Of an expression that is too wide, its parts are, too.
            if inside.is_some_and(|span| span.start <= one.span.start && one.span.end <= span.end) {
                continue;
            }
            let too_wide = self.too_wide(one);
            // What is computed by the compiler matters as a whole.
            if too_wide.is_some() || self.checked.constant(one).is_some() {
                inside = Some(one.span);
            }
            let Some((width, what)) = too_wide else { continue };
            let message = format!("DPDK's pipeline has no {what} of {width} bits");
            let hint = "split the value into parts of 64 bits or less; values of any width can be copied";
            let refusal = self.refusal(message, one.span, "it has those of up to 64 bits, and of 128", hint);
            self.found.push(refusal);
        }
    }

    fn too_wide(&self, expression: &Expression) -> Option<(u32, &'static str)> {
        if self.checked.constant(expression).is_some() {
            return self.odd_width(expression).map(|width| (width, "constants"));
        }
        let operands: Vec<&Expression> = match &expression.kind {
            ExpressionKind::Unary { operator: UnaryOperator::Negate | UnaryOperator::Complement, operand } => {
                vec![operand]
            }
            ExpressionKind::Binary { operator, left, right } => match operator {
                BinaryOperator::And | BinaryOperator::Or => Vec::new(),
                BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => vec![left],
                _ => vec![left, right],
            },
            ExpressionKind::Mask { value, mask } => vec![value, mask],
            ExpressionKind::Range { low, high } => vec![low, high],
            _ => Vec::new(),
        };
        let width = operands.into_iter().find_map(|operand| self.odd_width(operand))?;
        Some((width, "arithmetic or comparison"))
    }

    /// The width of a number that instructions cannot take.
    fn odd_width(&self, expression: &Expression) -> Option<u32> {
        match self.checked.representation(self.checked.used_type(expression)) {
            Type::Bits { width, .. } if width > WIDEST && width != ADDRESS => Some(width),
            _ => None,
        }
    }
}
