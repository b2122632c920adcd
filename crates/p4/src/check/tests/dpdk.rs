//! What a program for DPDK's pipeline is refused for, and that the same program for any target is not.

use super::*;

/// A program with a table, whose architecture comes from `file`.
fn program(file: &str, keys: &str, properties: &str, apply: &str) -> String {
    format!(
        "# 1 \"inc/{file}\" 1\nmatch_kind {{ exact, ternary, lpm }} action NoAction() {{}}
extern ipsec_accelerator {{ ipsec_accelerator(); }} extern DirectMeter {{ DirectMeter(); bit<8> execute(); }}
extern ActionProfile {{ ActionProfile(bit<32> n); }} control C<H>(inout H h); package PSA_Switch<H>(C<H> c);
# 1 \"t.p4\" 2\nstruct H {{ bit<80> wide; bit<128> address; bit<64> long; bit<16> short; bit<73> odd; }}
control c(inout H h) {{\nDirectMeter() meter; ActionProfile(16) profile;\naction a() {{ meter.execute(); }}
table t {{ key = {{ {keys} }} actions = {{ a; }}\n{properties}\n}}\napply {{ t.apply(); {apply} }} }}\nPSA_Switch(c()) main;\n"
    )
}

/// The first line of each limit that is broken.
fn limits(text: &str) -> String {
    let parsed = parse("t.p4", text);
    let (checked, found) = check(&parsed.program);
    let errors: Vec<_> = found.iter().filter(|one| one.is_error()).collect();
    assert!(errors.is_empty(), "only the target may refuse it: {errors:?}");
    let broken = dpdk_limits(&checked, &parsed.map);
    assert!(broken.iter().all(is_target_limit));
    let first = |one: &Diagnostic| one.render(&parsed.map).lines().next().unwrap_or_default().to_string() + "\n";
    broken.iter().map(first).collect()
}

/// What DPDK's pipeline is refused, no other target is.
fn refused(keys: &str, properties: &str, apply: &str, expected: Expect) {
    let meter = if properties.contains("meter") { "" } else { "psa_direct_meter = meter; " };
    let properties = format!("{meter}{properties}");
    expected.assert_eq(&limits(&program("dpdk/psa.p4", keys, &properties, apply)));
    assert_eq!(limits(&program("psa.p4", keys, &properties, apply)), "");
}

#[test]
fn a_prefix_may_be_beside_exact_keys() {
    refused("h.long : lpm; h.short : exact;", "", "", expect![[""]]);
    refused(
        "h.long : lpm; h.short : ternary;",
        "",
        "",
        expect![[r#"
        t.p4(5): [--Werror=target-error] error: DPDK's pipeline has no table with `lpm` and other keys than `exact`
    "#]],
    );
}

#[test]
fn a_table_with_a_profile_has_no_direct_meter() {
    refused(
        "h.long : exact;",
        "psa_implementation = profile; psa_direct_meter = meter;",
        "",
        expect![[r#"
        t.p4(6): [--Werror=target-error] error: DPDK's pipeline has no direct counters and meters in a table with a profile, as `t` is
    "#]],
    );
}

#[test]
fn values_beyond_64_bits_are_copied_and_not_computed() {
    let key = "h.wide : exact;";
    refused(key, "", "h.address = h.address + 1; h.address = (bit<128>)h.odd; h.short = (80w7)[17:2];", expect![[""]]);
    refused(
        key,
        "",
        "h.wide = 5; h.wide = h.wide + h.wide; if (h.wide == 7) { h.short = 1; }",
        expect![[r#"
        t.p4(8): [--Werror=target-error] error: DPDK's pipeline has no constants of 80 bits
        t.p4(8): [--Werror=target-error] error: DPDK's pipeline has no arithmetic or comparison of 80 bits
        t.p4(8): [--Werror=target-error] error: DPDK's pipeline has no arithmetic or comparison of 80 bits
    "#]],
    );
}

#[test]
fn an_accelerator_takes_names() {
    let with = |text: String| text.replace("struct H", "header platform_hdr_t { bit<8> a; }\nstruct H");
    let accelerator = |text: String| text.replace("PSA_Switch(c())", "ipsec_accelerator() it;\nPSA_Switch(c())");
    let plain = program("dpdk/psa.p4", "h.long : exact;", "psa_direct_meter = meter;", "");
    assert_eq!(limits(&with(plain.clone())), "");
    expect![[r#"
        t.p4(1): [--Werror=target-error] error: `platform_hdr_t` is a name of DPDK's pipeline where there is an `ipsec_accelerator`
    "#]].assert_eq(&limits(&accelerator(with(plain.clone()))));
}
