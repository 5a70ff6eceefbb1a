"""Kernels that tests compile are kept in a folder of the session, never in the user's; what is measured."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
# Measuring which branches are taken doubles the time of a test. Those that must be covered are all taken in
# these folders, without the long tests below; the report says so when that is no longer true.
MEASURED = {
    *("check", "drawing", "emit", "evaluate", "normalize", "numeric", "operators", "stablehlo", "xla"),
}
LONG = {
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
    "test_check_call_answers_every_call_with_findings_that_can_be_printed",
    "test_clip_agrees_on_every_triple_of_special_values",
    "test_clip_and_clamp_differ_exactly_at_nan_bounds_and_signed_zeros",
    "test_clip_is_monotone_in_its_input",
    "test_complex_numbers_are_converted_part_by_part",
    "test_concatenate_shows_few_of_thousands_of_operands",
    "test_conv_with_general_padding_equals_n_loops_bit_for_bit",
    "test_convolutions_of_floats_are_within_the_bound",
    "test_convolutions_of_integers_are_exact_and_wrap",
    "test_every_graph_is_answered_with_findings_that_can_be_printed",
    "test_every_number_of_16_bits_is_converted_as_the_definition_says",
    "test_every_number_of_16_bits_reads_back_to_the_same_bits",
    "test_every_number_of_16_bits_rounds_to_itself_with_either_sign",
    "test_every_trap_is_rounded_once_as_the_definition_says",
    "test_fma_that_cancels_the_rounded_product_leaves_its_error",
    "test_general_padding_d1_demands_a_pair_for_each_dimension",
    "test_libm_agrees_on_200_000_random_bit_patterns",
    "test_models_that_only_move_elements_give_the_same_bits",
    "test_networks_of_exact_sums_give_the_same_numbers",
    "test_no_damage_gets_lost_on_the_way",
    "test_no_result_of_conv_lies_further_from_the_exact_one_than_its_bound",
    "test_odd_and_empty_convolutions_agree",
    "test_other_numbers_become_complex_with_imaginary_part_zero",
    "test_reals_are_rounded_or_truncated_once",
    "test_rounding_goes_to_the_even_neighbour_at_a_tie_and_to_the_nearer_one_beside_it",
    "test_ten_thousand_findings_are_enough",
    "test_the_function_load_is_not_hidden_by_the_folder_of_that_name",
    "test_the_onnx_conv_the_xla_conv_and_seven_loops_are_three_views_of_one",
    "test_the_rules_answer_every_call_that_is_nearly_right",
    "test_what_obeys_the_rules_is_computed_and_has_the_shape_foretold",
    "test_without_any_one_of_its_safeguards_fma_fails_on_the_traps",
}


@pytest.fixture(autouse=True, scope="session")
def _kernels_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    root = tmp_path_factory.getbasetemp()
    # Workers of one session share what they compile.
    shared = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SONNX_CACHE_DIR", str(shared / "kernels"))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with proofs, so that none is left alone at the end; measure only what is measured first."""
    items.sort(key=lambda item: item.path.relative_to(TESTS).parts[0] != "prove")
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if folder not in MEASURED or getattr(item, "originalname", item.name) in LONG:
            item.add_marker("no_cover")
