"""The bridge to nbgrader: a course directory of ours, and marks of record in its gradebook."""
