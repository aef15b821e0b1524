"""Readers: what other tools wrote down of their agents, in the shapes of this course."""
