"""The flight simulator: personas that fly worlds, so that a harness shows what it is worth."""
