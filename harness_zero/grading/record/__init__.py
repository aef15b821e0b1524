"""The grade of record: answers run in a process of their own, and are judged from outside of it."""
