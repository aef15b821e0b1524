"""The recipe for Kubernetes: its commands do what the page says, and its files what they need."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from handed_in import filled, laid_down, solution

RECIPE = Path(__file__).parents[1] / "docs" / "kubernetes"
JOBS = {name: yaml.safe_load((RECIPE / f"{name}.yaml").read_text()) for name in ("grade", "merge")}


def pod(name):
    return JOBS[name]["spec"]["template"]["spec"]


def expanded(text, known):
    """What becomes of a container's argument: $(NAME) if the name is known, and $$ is one."""

    def replaced(found):
        return "$" if found[0] == "$$" else known.get(found[1], found[0])

    return re.sub(r"\$\$|\$\(([^)]*)\)", replaced, text)


@pytest.fixture
def volumes(tmp_path):
    """What is mounted, with three learners' submissions."""
    for number, source in enumerate((None, "", "def answer(call, tools): return None")):
        notebook = solution() if source is None else filled(solution(), answer=source)
        laid_down(notebook, tmp_path / "submitted", f"learner {number}")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "seed").write_text("a secret of sixteen bytes and more")
    (tmp_path / "grades").mkdir()
    return tmp_path


def begun(name, folder, index=0):
    """A container's very command, begun with these volumes in the place of the mounted ones."""
    (container,) = pod(name)["containers"]
    known = {"JOB_COMPLETION_INDEX": str(index)}
    argv = [expanded(each, known) for each in (*container["command"], *container["args"])]
    mounted = {each["mountPath"] for each in container["volumeMounts"]} - {"/tmp"}
    for path in mounted:
        argv = [each.replace(f"{path}/", f"{folder}{path}/") for each in argv]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    known |= {"PATH": path, "HOME": str(folder)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(argv, env=known, start_new_session=True, **pipes)


def done(name, folder, index=0):
    run = begun(name, folder, index)
    said = run.communicate(timeout=120)[0]
    assert run.returncode == 0, said


def test_the_shards_of_the_job_together_are_the_whole(volumes):
    shards = JOBS["grade"]["spec"]["completions"]
    killed = begun("grade", volumes, 0)
    kept, until = volumes / "grades" / "part0.csv.kept.jsonl", time.monotonic() + 60
    while not kept.exists() and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    for index in range(shards):
        done("grade", volumes, index)
    done("merge", volumes)
    files = sorted(map(str, (volumes / "submitted").glob("*/*/*.ipynb")))
    at_once = [sys.executable, "-c", "from harness_zero.cli import main; main()", "grade", *files]
    seed, out = volumes / "secret" / "seed", volumes / "at_once.csv"
    subprocess.run([*at_once, "--secret", seed, "--out", out], check=True, capture_output=True)
    assert (volumes / "grades" / "grades.csv").read_bytes() == out.read_bytes()
    assert out.read_text("utf-8").count("\n") == 4
    assert len([*(volumes / "grades" / "feedback").iterdir()]) == 3


def test_each_index_is_a_shard_and_none_is_left_out():
    spec, (container,) = JOBS["grade"]["spec"], pod("grade")["containers"]
    assert spec["completionMode"] == "Indexed" and spec["parallelism"] <= spec["completions"]
    assert f'INDEX + 1))/{spec["completions"]}"' in container["args"][0]
    assert "backoffLimitPerIndex" in spec and pod("grade")["restartPolicy"] == "Never"


def test_a_pod_that_grades_may_do_what_bubblewrap_needs_and_no_more():
    (container,), around = pod("grade")["containers"], pod("grade")["securityContext"]
    assert container["securityContext"]["procMount"] == "Unmasked"
    assert pod("grade")["hostUsers"] is False  # or such a /proc is refused
    assert around["runAsNonRoot"] and not container["securityContext"]["allowPrivilegeEscalation"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("name", JOBS)
def test_what_is_mounted_is_there(name):
    there = {each["name"] for each in pod(name)["volumes"]}
    assert {each["name"] for each in pod(name)["containers"][0]["volumeMounts"]} == there


def test_nobody_else_reads_the_seed():
    (seed,) = [each["secret"] for each in pod("grade")["volumes"] if each["name"] == "seed"]
    assert seed["defaultMode"] == 0o440


def test_the_image_is_made_of_what_is_here():
    lines = (RECIPE / "Containerfile").read_text().splitlines()
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]
    assert {"harness_zero", "chapters", "solutions"} <= {*copied}
    assert all((RECIPE.parents[1] / each).exists() for each in copied)
    assert {pod(name)["containers"][0]["image"] for name in JOBS} == {"harness-zero"}
