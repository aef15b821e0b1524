"""An agent loop small enough to own."""

__version__ = "0.1.0"
