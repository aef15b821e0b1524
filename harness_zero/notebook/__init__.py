"""What the notebooks show: runs, source, diagrams, predictions, checks of the learner's work."""

from harness_zero.containment import notebook_shell
from harness_zero.flight.fly import flight, fly
from harness_zero.notebook.bench import detector_bench
from harness_zero.notebook.cache_lens import cache_lens
from harness_zero.notebook.case import case
from harness_zero.notebook.check import check
from harness_zero.notebook.course_map import course_map
from harness_zero.notebook.crash_lab import crash_lab
from harness_zero.notebook.diagram import diagram
from harness_zero.notebook.diff import show_diff
from harness_zero.notebook.events import event_tree
from harness_zero.notebook.harness_map import harness_map
from harness_zero.notebook.lines import show_messages
from harness_zero.notebook.mine import mine, my_harness
from harness_zero.notebook.offline import offline_api
from harness_zero.notebook.predict import predict
from harness_zero.notebook.progress import chapter_read, progress
from harness_zero.notebook.project import project
from harness_zero.notebook.repair import repair
from harness_zero.notebook.show import show
from harness_zero.notebook.step import step
from harness_zero.notebook.survival import survival
from harness_zero.watch import record, watch

__all__ = [
    "cache_lens",
    "case",
    "chapter_read",
    "check",
    "course_map",
    "crash_lab",
    "detector_bench",
    "diagram",
    "event_tree",
    "flight",
    "fly",
    "harness_map",
    "mine",
    "my_harness",
    "offline_api",
    "predict",
    "progress",
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

if shell := notebook_shell():  # a kernel that does not read our configuration
    shell.extension_manager.load_extension("harness_zero.kernel")
