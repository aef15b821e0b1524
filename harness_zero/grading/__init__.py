"""Exercises, from both sides: labs made out of solutions, and marks for what learners hand in."""
