"""Who proposes an effect is not who makes it real."""

import json

import pytest

from harness_zero.assembly import assemble
from harness_zero.doubt import fingerprint
from harness_zero.effects import Applier, Outbox, Proposal, executor
from harness_zero.journal import Journal
from harness_zero.messages import reply, tool_use
from harness_zero.models.scripted import scripted
from harness_zero.run import Run


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "project"
    place.mkdir()
    (place / "price.py").write_text("PRICE = 1\n")
    return place


@pytest.fixture
def outbox(tmp_path):
    return Outbox(tmp_path / "outbox")


def applier(folder, outbox, approved=lambda proposal: True, check=lambda copy: None):
    return Applier(folder, outbox, approved, check)


def proposed(folder, outbox, text="PRICE = 2\n", path="price.py"):
    """The reference under which an executor proposes this."""
    return executor(folder, outbox)["propose_edit"](path, text).split()[2].rstrip(";")


def test_the_executor_makes_nothing_real(folder, outbox):
    proposed(folder, outbox)
    assert (folder / "price.py").read_text() == "PRICE = 1\n"


def test_the_applier_makes_it_real_once(folder, outbox):
    reference, applying = proposed(folder, outbox), applier(folder, outbox)
    assert applying.apply(reference) == f"{reference}: applied to price.py"
    (folder / "price.py").write_text("PRICE = 1\n")  # somebody takes it back
    assert applying.apply(reference) == f"{reference}: applied before; it is not applied again"
    assert (folder / "price.py").read_text() == "PRICE = 1\n"


def test_the_same_proposal_has_the_same_reference_whoever_makes_it_and_when(folder, outbox):
    first = proposed(folder, outbox)
    proposed(folder, outbox, "PRICE = 3\n")
    assert proposed(folder, outbox) == first
    assert len(outbox.references) == 2


def test_what_nobody_proposed_is_refused(folder, outbox):
    assert "nobody proposed this" in applier(folder, outbox).apply("0123456789ab")
    assert "nobody proposed this" in applier(folder, outbox).apply("../project/price.py")


def test_a_proposal_that_was_changed_under_its_reference_is_refused(folder, outbox):
    reference = proposed(folder, outbox)
    kept = json.loads((outbox.place / reference).read_text())
    (outbox.place / reference).write_text(json.dumps({**kept, "text": "PRICE = 0\n"}))
    assert "not what was proposed" in applier(folder, outbox).apply(reference)


def test_an_edit_of_a_file_that_has_changed_since_is_refused(folder, outbox):
    reference = proposed(folder, outbox)
    (folder / "price.py").write_text("PRICE = 7\n")
    assert "no longer what the edit was based on" in applier(folder, outbox).apply(reference)
    assert (folder / "price.py").read_text() == "PRICE = 7\n"


def test_without_the_appliers_own_approval_nothing_happens(folder, outbox):
    reference = proposed(folder, outbox)
    refusing = applier(folder, outbox, approved=lambda proposal: False)
    assert "nobody has approved it" in refusing.apply(reference)


def test_the_applier_runs_the_check_itself_on_a_copy_and_what_fails_does_not_happen(folder, outbox):
    seen = []

    def check(copy):
        seen.append((copy / "price.py").read_text())
        return "1 test failed"

    reference = proposed(folder, outbox)
    assert applier(folder, outbox, check=check).apply(reference).endswith("1 test failed")
    assert seen == ["PRICE = 2\n"]
    assert (folder / "price.py").read_text() == "PRICE = 1\n"


def test_what_leads_outside_the_folder_is_refused(folder, outbox):
    reference = outbox.put(Proposal("../else.py", "", based_on=""))
    assert "leads outside the folder" in applier(folder, outbox).apply(reference)
    assert not (folder.parent / "else.py").exists()


def test_a_run_that_is_replayed_proposes_nothing_twice_and_nothing_is_applied_twice(
    folder, outbox, tmp_path
):
    def played():
        model = scripted(
            reply(tool_use("c1", "propose_edit", path="price.py", text="PRICE = 2\n")),
            reply("It is proposed."),
        )
        with Journal(tmp_path / "journal") as journal:
            return assemble(model, executor(folder, outbox), journal=journal)(Run("Raise it."))

    applying = applier(folder, outbox)
    for _ in range(2):
        played()
        told = [applying.apply(reference) for reference in outbox.references]
    assert told == [f"{outbox.references[0]}: applied before; it is not applied again"]


def test_an_applier_that_is_started_anew_still_refuses_what_has_happened(folder, outbox):
    reference = proposed(folder, outbox)
    applier(folder, outbox).apply(reference)
    assert "no longer what the edit was based on" in applier(folder, outbox).apply(reference)


@pytest.mark.parametrize("path", ["", "sub", "data.bin", "a\0b", "price.py/x", "x" * 300])
def test_where_no_text_can_stand_the_edit_is_refused_in_a_sentence(folder, outbox, path):
    (folder / "sub").mkdir()
    (folder / "data.bin").write_bytes(b"\xff\xfe")
    reference = outbox.put(Proposal(path, "PRICE = 2\n", fingerprint("")))
    assert applier(folder, outbox).apply(reference).startswith(f"{reference}: refused: ")


@pytest.mark.parametrize("written", ['{"path": "pri', '{"a": 1}', "[]", b"\xff"])
def test_what_is_half_written_in_the_outbox_was_not_proposed_until_it_is_again(
    folder, outbox, written
):
    reference = proposed(folder, outbox)
    place = outbox.place / reference
    place.write_bytes(written if isinstance(written, bytes) else written.encode())
    assert "nobody proposed this" in applier(folder, outbox).apply(reference)
    assert proposed(folder, outbox) == reference
    assert applier(folder, outbox).apply(reference).endswith("applied to price.py")


def test_a_check_that_breaks_is_no_evidence(folder, outbox):
    reference = proposed(folder, outbox)
    told = applier(folder, outbox, check=lambda copy: 1 / 0).apply(reference)
    assert told == f"{reference}: refused: ZeroDivisionError: division by zero"
    assert (folder / "price.py").read_text() == "PRICE = 1\n"


def test_a_link_that_leads_nowhere_keeps_nobody_from_trying_an_edit(folder, outbox):
    (folder / "old.py").symlink_to("gone.py")
    assert applier(folder, outbox).apply(proposed(folder, outbox)).endswith("applied to price.py")


def test_a_files_own_line_ends_are_read_and_stay(folder, outbox):
    (folder / "price.py").write_bytes(b"PRICE = 1\r\nTAX = 0\r\n")
    text = executor(folder, outbox)["read_file"]("price.py").replace("1", "2")
    applier(folder, outbox).apply(proposed(folder, outbox, text))
    assert (folder / "price.py").read_bytes() == b"PRICE = 2\r\nTAX = 0\r\n"
