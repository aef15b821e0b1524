"""Import this before nbformat, and importing nbformat takes a tenth of the time.

jsonschema loads a grammar of internationalised addresses (rfc3987_syntax) for a
format that no notebook uses. Saying that the package is absent is enough: jsonschema
does without. pytest loads this module first (`addopts` in pyproject.toml), since the
plugin nbval imports nbformat before any conftest is read.
"""

import sys

sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
