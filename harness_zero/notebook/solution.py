"""Our solution and its reasons, for whoever has one of their own that passes."""

import json
from typing import Any

from harness_zero.grading.exercise import Exercise
from harness_zero.grading.holes import REASONS
from harness_zero.grading.references import COURSE, code, is_solution, notebook, solves, tags


def show_solution(exercise: Exercise) -> None:
    """Show how we solved it and why, folded; nothing where the solutions are not at hand."""
    from IPython.display import display

    path = notebook(exercise.name, COURSE)
    try:
        cells = json.loads(path.read_text("utf-8"))["cells"]
    except (OSError, ValueError):
        return
    source, reasons = solution_in(cells, exercise.name)
    inside = f"```python\n{source}\n```\n\n{reasons}"
    page = f"<details><summary>Our solution, and why</summary>\n\n{inside}\n</details>"
    text = "Our solution, and why, opens under this check in JupyterLab."
    display({"text/plain": text, "text/markdown": page}, raw=True)


def solution_in(cells: list[dict[str, Any]], name: str) -> tuple[str, str]:
    """The source of an exercise's solution, and the text tagged as its reasons that follows it."""
    at = next(n for n, cell in enumerate(cells) if solves(cell, name))
    after = next((n for n in range(at + 1, len(cells)) if is_solution(cells[n])), len(cells))
    reasons = [code(cell) for cell in cells[at:after] if REASONS in tags(cell)]
    return code(cells[at]), "\n\n".join(reasons)
