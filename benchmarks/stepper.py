"""What the stepper costs: bytes and seconds to build, milliseconds a step and a jump in a browser.

    python benchmarks/stepper.py [rounds ...]

Bytes and counts are what the tests hold; seconds are what one machine showed.
"""

import json
import shutil
import sys
from itertools import product
from time import perf_counter

from harness_zero.messages import reply, tool_use
from harness_zero.models.scripted import scripted
from harness_zero.notebook.account import account
from harness_zero.notebook.payload import payload
from harness_zero.notebook.step import STATIC
from harness_zero.stages import s1_structural_stop
from harness_zero.watch import record

RESULT = "the same line of output, once more\n" * 60  # 2 KB
MOUNT = """async ([esm, css, payload]) => {
    document.head.append(Object.assign(document.createElement("style"), {textContent: css}));
    const blob = new Blob([esm], {type: "text/javascript"});
    const module = await import(URL.createObjectURL(blob));
    const model = {get: (name) => name === "payload" ? payload : undefined, set() {}};
    const began = performance.now();
    module.default.render({model, el: document.body});
    document.body.getBoundingClientRect();
    return performance.now() - began;
}"""
PRESS = """(key) => {
    const root = document.querySelector(".hz-step-button"), began = performance.now();
    root.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    document.body.getBoundingClientRect();
    return performance.now() - began;
}"""


def recording(rounds, code=False):
    """A run of so many rounds, each with a call and 2 KB that come back; and how long it took."""
    replies = [
        reply(tool_use(f"call_{n}", "read_file", path=f"src/part_{n}.py"), tokens=900, cost=0.004)
        for n in range(rounds)
    ]
    tools = {"read_file": lambda path: f"{path}\n{RESULT}"}
    model = scripted(*replies, reply("Done.", tokens=9))
    began = perf_counter()
    run = record(s1_structural_stop.run, model, tools, "Read everything.", code=code)
    return run, perf_counter() - began


def measure(page, rounds, code):
    """One line for a run of so many rounds, with its lines of code or without."""
    run, played = recording(rounds, code)
    began = perf_counter()
    sent = payload(account(run))
    built = perf_counter() - began
    size = len(json.dumps(sent, ensure_ascii=False).encode())
    whole = sum(n * len(RESULT) for n in range(rounds))  # every request as it was sent
    places = len(sent["code"]["steps"]) if code else len(sent["steps"])
    line = f"{rounds:>6}  {'lines' if code else '':<5}  {places:>6,}  {size / 1000:>8,.0f} KB"
    line += f"  {whole / 1e6:>9,.0f} MB  {played:>6.2f} s  {built:>6.2f} s"
    if page is None:
        return line
    page.set_content("<body></body>")
    opened = page.evaluate(MOUNT, [*(file(name) for name in ("js", "css")), sent])
    steps = [page.evaluate(PRESS, "ArrowRight") for _ in range(60)]
    end, home = page.evaluate(PRESS, "End"), page.evaluate(PRESS, "Home")
    page.evaluate(PRESS, "End")
    steps += [page.evaluate(PRESS, "ArrowLeft") for _ in range(60)]
    found = page.evaluate("document.querySelectorAll('.hz-step *').length")
    times = f"{opened:>5.0f} ms  {max(steps):>5.1f} ms  {end:>5.1f} ms  {home:>5.1f} ms"
    return f"{line}  {times}  {found:>6,}"


def file(kind):
    """The stepper's module or its styles."""
    return (STATIC / f"stepper.{kind}").read_text("utf-8")


def main():
    """Print a line for each number of rounds."""
    rounds = [int(n) for n in sys.argv[1:]] or [100, 1_000, 5_000]
    print(
        "rounds  code    steps      payload     as copies    played     built     open   slowest"
        "       end      home  elements"
    )
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        for n, code in product(rounds, (False, True)):
            print(measure(None, n, code))
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=chromium, headless=False, args=flags)
        for n, code in product(rounds, (False, True)):
            print(measure(browser.new_page(), n, code))
        browser.close()


if __name__ == "__main__":
    main()
