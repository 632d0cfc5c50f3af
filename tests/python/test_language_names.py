"""The names of the language live once, in the compiler's lists; what repeats them is held equal here."""

import builtins
import inspect
import re
from pathlib import Path

import kp
import kp.lang
import pytest
from kp.emulate.rewrite import LANGUAGE, TYPES

ROOT = Path(__file__).parents[2]
COMPILER = ROOT / "src" / "compiler"


def rows(file, macro):
    """(name, rest of the row) of each row of an X-macro list."""
    return re.findall(rf'^{macro}\("([\w ]+)", (.*)\)', (COMPILER / file).read_text(), re.M)


FUNCTIONS = {name for name, _ in rows("builtins.def", "BUILTIN")}
PYTHONS = {name for name in FUNCTIONS if hasattr(builtins, name)}


def in_lang(kind):
    return {name for name, value in vars(kp.lang).items() if isinstance(value, kind) and not name.startswith("_")}


def value_types():
    bases = {"LanguageType", "Vector"}
    return {name for name in in_lang(kp.lang.LanguageType) if name in TYPES} - bases


def test_kp_lang_has_every_function():
    assert in_lang(kp.lang.LanguageFunction) == FUNCTIONS - PYTHONS


def test_kp_emulate_has_every_function():
    # print is Python's own there
    assert FUNCTIONS - {name for name in LANGUAGE if callable(LANGUAGE[name])} <= {"print"}


def test_kp_emulate_has_every_type():
    scalars = {text for text, _, _, _ in kp._kp.DTYPES}
    assert scalars <= value_types() | {"bool"}
    vectors = {name for name, value in vars(kp.lang).items() if re.fullmatch(r"\w*(vec|mat)[234](x[234])?", name)}
    assert vectors and vectors <= set(TYPES)
    for name in scalars | vectors:
        kp.compile(f"def k(i: Index, v: {name}, x: Array[{name}]):\n    t: {name} = v\n    x[i] = t\n")


def test_every_function_is_tested():
    tests = "".join(
        path.read_text() for path in Path(__file__).parent.glob("test_*.py") if path.name != Path(__file__).name
    )
    scans = {
        name for name in FUNCTIONS if re.fullmatch(r"subgroup_((in|ex)clusive_)?(add|mul|min|max|and|or|xor)", name)
    }
    words = set(re.findall(r"\w+", tests)) | scans  # test_every_reduction_and_scan
    assert FUNCTIONS <= words, FUNCTIONS - words


def test_hints_are_for_names_that_there_are_not():
    names = {name for name, _ in rows("habits.def", "NAME")}
    assert names and not names & (FUNCTIONS | set(TYPES) | {"Array", "Index", "range"})
    for name in sorted(names):
        with pytest.raises(kp.CompileError) as caught:
            kp.compile(f"def k(i: Index, x: Array[f32]):\n    x[i] = {name}(x[i])\n")
        assert name in caught.value.msg and ";" in caught.value.msg, name


def test_the_names_of_modules_are_one_list():
    """kp.lang's functions say who they are."""
    for name in in_lang(kp.lang.LanguageFunction):
        assert getattr(kp.lang, name).__name__ == name
    assert inspect.getdoc(kp.lang)
