"""Read by every IPython kernel of the environment that Harness Zero is installed in."""

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.IPKernelApp.extensions.append("harness_zero.kernel")
