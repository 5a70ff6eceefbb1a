from pathlib import Path

import pytest
from tests.prove.support import QUICK, fake_tools, needs_provers, proofs_of, script
from tests.prove.support import module as theory

from sonnx.prove import tools as module
from sonnx.prove.configuration import ConfigurationError, derive_drivers, write_configuration
from sonnx.prove.tools import ALL_TOOLS, Tool, Tools, ToolsMissingError, find_tools

SAYING = {
    "why3": "Why3 platform, version 1.5.1",
    "z3": "Z3 version 4.8.12 - 64 bit",
    "cvc4": "This is CVC4 version 1.8",
    "frama-c": "25.0-beta (Manganese)",
}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole PATH, and a Python without wheels."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(module, "wheel_z3", lambda: None)
    return folder


def put(folder: Path, *names: str) -> None:
    for name in names:
        script(folder / name, f"#!/bin/sh\necho '{SAYING[name]}'\n")


def test_tools_are_found_with_their_versions(programs: Path) -> None:
    put(programs, *SAYING)
    found = find_tools(ALL_TOOLS)
    assert found.versions == (
        ("why3", "1.5.1"),
        ("frama-c", "25.0-beta (Manganese)"),
        ("cvc4", "1.8"),
        ("z3", "4.8.12"),
    )
    assert found.z3.path == programs / "z3"
    assert find_tools().frama_c is None


def test_whoever_lacks_tools_is_told_which_and_what_to_install(programs: Path) -> None:
    put(programs, "z3")
    with pytest.raises(ToolsMissingError) as problem:
        find_tools(ALL_TOOLS)
    text = str(problem.value)
    assert "proofs need why3, cvc4, frama-c, which cannot be found" in text
    assert "apt-get install --no-install-recommends why3 frama-c-base z3 cvc4" in text
    assert "pip install z3-solver" in text
    assert "\n" not in text


@pytest.mark.parametrize("body", ["echo rubbish", "exit 1", "kill -9 $$", "yes"])
def test_a_tool_that_does_not_say_its_version_is_none(programs: Path, body: str) -> None:
    put(programs, "why3", "z3")
    script(programs / "cvc4", f"#!/bin/sh\n{body}\n")
    with pytest.raises(ToolsMissingError, match="does not say its version"):
        find_tools()


def test_a_tool_that_hangs_is_given_up(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(programs, "why3", "z3")
    monkeypatch.setattr(module, "_SECONDS", 0.3)
    script(programs / "cvc4", "#!/bin/sh\nwhile :; do :; done\n")
    with pytest.raises(ToolsMissingError, match="did not end within"):
        find_tools()


def test_programs_of_the_current_folder_are_no_tools(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(programs, "why3", "z3", "cvc4")
    monkeypatch.chdir(programs)
    monkeypatch.setenv("PATH", f".{':'}")
    with pytest.raises(ToolsMissingError):
        find_tools()


def test_the_z3_of_the_wheel_is_used_where_it_differs(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(programs, "why3", "cvc4", "z3")
    wheel = script(tmp_path / "z3", "#!/bin/sh\necho 'Z3 version 5.4.0 - 64 bit'\n")
    monkeypatch.setattr(module, "wheel_z3", lambda: wheel)
    assert find_tools().newer_z3 == Tool("z3 of z3-solver", wheel, "5.4.0")
    (programs / "z3").unlink()
    assert find_tools().z3.path == wheel
    assert find_tools().newer_z3 is None
    put(programs, "z3")
    script(wheel, f"#!/bin/sh\necho '{SAYING['z3']}'\n")
    assert find_tools().newer_z3 is None


FLOATS = 'import "smt-libv2-floats.gen"\n'
TO_INT = 'theory ieee_float.Float32\n  syntax function to_int "(fp.to_sbv %1)"\nend\n'


def drivers(folder: Path, common: str, z3: str = "") -> Path:
    folder.mkdir()
    texts = {"cvc4_17.drv": 'import "c.gen"\n', "z3_471.drv": f'import "c.gen"\n{z3}', "c.gen": common}
    texts["smt-libv2-floats.gen"] = "theory ieee_float.GenericFloat\nend\n"
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_derived_drivers_know_nothing_of_floats_and_all_else(tmp_path: Path) -> None:
    kept = 'theory int.Int\n  syntax function (+) "(+ %1 %2)"\nend\n'
    derived = derive_drivers(drivers(tmp_path / "in", kept + FLOATS, TO_INT + kept), tmp_path / "out")
    assert (derived / "c.gen").read_text(encoding="utf-8") == kept
    assert (derived / "z3_471.drv").read_text(encoding="utf-8") == f'import "c.gen"\n{kept}'
    assert sorted(path.name for path in derived.iterdir()) == ["c.gen", "cvc4_17.drv", "z3_471.drv"]


@pytest.mark.parametrize("common", ["", FLOATS + 'prelude "(fp.add)"\n', FLOATS + 'import "absent.gen"\n'])
def test_drivers_that_are_not_as_expected_are_refused(tmp_path: Path, common: str) -> None:
    with pytest.raises(ConfigurationError):
        derive_drivers(drivers(tmp_path / "in", common), tmp_path / "out")


def test_the_identity_of_a_configuration_hangs_on_tools_and_drivers_and_on_no_folder(tmp_path: Path) -> None:
    tools = fake_tools(tmp_path, "")
    folders = [tmp_path / name for name in "abcd"]
    for folder in folders:
        folder.mkdir()
    first = write_configuration(folders[0], tools).identity
    assert write_configuration(folders[1], tools).identity == first
    other = Tools(tools.why3, tools.z3, Tool("cvc4", tools.cvc4.path, "1.9"))
    assert write_configuration(folders[2], other).identity != first
    driver = tmp_path / "data" / "drivers" / "z3_471.drv"
    driver.write_text(FLOATS + "theory int.Int\n  remove allprops\nend\n", encoding="utf-8")
    assert write_configuration(folders[3], tools).identity != first


def test_a_path_that_no_configuration_can_hold_is_refused(tmp_path: Path) -> None:
    tools = fake_tools(tmp_path, "")
    strange = Tools(tools.why3, Tool("z3", tmp_path / "a\nb", "1"), tools.cvc4)
    (tmp_path / "a\nb").touch()
    with pytest.raises(ConfigurationError):
        write_configuration(tmp_path, strange)


@pytest.mark.prover
@needs_provers
def test_why3_finds_provers_whatever_their_path_is(tmp_path: Path) -> None:
    real = find_tools()
    folder = tmp_path / "a \"b' %t\\c"
    folder.mkdir()
    for name, tool in (("z3", real.z3), ("cvc4", real.cvc4)):
        (folder / name).symlink_to(tool.path)
    strange = Tools(real.why3, Tool("z3", folder / "z3", "1"), Tool("cvc4", folder / "cvc4", "1"))
    proofs = proofs_of(theory("  goal one: 1 + 1 = 2"), options=QUICK, tools=strange)
    assert [goal.verdict for goal in proofs.goals][:1] == ["proved"]
    assert proofs.good
