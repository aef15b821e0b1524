"""Show code as it stands, coloured."""

from harness_zero.notebook.faces import Shown, coloured
from harness_zero.notebook.source import APART, Code, NoSource, source


def show(*code: Code) -> Shown:
    """Show the source of functions, classes or modules, one under the other."""
    if not code:
        raise NoSource("there is nothing to show: name a function, a class or a module")
    sources = [source(each) for each in code]
    pages = ["\n".join(coloured(source)) for source in sources]
    page = "\n".join(f"<pre>{page}</pre>" for page in pages)
    return Shown(APART.join(sources), f'<div class="hz-code">\n{page}\n</div>')
