"""Kernels that tests compile are kept in a folder of the session, never in the user's; what is measured."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# Measuring which branches are taken doubles the time of a test. Those that must be covered are all taken in
# these folders, without the long tests below, each by a test without chance or by several with it; the report
# says so when that is no longer true.
MEASURED = {
    *("check", "drawing", "emit", "evaluate", "normalize", "numeric", "operators", "stablehlo", "xla"),
}
COVERED = ("sonnx.operators.", "sonnx.numeric.", "sonnx.check.")
UNMEASURED_BEFORE = pytest.StashKey[bool]()
LONG = {
    "test_a_case_has_its_bits_on_xla_too",
    "test_a_model_made_to_be_heavy_is_refused_and_not_worked_off",
    "test_a_network_with_other_numbers_is_outside_the_bound",
    "test_a_number_near_the_middle_of_two_others_is_converted_as_the_definition_says",
    "test_a_public_function_gives_a_result_or_a_rule_error",
    "test_all_orders_of_small_graphs_give_the_same_bits",
    "test_an_adversary_comes_within_a_factor_of_50_of_the_bound",
    "test_any_element_is_converted_as_the_definition_says",
    "test_any_order_of_twenty_nodes_or_more_gives_the_same_bits",
    "test_arrays_round_as_python_does_to_double",
    "test_arrays_round_as_the_definition_says_at_ties_and_beside_them",
    "test_broadcast_is_that_of_xla",
    "test_broadcast_moves_any_bits_of_every_type",
    "test_broadcast_puts_new_dimensions_before_the_old_ones",
    "test_broadcast_reads_each_tensor_by_index_for_every_type",
    "test_check_call_answers_every_call_with_findings_that_can_be_printed",
    "test_clamp_is_its_definition_for_any_bits_and_shapes",
    "test_clamp_is_that_of_xla",
    "test_clip_agrees_on_every_triple_of_special_values",
    "test_clip_agrees_where_the_bounds_are_constants",
    "test_clip_and_clamp_differ_exactly_at_nan_bounds_and_signed_zeros",
    "test_clip_gives_the_input_or_a_bound_and_lies_between_them",
    "test_clip_is_idempotent",
    "test_clip_is_its_definition_by_cases_for_every_type_and_any_bits",
    "test_clip_is_monotone_in_its_input",
    "test_clip_of_every_length_is_its_definition",
    "test_clip_of_special_values_between_special_bounds_is_its_definition",
    "test_collapse_counts_the_collapsed_dimensions_the_last_one_fastest",
    "test_complex_numbers_are_converted_part_by_part",
    "test_concatenate_puts_operands_one_after_the_other",
    "test_concatenate_shows_few_of_thousands_of_operands",
    "test_constants_arrive_bit_for_bit",
    "test_conv_equals_seven_loops_bit_for_bit",
    "test_conv_is_additive_in_image_kernel_and_bias_over_the_reals",
    "test_conv_of_onnx_is_within_the_bound",
    "test_conv_with_general_padding_equals_n_loops_bit_for_bit",
    "test_convert_element_type_is_that_of_xla",
    "test_convolutions_of_floats_are_within_the_bound",
    "test_convolutions_of_floats_are_within_the_derived_bound_of_the_exact_result",
    "test_convolutions_of_integers_are_exact_and_wrap",
    "test_convolutions_of_integers_are_exactly_those_of_xla",
    "test_double_fma_of_any_bit_patterns_is_rounded_once",
    "test_elements_that_are_only_moved_keep_every_bit",
    "test_every_drawn_trial_obeys_every_rule_and_has_a_result_that_its_clauses_cover",
    "test_every_float_of_16_bits_reads_back_to_the_same_bits",
    "test_every_float_reads_back_to_the_same_bits",
    "test_every_graph_is_answered_with_findings_that_can_be_printed",
    "test_every_number_of_16_bits_is_converted_as_the_definition_says",
    "test_every_number_of_16_bits_reads_back_to_the_same_bits",
    "test_every_number_of_16_bits_rounds_to_itself_with_either_sign",
    "test_every_order_of_summation_lies_inside",
    "test_every_trap_is_rounded_once_as_the_definition_says",
    "test_every_trial_obeys_every_rule_and_has_a_result_that_its_clauses_cover",
    "test_expand_is_its_definition_whatever_the_axes",
    "test_expand_is_the_first_result_of_broadcast",
    "test_files_hold_plain_ascii_and_no_trigraph",
    "test_float_fma_of_any_bit_patterns_is_rounded_once",
    "test_floats_at_the_ends_of_an_integer_type_saturate",
    "test_floats_become_the_nearest_half_and_halfway_the_even_one",
    "test_fma_that_cancels_the_rounded_product_leaves_its_error",
    "test_general_padding_d1_demands_a_pair_for_each_dimension",
    "test_hexadecimal_floats_are_read_as_python_reads_them",
    "test_imports_follow_the_layers",
    "test_items_of_a_batch_do_not_see_each_other",
    "test_libm_agrees_on_200_000_random_bit_patterns",
    "test_many_nodes_with_one_long_name_are_emitted_in_bounded_time",
    "test_models_that_only_move_elements_give_the_same_bits",
    "test_networks_of_exact_sums_give_the_same_numbers",
    "test_no_convolution_lies_further_from_the_exact_one_than_its_bound",
    "test_no_damage_gets_lost_on_the_way",
    "test_no_decimal_with_fewer_digits_reads_back_to_the_same_bits",
    "test_no_kernel_of_conv_reaches_beside_an_array",
    "test_no_result_of_conv_lies_further_from_the_exact_one_than_its_bound",
    "test_odd_and_empty_convolutions_agree",
    "test_only_load_and_the_backend_know_protobuf",
    "test_other_numbers_become_complex_with_imaginary_part_zero",
    "test_products_and_sums_near_the_smallest_normal_number_are_within_the_bound_for_flushing",
    "test_python_agrees_on_double",
    "test_python_agrees_on_double_at_and_beside_ties",
    "test_random_models_have_the_bits_of_the_definitions",
    "test_reals_are_rounded_or_truncated_once",
    "test_rounding_goes_to_the_even_neighbour_at_a_tie_and_to_the_nearer_one_beside_it",
    "test_shapes_are_kept_and_the_operand_is_left_alone",
    "test_ten_thousand_findings_are_enough",
    "test_the_example_network_on_xla_is_within_the_derived_bound_of_the_exact_result",
    "test_the_function_load_is_not_hidden_by_the_folder_of_that_name",
    "test_the_onnx_conv_the_xla_conv_and_seven_loops_are_three_views_of_one",
    "test_the_quick_way_gives_the_bits_of_the_definition",
    "test_the_rules_answer_every_call_that_is_nearly_right",
    "test_the_shape_rule_of_clip_tells_type_and_shape_without_data",
    "test_trials_come_out_the_same_every_time",
    "test_what_is_lifted_to_the_reals_keeps_its_value_and_finds_the_way_back",
    "test_what_is_written_reads_back_to_the_same_bits",
    "test_what_obeys_the_rules_is_computed_and_has_the_shape_foretold",
    "test_where_copies_the_chosen_element_bit_for_bit",
    "test_where_moves_any_bits_of_every_type",
    "test_where_of_every_length_is_its_definition",
    "test_where_of_x_and_x_is_x_whatever_the_condition",
    "test_without_any_one_of_its_safeguards_fma_fails_on_the_traps",
    "test_zeros_between_and_around_elements_are_multiplied",
}


# Programs started in the background of a shell are deaf to interrupts, and so are those that they start; here
# they must hear them.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _kernels_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    root = tmp_path_factory.getbasetemp()
    # Workers of one session share what they compile.
    shared = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SONNX_CACHE_DIR", str(shared / "kernels"))
        yield


def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Forget what covered modules keep where a measured test follows one that is not: it fills it again."""
    measured = not item.get_closest_marker("no_cover")
    if measured and item.config.stash.get(UNMEASURED_BEFORE, False):
        for name, module in list(sys.modules.items()):
            if name.startswith(COVERED):
                for kept in vars(module).values():
                    if isinstance(kept, _lru_cache_wrapper):
                        kept.cache_clear()
    item.config.stash[UNMEASURED_BEFORE] = not measured


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with proofs, so that none is left alone at the end; measure only what is measured first."""
    items.sort(key=lambda item: item.path.relative_to(TESTS).parts[0] != "prove")
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if folder not in MEASURED or getattr(item, "originalname", item.name) in LONG:
            item.add_marker("no_cover")
