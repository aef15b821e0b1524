"""Crashes: a harness is killed at any moment that one chooses, and resumed until it is done."""
