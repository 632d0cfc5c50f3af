"""tools/results.py counts what ran, and takes nothing for a success that is not one."""

import importlib.util
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "results.py"

CMOCKA = """[==========] Running 3 test(s).
[       OK ] a
[  FAILED  ] b
[==========] 3 test(s) run.
[  PASSED  ] 1 test(s).
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] c
[  FAILED  ] 1 test(s), listed below:
[  FAILED  ] b
"""


@pytest.fixture
def results(tmp_path: Path):
    spec = importlib.util.spec_from_file_location("results", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.ROOT, module.FOLDER = tmp_path, tmp_path / "results"
    return module


def writes(xml: str, status: int = 0) -> list[str]:
    """A runner that leaves this JUnit file and exits with this status."""
    return [sys.executable, "-c", f"import sys; open(sys.argv[1], 'w').write({xml!r}); sys.exit({status})", "{junit}"]


def summed(results, capsys: pytest.CaptureFixture[str], make_status: int = 0) -> tuple[int, str]:
    capsys.readouterr()
    status = results.add_up(make_status)
    return status, capsys.readouterr().out.splitlines()[-1]


def test_counts_pytest_cases(results, capsys):
    cases = "<testcase name='a'/><testcase name='b'><skipped/></testcase><testcase name='c'><failure/></testcase>"
    assert not results.run("x", writes(f"<testsuite>{cases}</testsuite>", 1), quiet=True)
    assert summed(results, capsys) == (1, "1 passed, 1 failed, 1 skipped")


def test_counts_the_tests_inside_a_cmocka_program(results, capsys):
    case = f"<testcase name='t' status='fail'><failure/><system-out>{CMOCKA}</system-out></testcase>"
    results.run("x", writes(f"<testsuite>{case}</testsuite>", 8), quiet=True)
    assert summed(results, capsys) == (1, "1 passed, 1 failed, 1 skipped")


def test_a_program_that_dies_after_its_tests_has_failed(results, capsys):
    output = "[==========] 3 test(s) run.\n[  PASSED  ] 3 test(s).\nERROR: LeakSanitizer\n"
    case = f"<testcase name='t' status='fail'><failure/><system-out>{output}</system-out></testcase>"
    results.run("x", writes(f"<testsuite>{case}</testsuite>", 8), quiet=True)
    assert summed(results, capsys) == (1, "3 passed, 1 failed")


def test_a_plain_command_is_one_test(results, capsys):
    assert results.run("good", ["true"], quiet=True)
    assert summed(results, capsys) == (0, "1 passed, 0 failed")
    assert not results.run("bad", ["false"], quiet=True)
    assert summed(results, capsys) == (1, "1 passed, 1 failed")


@pytest.mark.parametrize(
    "command",
    [
        ["true", "{junit}"],  # leaves no result
        ["/nonexistent", "{junit}"],
        writes("<testsuite/>"),  # runs nothing
        writes("<testsuite><testcase name='a'><skipped/></testcase></testsuite>"),
        writes("<testsuite><testcase name='a'/></testsuite>", 139),  # crashes at its end
        writes("not xml"),
    ],
)
def test_a_runner_that_did_not_do_its_work_has_failed(results, capsys, command):
    assert not results.run("x", command, quiet=True)
    assert summed(results, capsys)[0] == 1


def test_a_runner_that_hangs_is_stopped_with_its_children(results, capsys):
    assert not results.run("x", ["sh", "-c", "sleep 60 & sleep 60"], quiet=True, timeout=0.2)
    assert summed(results, capsys) == (1, "0 passed, 1 failed")


def test_nothing_run_is_a_failure(results, capsys):
    results.FOLDER.mkdir()
    assert summed(results, capsys) == (1, "0 passed, 0 failed")


def test_make_failing_before_its_runner_is_a_failure(results, capsys):
    results.run("good", ["true"], quiet=True)
    assert summed(results, capsys, make_status=2) == (1, "1 passed, 1 failed")
