"""What the notebooks show: runs, source, diagrams, predictions, checks of the learner's work."""

from harness_zero.flight.fly import flight, fly
from harness_zero.notebook.check import check, repair
from harness_zero.notebook.course_map import course_map
from harness_zero.notebook.diagram import diagram
from harness_zero.notebook.diff import show_diff
from harness_zero.notebook.events import event_tree
from harness_zero.notebook.lines import show_messages
from harness_zero.notebook.predict import predict
from harness_zero.notebook.project import project
from harness_zero.notebook.show import show
from harness_zero.notebook.step import step
from harness_zero.notebook.survival import survival
from harness_zero.watch import record, watch

__all__ = [
    "check",
    "course_map",
    "diagram",
    "event_tree",
    "flight",
    "fly",
    "predict",
    "project",
    "record",
    "repair",
    "show",
    "show_diff",
    "show_messages",
    "step",
    "survival",
    "watch",
]
