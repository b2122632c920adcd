//! What implementations of P4 get wrong, one program for each: on the interpreter and as native code, packet by packet and in bursts.
//!
//! A test is named by its property, and so is its program in `semantics/`, beside its packets. Those of PSA and PNA are in `architectures/`.

use crate::command::{bacus, has_dpdk, path, said, scratch};
use std::fs;

fn holds(name: &str) {
    let program = path(&format!("crates/cli/tests/{name}.p4"));
    for (engine, burst) in [("interp", "1"), ("interp", "64"), ("native", "1"), ("native", "64")] {
        let mut command = bacus();
        command.arg("stf").args(["--engine", engine, "--burst", burst]);
        let ran = command.arg(&program).arg(program.with_extension("stf")).output().expect("bacus can be run");
        let said = said(&ran);
        assert!(ran.status.success(), "{name} on {engine}, burst {burst}:\n{said}");
    }
}

macro_rules! points {
    ($($name:ident: $program:literal,)*) => {
        $(#[test] fn $name() { holds($program); })*
    };
}

points! {
    arguments_are_copied_in_from_left_to_right_and_out_after_the_return: "semantics/arguments_are_copied",
    the_place_of_an_argument_is_found_once_before_the_call: "semantics/left_values_are_saved",
    headers_in_the_metadata_of_a_clone_are_invalid: "semantics/clones_have_no_metadata",
    a_clone_of_egress_has_no_headers_that_are_declared_there: "semantics/clones_have_no_local_headers",
    an_element_is_read_after_its_index_is_evaluated: "semantics/elements_are_read_after_their_index",
    overlapping_arguments_are_copied_out_in_the_order_written: "semantics/copies_out_in_argument_order",
    every_application_of_a_control_has_its_own_arguments: "semantics/every_application_has_its_arguments",
    entries_for_a_table_that_no_control_applies_have_no_effect: "semantics/tables_may_stay_unapplied",
    a_constant_table_may_be_joined_with_the_one_that_names_its_entries: "semantics/constant_tables_follow_what_names_them",
    loops_apply_tables_in_body_condition_and_update: "semantics/loops_may_apply_tables",
    a_parser_without_accept_ends_in_its_errors: "semantics/a_parser_may_end_in_errors_alone",
    a_constant_index_beyond_a_stack_reads_zero_and_writes_nothing: "semantics/constant_indices_may_lie_beyond",
    an_error_leaves_a_parser_with_what_it_wrote_to_its_arguments: "semantics/errors_leave_a_parser_with_its_copies",
    loops_over_arrays_are_left_by_return_exit_and_break: "semantics/loops_over_arrays_may_be_left",
    outputs_are_invalid_at_the_start: "semantics/outputs_start_invalid",
    operands_are_evaluated_from_left_to_right_and_keys_before_the_look_up: "semantics/operands_go_from_left_to_right",
    exit_and_return_copy_out_and_egress_still_runs: "semantics/exit_copies_out",
    the_complement_of_a_comparison_has_one_bit: "semantics/the_complement_of_a_comparison_is_one_bit",
    shifts_negation_and_saturation_are_defined_at_every_amount: "semantics/shifts_and_overflow_are_defined",
    an_int_is_computed_exactly_and_division_where_it_is_allowed: "semantics/int_is_computed_exactly",
    slices_are_unsigned_nested_and_written_in_place: "semantics/slices_are_unsigned_and_written_in_place",
    bit_operators_bind_tighter_than_comparisons: "semantics/bits_bind_before_comparisons",
    validity_is_copied_compared_and_not_written_through: "semantics/validity_is_a_value",
    values_are_computed_before_their_header_becomes_valid: "semantics/values_come_before_validity",
    a_union_holds_one_header: "semantics/a_union_holds_one_header",
    stacks_shift_in_invalid_headers_and_survive_any_index: "semantics/stacks_shift_and_know_their_end",
    long_stacks_do_what_short_ones_do: "semantics/long_stacks_do_what_short_ones_do",
    what_nobody_wrote_is_zero_for_each_packet: "semantics/what_nobody_wrote_is_zero",
    switch_falls_through_empty_labels_and_a_keyless_table_misses: "semantics/switch_falls_through_empty_labels",
    action_data_may_come_from_the_program: "semantics/action_data_may_come_from_the_program",
    errors_are_numbered_as_they_are_declared: "semantics/errors_are_numbered_as_declared",
    a_failing_extract_takes_nothing_and_tells_why: "semantics/a_failing_extract_takes_nothing",
    a_parser_that_rejects_does_not_drop: "semantics/reject_goes_on_in_ingress",
    headers_leave_in_the_order_emitted_before_the_payload: "semantics/headers_leave_in_the_order_emitted",
    a_deparser_may_leave_headers_out: "semantics/a_deparser_may_leave_headers_out",
    stacks_of_varbit_headers_are_read_by_index: "semantics/stacks_of_varbit_headers_are_read_by_index",
    value_sets_stand_beside_other_sets: "semantics/value_sets_stand_beside_other_sets",
    loops_of_a_deparser_emit_headers_as_they_are_then: "semantics/loops_emit_headers",
    egress_spec_is_zero_at_first_and_511_drops: "semantics/egress_spec_decides_last",
    ingress_ends_with_clone_resubmit_multicast_drop_and_send: "semantics/ingress_ends_in_an_order",
    a_resubmitted_packet_has_no_port_that_it_came_in_by: "semantics/resubmission_begins_with_zero",
    instance_types_tell_how_a_packet_came: "semantics/instance_types_tell_the_way",
    each_exit_copies_out_of_its_controls: "semantics/each_exit_copies_out_of_its_controls",
    parameters_keep_what_is_written: "semantics/parameters_keep_what_is_written",
    indices_are_read_before_later_arguments: "semantics/indices_are_read_before_later_arguments",
    parsers_of_clones_see_new_packets: "semantics/parsers_of_clones_see_new_packets",
    what_comes_again_keeps_its_field_list_only: "semantics/what_comes_again_keeps_its_field_list",
    what_comes_again_is_all_of_the_packet_that_came: "semantics/what_comes_again_is_all_of_it",
    older_calls_keep_the_fields_that_they_name: "semantics/older_calls_name_their_fields",
    checksums_cover_valid_fields_and_payload: "semantics/checksums_cover_what_is_valid",
    hashes_stay_between_base_and_max: "semantics/hashes_stay_between_base_and_max",
    identity_is_the_first_eight_bytes: "semantics/identity_takes_the_first_bytes",
    a_loop_over_a_range_runs_once_for_each_value: "semantics/ranges_run_once_for_each_value",
    state_has_bounds_and_direct_counters_count_every_hit: "semantics/state_has_bounds",
    direct_counters_and_meters_belong_to_their_table: "semantics/direct_objects_belong_to_their_table",
    truncation_takes_the_shortest_length: "semantics/truncation_takes_the_shortest",
    larger_priorities_win_and_the_first_constant_entry: "semantics/larger_priorities_win",
    restrictions_of_bmv2_are_not_copied: "semantics/restrictions_of_bmv2_are_not_copied",
    entries_of_the_program_count_beyond_size_and_the_first_of_equals: "semantics/entries_of_the_program_all_count",
    values_are_written_as_people_have_them: "semantics/values_are_written_as_people_have_them",
    ports_have_the_numbers_of_their_architecture: "architectures/ports_beyond_511",
    field_lists_are_named_by_constants_of_any_form: "semantics/field_lists_are_named_by_constants",
    entries_stand_for_the_sets_of_their_keys: "semantics/entries_stand_for_sets",
    cases_compare_with_what_the_packet_has: "semantics/cases_compare_with_the_packet",
    errors_are_known_above_their_declaration: "semantics/errors_are_known_everywhere",
    widths_are_those_of_the_file_that_is_included: "semantics/widths_are_those_of_the_file",
    a_compound_assignment_reads_its_target_first: "semantics/compound_assignment_reads_first",
    names_may_be_words_of_c: "semantics/names_may_be_words_of_c",
    psa_drops_by_default_and_parses_again_in_egress: "architectures/psa_paths",
    a_checksum_begins_anew_with_each_application: "architectures/checksums_begin_with_each_application",
    pna_takes_the_last_call_and_sends_to_port_0_without_one: "architectures/pna_paths",
    pna_learns_an_entry_for_the_next_packet: "architectures/pna_learning",
}

#[test]
fn what_comes_again_is_whole_in_several_buffers() {
    whole_in_several_buffers("what_comes_again_keeps_its_field_list");
}

#[test]
fn what_comes_again_is_whole_in_several_buffers_wherever_its_parser_goes() {
    whole_in_several_buffers("what_comes_again_is_all_of_it");
}

/// What is lowered of a variant of an architecture's file is a right program, not only one that runs.
#[test]
fn a_program_of_other_widths_passes_the_verifier() {
    let program = path("crates/cli/tests/semantics/widths_are_those_of_the_file.p4");
    let shown = bacus().arg("show").arg(&program).output().expect("bacus can be run");
    let text = scratch("widths").join("widths.hlir");
    fs::write(&text, &shown.stdout).expect("there is room for a test");
    let checked = bacus().arg("check").arg(&text).output().expect("bacus can be run");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

fn whole_in_several_buffers(name: &str) {
    let program = path(&format!("crates/cli/tests/semantics/{name}.p4"));
    let payload: String = (0..5000).map(|at| format!("{:02x}", at % 251)).collect();
    let lengthened = |line: &str| match line.strip_suffix(" $") {
        Some(expected) => format!("{expected}{payload} $\n"),
        None if line.starts_with("packet") => format!("{line}{payload}\n"),
        None => format!("{line}\n"),
    };
    let short = fs::read_to_string(program.with_extension("stf")).expect("the program has packets");
    let long = scratch(&format!("several-buffers-{name}")).join("long.stf");
    fs::write(&long, short.lines().map(lengthened).collect::<String>()).expect("there is room for a test");
    for descriptor in ["own", "mbuf"] {
        if descriptor == "mbuf" && !has_dpdk() {
            continue;
        }
        let mut command = bacus();
        command.arg("stf").args(["--engine", "native", "--descriptor", descriptor]).arg(&program).arg(&long);
        let output = command.output().expect("bacus can be run");
        assert!(output.status.success(), "{descriptor}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
