//! What is asked of statements as a whole, and done to them.

use super::{Expr, Stmt};

/// Statements, with those within them.
pub fn length(body: &[Stmt]) -> usize {
    body.iter().map(|statement| 1 + statement.bodies().into_iter().map(|inner| length(inner)).sum::<usize>()).sum()
}

/// How many conditions and loops are around the innermost statement.
pub fn depth(code: &[Stmt]) -> usize {
    let of = |statement: &Stmt| statement.bodies().into_iter().map(|inner| depth(inner) + 1).max().unwrap_or(0);
    code.iter().map(of).max().unwrap_or(0)
}

/// Jumps to a label.
pub fn jumps(code: &[Stmt], label: &str) -> usize {
    let of = |statement: &Stmt| {
        let within = statement.bodies().into_iter().map(|inner| jumps(inner, label)).sum::<usize>();
        within + usize::from(*statement == Stmt::Goto(label.to_string()))
    };
    code.iter().map(of).sum()
}

/// Replaces the only mention of a name by `value`, where C converts it to the type of what is assigned or called:
/// elsewhere a number of 8 or 16 bits would become an `int`. Returns false, and changes nothing, where it is mentioned otherwise.
pub fn replace_only(code: &mut [Stmt], name: &str, value: &Expr) -> bool {
    let mut mentions = 0;
    code.iter().for_each(|statement| statement.names(&mut |mentioned| mentions += usize::from(mentioned == name)));
    mentions == 1 && code.iter_mut().any(|statement| replace(statement, name, value))
}

fn replace(statement: &mut Stmt, name: &str, value: &Expr) -> bool {
    let wanted = Expr::name(name);
    let operands: &mut [Expr] = if let Stmt::Assign(_, "=", operand) = statement {
        std::slice::from_mut(operand)
    } else if let Stmt::Do(Expr::Call(_, arguments)) = statement {
        arguments
    } else {
        return statement.bodies_mut().into_iter().flatten().any(|inner| replace(inner, name, value));
    };
    let place = operands.iter_mut().find(|operand| **operand == wanted);
    place.map(|place| *place = value.clone()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assigned(value: Expr) -> Stmt {
        Stmt::set(Expr::name("state->to"), value)
    }

    #[test]
    fn only_an_operand_as_a_whole_is_replaced() {
        let (port, record) = (Expr::name("port"), Expr::name("record->forward.port"));
        let mut whole = [Stmt::when(Expr::name("hit"), vec![assigned(port.clone())])];
        assert!(replace_only(&mut whole, "port", &record));
        assert_eq!(whole, [Stmt::when(Expr::name("hit"), vec![assigned(record.clone())])]);
        let shifted = Expr::binary("<<", port.clone(), Expr::word(16));
        for code in [vec![assigned(shifted)], vec![assigned(port.clone()), assigned(port)]] {
            let mut kept = code.clone();
            assert!(!replace_only(&mut kept, "port", &record));
            assert_eq!(kept, code);
        }
    }
}
