//! The function of a large node is not inlined: compilers take time quadratic in the branches of a function whose state
//! they try to keep in registers.

use hlir::Plan;

/// The C of a program that makes each of so many headers invalid under a condition of its own.
fn code(headers: usize) -> String {
    let each = |line: &dyn Fn(usize) -> String| (0..headers).map(line).collect::<Vec<String>>().join("\n");
    let text = format!(
        "program large for none
{}
variable error: 32
parser parser {{ start headers, accept change, reject gone, error error }}
entry headers
node headers: state of parser {{ {} }} -> change
node change: block {{ {} }} -> deparser
node deparser: deparse {{ {} }} -> departure
node departure: buffer {{ send 32w1 }}
node gone: buffer {{ drop \"short\" }}
",
        each(&|n| format!("header h.n{n}: h_t {{ a: 8 }}")),
        each(&|n| format!("extract h.n{n}")),
        each(&|n| format!("if h.n{n}.a == 7 {{ invalidate h.n{n} }}")),
        each(&|n| format!("emit h.n{n}")),
    );
    let program = hlir::text::parse_program(&text).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes:?}"));
    emit::emit(&program, &Plan::default()).expect("the example can be emitted")
}

/// How the function of a node is declared.
fn declared<'c>(code: &'c str, node: &str) -> &'c str {
    let at = code.find(&format!("\n{node}(struct run *run")).unwrap_or_else(|| panic!("{node}: {code}"));
    code[..at].rsplit('\n').next().expect("a line precedes it")
}

#[test]
fn only_the_functions_of_large_nodes_are_not_inlined() {
    let (small, large) = (code(10), code(300));
    for node in ["headers", "change", "deparser"] {
        assert!(declared(&small, node).starts_with("INLINE "), "{node}: {}", declared(&small, node));
        assert!(declared(&large, node).starts_with("static __attribute__((noinline)) "), "{node}");
    }
    assert!(declared(&large, "departure").starts_with("INLINE "));
}
