"""Duda, Hart & Stork, chapter 5: computer exercises 1-12, examples 1 and 2, section 5.7, and eleven problems.

Claim: the procedures of the chapter do on its own data what the text says, and the exercises have these answers. Where
the text leaves something open (a criterion, a rate, blanks), the report says what was taken. Misprints are corrected.
"""

from collections.abc import Callable
from importlib import import_module

from separatrix.reproductions.outcome import Report

WHERE = {
    "example 1": "squared_error_problems.example_1",
    "example 2": "svm.example_2",
    "1": "descent_problems.exercise_1",
    "2": "perceptron_problems.exercise_2",
    "3": "perceptron_problems.exercise_3",
    "4": "perceptron_problems.exercise_4",
    "5": "perceptron_problems.exercise_5",
    "6": "winnow_problems.exercise_6",
    "7": "relaxation_problems.exercise_7",
    "8": "relaxation_problems.exercise_8",
    "9": "ho_kashyap_problems.exercise_9",
    "10": "squared_error_problems.exercise_10",
    "11": "svm.exercise_11",
    "12": "multicategory.exercise_12",
    "section 5.7": "small_problems.section_5_7",
    "problem 2": "small_problems.problem_2",
    "problem 4": "small_problems.problem_4",
    "problem 11": "svm.problem_11",
    "problem 13": "squared_error_problems.problem_13",
    "problem 15": "small_problems.problem_15",
    "problem 16": "small_problems.problem_16",
    "problem 23": "small_problems.problem_23",
    "problem 25": "squared_error_problems.problem_25",
    "problem 28": "small_problems.problem_28",
    "problem 29": "svm.problem_29",
    "problem 32": "squared_error_problems.problem_32",
}


def part(name: str) -> Callable[[Report], None]:
    module, function = WHERE[name].split(".")
    return getattr(import_module(f"separatrix.reproductions.dhs.{module}"), function)


def reproduce(exercise: int | None = None) -> Report:
    """All parts, or one computer exercise."""
    report = Report(
        "dhs",
        "Duda, Hart & Stork, chapter 5",
        "Computer exercises 1-12 on the table of the book, examples 1 and 2, section 5.7, and problems 2, 4, 11, 13, "
        "15, 16, 23, 25, 28, 29 and 32. The answers are computed; where the text leaves something open, it is said "
        "what was taken.",
    )
    for name in WHERE if exercise is None else [str(exercise)]:
        part(name)(report)
    return report
