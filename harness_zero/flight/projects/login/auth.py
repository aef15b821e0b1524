"""A cookie says who you are until it expires."""

HOUR = 3600


class Expired(Exception):
    """The cookie is no longer good."""


def log_in(name, now):
    """A cookie that is good for one hour."""
    return {"name": name, "expires": now - HOUR}


def who(cookie, now):
    """Whose cookie this is, while it is good."""
    if now >= cookie["expires"]:
        raise Expired(f"expired at {cookie['expires']}, it is {now}")
    return cookie["name"]
