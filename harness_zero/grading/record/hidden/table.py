"""The table: which exercise is tried with which hidden cases, and which of its promises each tries.

A case is a function of a chance and an answer. It tells what the answer did, as far as that is
promised; the answer passes if that is what ours did.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness_zero.grading.record.hidden import detection as detect
from harness_zero.grading.record.hidden import flights as fly
from harness_zero.grading.record.hidden import (
    layers,
    policies,
    requests,
    results,
    steps,
    turns,
    values,
)
from harness_zero.grading.record.hidden.drawing import Chance

TIMES = 5  # a case is drawn
FEW = 3  # flights


@dataclass(frozen=True)
class Trial:
    """A hidden case of an exercise."""

    case: Callable[[Chance, Any], Any]
    promise: str  # of the exercise, that a failure is about
    times: int = TIMES
    flown: bool = False


def flight(exercise: str, fit: fly.Fit, promise: str, *given: Any, **limits: Any) -> Trial:
    """Hidden flights of an exercise."""
    return Trial(fly.flown(exercise, fit, *given, **limits), promise, FEW, flown=True)


HIDDEN: dict[str, tuple[Trial, ...]] = {
    # lab 00
    "answer": (
        Trial(results.answered, "what_it_holds_is_text", 6),
        flight(
            "answer", fly.as_answer, "the_result_carries_the_id_of_the_call", personas=fly.PLAIN
        ),
    ),
    "next_array": (Trial(results.goes_on, "it_ends_with_all_results_in_one_message", 6),),
    # lab 01
    "act": (
        Trial(
            results.in_order,
            "all_calls_of_a_reply_are_answered_in_one_message_in_call_order",
        ),
        flight("act", fly.lab01.around, "each_call_is_made_once", personas=fly.PLAIN),
    ),
    "run": (
        Trial(turns.plays(), "the_model_is_sent_all_that_was_said"),
        Trial(turns.played_long, "it_counts_no_rounds", 1),
        flight("run", fly.itself, "the_run_goes_on_as_long_as_the_model_asks", personas=fly.PLAIN),
    ),
    "pairing_fault": (Trial(results.paired, "a_call_without_its_result_is_named", 12),),
    "act_at_once": (
        Trial(results.acted, "all_calls_of_a_reply_are_answered_in_one_message_in_call_order", 2),
        Trial(results.at_once, "the_calls_run_at_the_same_time", 2),
    ),
    # lab 02
    "close_calls": (
        Trial(results.closed, "each_result_says_that_its_call_was_not_executed_and_why"),
        flight(
            "close_calls",
            fly.as_close_calls,
            "every_call_of_the_reply_is_answered_in_order",
            personas=fly.PLAIN,
            max_rounds=(1, 4),
        ),
    ),
    "run_with_limit": (
        Trial(turns.played_with_limit, "the_model_speaks_as_often_as_the_limit_says_at_most"),
        flight(
            "run_with_limit",
            fly.itself,
            "what_the_last_reply_asks_for_is_answered_not_executed",
            personas=fly.PLAIN,
            max_rounds=(2, 8),
        ),
    ),
    "run_with_brakes": (
        Trial(turns.plays(), "the_model_is_sent_all_that_was_said", 2),
        Trial(
            turns.played_with_brakes,
            "a_brake_holds_before_the_tools_run_and_leaves_an_array_that_can_go_on",
        ),
        flight(
            "run_with_brakes",
            fly.itself,
            "the_deadline_goes_by_the_clock_that_was_given",
            personas=fly.PLAIN,
            seconds=(10, 90),
        ),
    ),
    "affordable": (Trial(values.affordable, "it_leaves_as_much_room_as_there_is", 40),),
    # lab 03
    "report": (Trial(results.reported, "it_says_what_the_error_says", 6),),
    "excerpt": (Trial(results.cut, "it_says_how_many_characters_are_missing", 8),),
    "answer_or_report": (
        Trial(results.answered, "what_it_holds_is_text"),
        Trial(results.failing, "an_exception_is_told_by_its_kind_and_its_words"),
        Trial(
            results.unknown_tool,
            "an_unknown_tool_is_an_error_that_names_it_and_the_tools_there_are",
        ),
        Trial(results.misfit, "a_call_with_wrong_arguments_is_not_made"),
        Trial(results.long_output, "a_long_output_is_cut_and_says_so", 1),
        flight(
            "answer_or_report",
            fly.as_answer_or_report,
            "a_call_that_fails_is_made_once",
            fly.FAULTY,
        ),
    ),
    "read_file": (
        Trial(
            results.file_read,
            "of_many_files_it_names_twenty_and_says_how_many_there_are",
            10,
        ),
    ),
    # lab 04
    "ending": (
        Trial(values.ended_with(), "what_nobody_has_heard_of_is_unknown"),
        Trial(
            values.ended_with("end_turn", "stop_sequence"),
            "an_answer_that_says_nothing_is_empty",
            12,
        ),
        Trial(
            values.ended_with("max_tokens", "refusal", "model_context_window_exceeded"),
            "a_reply_that_was_cut_is_truncated_whatever_is_in_it",
        ),
        Trial(
            values.ended_with("tool_use", "tool_use", "pause_turn"),
            "a_reason_that_contradicts_its_blocks_is_unknown",
            8,
        ),
        flight("ending", fly.as_ending, "an_answer_is_finished"),
    ),
    "labelled": (
        Trial(turns.plays(turns.ends_somehow), "every_exit_says_its_name"),
        Trial(turns.played_with_brakes, "a_limit_names_itself"),
        flight("labelled", fly.itself, "every_exit_says_its_name", max_rounds=(3, 12)),
    ),
    "patient_run": (
        Trial(turns.played_patiently, "patience_has_an_end", 6),
        Trial(turns.plays(turns.ends_somehow), "every_other_end_is_an_end"),
        flight("patient_run", fly.itself, "an_empty_reply_is_nudged_and_never_sent_back"),
    ),
    "ask_larger": (Trial(values.larger, "a_cut_reply_is_asked_for_again_with_the_next_limit", 8),),
    # lab 05
    "structural_stop": (
        Trial(policies.stops, "every_ending_of_a_reply_ends_the_turn_by_its_name", 10),
        flight(
            "structural_stop",
            fly.in_halves("structural_stop"),
            "as_long_as_calls_wait_nothing_ends",
        ),
    ),
    "brakes": (
        Trial(policies.brakes_hold, "each_brake_names_itself", 10),
        flight("brakes", fly.in_halves("brakes"), "each_brake_names_itself", max_rounds=(2, 8)),
    ),
    "first_of": (
        Trial(policies.joined, "all_that_speak_are_heard_in_order", 16),
        flight("first_of", fly.in_halves("first_of"), "the_first_end_decides", max_rounds=(3, 9)),
    ),
    "until_end": (
        Trial(policies.loops, "the_policy_is_asked_before_every_message_once", 6),
        flight(
            "until_end",
            fly.in_halves("until_end"),
            "an_end_holds_before_the_tools_run",
            max_rounds=(3, 9),
        ),
    ),
    "two_halves": (
        Trial(turns.plays(turns.ends_somehow), "the_label_comes_back_beside_the_messages"),
        Trial(turns.played_with_brakes, "it_keeps_what_the_loop_of_lab_04_promises"),
        flight(
            "two_halves",
            fly.itself,
            "a_model_that_fails_leaves_the_run_in_your_hands",
            (*fly.FAULTY, *fly.LOST),
            max_rounds=(4, 16),
        ),
    ),
    # lab 06
    "window": (
        Trial(policies.in_window, "size_and_times_are_its_arguments", 30),
        flight("window", fly.as_window, "what_is_older_than_five_calls_is_forgotten"),
    ),
    "fingerprint": (Trial(detect.known_again, "noise_does_not_belong_to_it", 6),),
    "circle": (Trial(values.sequence, "the_circle_that_was_gone_through_most_often_counts", 30),),
    "repetition": (
        Trial(detect.works, "where_something_new_comes_back_it_is_silent", 1),
        Trial(detect.circles, "circles_of_two_three_and_four_are_stopped", 2),
        Trial(detect.fails_again, "wednesday_is_stopped_whatever_is_edited", 1),
        Trial(detect.waits, "pollers_is_its_argument", 3),
        Trial(
            fly.keeps_the_goals,
            "in_flights_it_has_not_seen_it_keeps_the_goals_and_saves_rounds",
            2,
            flown=True,
        ),
        Trial(
            fly.saves_rounds,
            "in_flights_it_has_not_seen_it_keeps_the_goals_and_saves_rounds",
            1,
            flown=True,
        ),
    ),
    # lab 07
    "first_change": (Trial(requests.compared, "the_block_that_changed_is_named", 8),),
    "marked": (
        Trial(requests.read_from_the_cache, "every_round_reads_what_the_one_before_sent", 3),
        Trial(requests.head_read, "another_run_reads_the_head", 1),
        Trial(
            requests.marked_anew,
            "there_are_at_most_four_marks_and_the_old_ones_are_gone",
        ),
    ),
    "with_news": (Trial(requests.told_news, "behind_results_it_stands_in_the_last_one", 8),),
    "compact": (Trial(requests.cut_down, "no_call_is_parted_from_its_result", 8),),
    # lab 08
    "verifier": (Trial(policies.verified, "a_check_that_fails_comes_back_as_words", 16),),
    "output_type": (Trial(policies.typed, "after_so_many_tries_it_is_over", 30),),
    "stop_hook": (
        Trial(policies.vetoed, "so_many_vetoes_in_a_row_and_no_more", 30),
        flight("stop_hook", fly.as_stop_hook, "only_finished_can_be_vetoed", max_rounds=(3, 12)),
    ),
    "judge": (Trial(policies.judged, "whatever_is_no_yes_comes_back_as_words", 12),),
    # lab 09
    "entries": (Trial(steps.lines_read, "a_torn_last_line_is_left_out", 6),),
    "in_doubt": (Trial(steps.doubtful, "what_is_not_safe_is_not_called", 8),),
    "journal": (Trial(steps.stepped, "what_is_recorded_is_not_made_again", 6),),
    "journaled": (
        Trial(steps.journaled, "nothing_that_is_recorded_is_made_again", 3),
        flight("journaled", fly.as_journaled, "of_what_is_in_doubt_the_model_is_told", ("killed",)),
    ),
    # lab 10
    "may_pass": (Trial(values.status_judged, "a_wrong_request_stays_wrong", 30),),
    "retried": (
        Trial(steps.asked_again, "a_failure_that_may_pass_is_asked_again", 8),
        flight(
            "retried",
            fly.in_all_together("retried"),
            "it_waits_as_long_as_the_server_says",
            fly.LOST,
        ),
    ),
    "key": (Trial(steps.keyed, "its_parts_do_not_run_together", 6),),
    "once": (Trial(steps.made_once, "a_known_key_makes_nothing_and_gets_the_same_answer", 6),),
    # lab 11
    "verdict": (Trial(values.ruled, "the_strictest_rule_counts", 16),),
    "permission": (
        Trial(layers.permitted, "somebody_is_asked_about_the_rest", 16),
        flight("permission", fly.as_permission, "what_is_denied_is_not_made"),
    ),
    "pool": (
        Trial(layers.paid_from, "what_a_call_costs_is_taken_out", 6),
        flight("pool", fly.in_all_together("pool"), "whoever_is_paid_shares_it"),
    ),
    "all_together": (
        Trial(turns.plays(), "it_keeps_what_the_run_of_lab_05_promises", 2),
        flight(
            "all_together",
            fly.all_limits,
            "what_may_pass_is_tried_again",
            (*fly.FAULTY, *fly.LOST),
            max_rounds=(4, 16),
        ),
        flight(
            "all_together",
            fly.all_given,
            "what_is_denied_is_not_made_and_the_run_goes_on",
            max_rounds=(8, 16),
        ),
        flight(
            "all_together", fly.resumed, "wherever_it_is_killed_each_note_is_made_once", ("killed",)
        ),
    ),
}
NONE = {  # exercises without hidden cases that are no diagnoses, and why
    "conversation": "it takes nothing, and what it holds is promised word by word",
    "judged": "it takes nothing; its facts are those that the notebook tells",
}
