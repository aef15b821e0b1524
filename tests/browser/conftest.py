"""JupyterLab as a learner starts it, and a browser that cannot leave the machine."""

import json
import os
import socket
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
PATIENCE = 90  # seconds
AT_HOME = ("http://127.0.0.1:", "data:", "blob:")
KERNEL_IS_IDLE = """() => {
    const session = window.jupyterapp?.shell.currentWidget?.context?.sessionContext;
    const kernel = session?.session?.kernel;
    return session?.isReady && kernel?.connectionStatus === 'connected' && kernel.status === 'idle';
}"""
# A cell that is meant to raise fulfils run-all's promise while later cells are still in the
# kernel's queue; an empty request after them has its answer when they have theirs.
RUN_ALL = """() => {
    window.allRan = false;
    const kernel = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel;
    window.jupyterapp.commands.execute('notebook:run-all-cells')
        .then(() => kernel.requestExecute({code: '', silent: true}).done)
        .then(() => { window.allRan = true; });
}"""
CONTENT = "() => window.jupyterapp.shell.currentWidget.context.model.toJSON()"
HEIGHT = """() => {
    document.querySelector('.jp-Notebook .jp-WindowedPanel-outer').scrollTop = 0;
    return document.querySelector('.jp-Notebook-footer').getBoundingClientRect().bottom + 60;
}"""
CHANGE_THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
THEME_IS = "light => document.body.dataset.jpThemeLight === light"


@dataclass
class Screen:
    """A page that shows JupyterLab, and what it did that it should not."""

    page: Any
    address: str
    outside: list[str] = field(default_factory=list)  # requests that wanted to leave the machine
    errors: list[str] = field(default_factory=list)  # of the page's own scripts

    def open(self, name):
        """Open a notebook and wait for its kernel; running it sooner pops up a question."""
        self.page.goto(self.address.format(name), timeout=PATIENCE * 1000)
        self.wait_for(KERNEL_IS_IDLE)

    def run(self):
        """Run all cells to the end; gives back the notebook as JupyterLab would save it."""
        self.page.evaluate(RUN_ALL)
        self.wait_for("() => window.allRan")
        return self.page.evaluate(CONTENT)

    def texts(self):
        """What stands in the outputs, as a reader sees it."""
        return "\n".join(self.page.locator(".jp-OutputArea-output").all_inner_texts())

    def shows(self, selector, times):
        """Wait until the page shows this so many times."""
        from playwright.sync_api import expect

        expect(self.page.locator(selector)).to_have_count(times, timeout=15_000)

    def turn(self, theme):
        """Change JupyterLab's theme to Light or Dark."""
        self.page.evaluate(CHANGE_THEME, f"JupyterLab {theme}")
        self.wait_for(THEME_IS, arg=str(theme == "Light").lower())

    def faults(self):
        """What no page may do: ask for anything from outside, or fail in its own scripts."""
        return [*self.outside, *self.errors]

    def wait_for(self, condition, **given):
        self.page.wait_for_function(condition, timeout=PATIENCE * 1000, **given)

    def picture(self, name):
        """A screenshot of the whole notebook, if somebody wants pictures."""
        if folder := os.environ.get("SCREENSHOTS"):
            height = min(int(self.page.evaluate(HEIGHT)), 16_000)
            self.page.set_viewport_size({"width": 1360, "height": height})
            self.page.wait_for_timeout(300)
            self.page.screenshot(path=Path(folder) / f"{name}.png")


@pytest.fixture
def screen(browser, jupyterlab):
    """A fresh page of the running JupyterLab; nothing that it asks for leaves the machine."""
    with opened(browser, jupyterlab) as screen:
        yield screen


@contextmanager
def opened(browser, address):
    """A fresh page in a browser of its own; nothing that it asks for leaves the machine."""
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    screen = Screen(context.new_page(), address)

    def stay(route):
        if route.request.url.startswith(AT_HOME):
            return route.continue_()
        screen.outside.append(route.request.url)
        return route.abort()

    context.route("**/*", stay)
    screen.page.on("pageerror", lambda error: screen.errors.append(str(error)))
    yield screen
    context.close()


@pytest.fixture(scope="session")
def chromium(needs):
    """The path of a browser."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return needs(*names, to="browser tests", install="install Debian's package chromium")


@pytest.fixture(scope="module")
def browser(chromium):
    """A browser for one module: Playwright runs an event loop, beside which no other may start."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, headless=False, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def jupyterlab(chromium, tmp_path_factory):
    """The address of a notebook in a JupyterLab that runs as `make lab` starts it."""
    folder, token = tmp_path_factory.mktemp("learner"), uuid.uuid4().hex
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "harness_zero.cli", "lab", "--to", folder / "workspace"]
    command += ["--no-browser", "--ip=127.0.0.1", f"--port={port}"]
    command += [f"--IdentityProvider.token={token}", "--LabApp.expose_app_in_browser=True"]
    address = f"http://127.0.0.1:{port}"
    with serving(command, folder, f"{address}/api/status?token={token}"):
        yield f"{address}/lab/tree/{{}}?reset&token={token}"


@pytest.fixture(scope="session")
def serve():
    """Runs another server than the learner's JupyterLab."""
    return serving


@pytest.fixture
def another_screen(browser):
    """A fresh page that shows another server."""
    with opened(browser, "") as screen:
        yield screen


@contextmanager
def serving(command, folder, url, cwd=None):
    """Run a server in a learner's environment, from when it answers at this address."""
    log = folder / "jupyterlab.log"
    with log.open("w") as said:
        to = {"stdout": said, "stderr": said, "cwd": cwd}
        server = subprocess.Popen(command, env=environment(folder), **to)
    try:
        if not answers(url, server):
            pytest.fail(f"JupyterLab did not start: {log.read_text('utf-8')}", pytrace=False)
        yield
    finally:
        server.terminate()
        server.wait(timeout=30)


def answers(url, server):
    """Whether a server answers before it ends and before patience does."""
    end = time.monotonic() + PATIENCE
    while server.poll() is None and time.monotonic() < end:
        try:
            with urlopen(url, timeout=5):
                return True
        except OSError:
            time.sleep(0.1)
    return False


def environment(folder):
    """Without an author's keys and settings; all cells are in the page, scrolled to or not."""
    settings = folder / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    unwindowed = json.dumps({"windowingMode": "none"})
    (settings / "tracker.jupyterlab-settings").write_text(unwindowed, encoding="utf-8")
    own = ("ANTHROPIC_", "HARNESS_ZERO_", "JUPYTER")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    places = {f"JUPYTER_{what}_DIR": folder / what for what in ("CONFIG", "DATA", "RUNTIME")}
    places |= {"JUPYTERLAB_SETTINGS_DIR": folder / "settings", "IPYTHONDIR": folder / "ipython"}
    return kept | {name: str(place) for name, place in places.items()}
