import pytest
from auth import Expired, log_in, who


def test_login():
    cookie = log_in("guest", now=1000)
    assert who(cookie, now=1060) == "guest"


def test_an_old_cookie_is_refused():
    cookie = log_in("guest", now=1000)
    with pytest.raises(Expired):
        who(cookie, now=1000 + 2 * 3600)
