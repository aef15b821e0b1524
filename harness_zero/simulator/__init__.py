"""The offline Messages API: what the real SDK talks to when there is no key."""
