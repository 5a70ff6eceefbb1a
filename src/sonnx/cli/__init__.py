"""The command line. Every command loads what it needs when it runs, so that `--help` is quick."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sonnx import __version__

if TYPE_CHECKING:
    from rich.console import Console

    from sonnx.model.rule import AnyRule, Finding

# What a pipe or a file gets; a terminal gets its own width.
_WIDTH = 110


def _console() -> "Console":
    from rich.console import Console  # noqa: PLC0415  rich is loaded by the commands that print with it

    return Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="sonnx %(version)s")
def main() -> None:
    """The safety-related ONNX profile as an executable specification."""


@main.command()
def tour() -> None:
    """Show the operators at work."""
    from sonnx.tour import print_tour  # noqa: PLC0415  see above

    print_tour(_console())


@main.command()
@click.argument("operator", required=False)
def rules(operator: str | None) -> None:
    """List the rules, or those of one OPERATOR.

    OPERATOR is a name such as Conv, `general` for the rules on every operator, or `graph` for those on a
    model as a whole.
    """
    from sonnx.operators import rules as listed  # noqa: PLC0415  see above
    from sonnx.report.rules import rules_table  # noqa: PLC0415  see above

    try:
        found = listed(operator)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    _console().print(rules_table(found))


@main.command()
@click.argument("rule")
def explain(rule: str) -> None:
    """Explain one RULE, such as conv.pads.C2.

    Prints what it says, why, and an example that breaks it.
    """
    from sonnx.report.rules import explanation  # noqa: PLC0415  see above

    for found in _matching(rule):
        _console().print(explanation(found, _broken(found)))


def _broken(rule: "AnyRule") -> "tuple[Finding, ...]":
    """What the check says of a rule's failing example."""
    from sonnx.check.calls import check_call  # noqa: PLC0415  see above
    from sonnx.check.graphs import check_graph  # noqa: PLC0415  see above
    from sonnx.model.graph import Graph  # noqa: PLC0415  see above
    from sonnx.operators import operator  # noqa: PLC0415  see above

    if isinstance(rule.failing, Graph):
        return check_graph(rule.failing)
    return check_call(operator(rule.failing.operator), rule.failing)


def _matching(name: str) -> "list[AnyRule]":
    """The rule of that name, or those which the documents also state under it."""
    from difflib import get_close_matches  # noqa: PLC0415  only a wrong name needs it

    from sonnx.operators import rules as listed  # noqa: PLC0415  see above

    everything = {rule.identifier: rule for rule in listed()}
    if name in everything:
        return [everything[name]]
    stated = [rule for rule in everything.values() if name in rule.also]
    if not stated:
        near = get_close_matches(name, everything, n=3, cutoff=0.6)
        advice = f"; did you mean {', '.join(near)}?" if near else "; `sonnx rules` lists all"
        raise click.UsageError(f"there is no rule {name!r}{advice}")
    return stated


class _Binding(click.ParamType[Any]):
    """`NAME=VALUE`, where the value is read by another type; a name may itself hold `=`."""

    name = "binding"

    def __init__(self, value: click.ParamType[Any]) -> None:
        self._value = value

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Split at the last `=`."""
        if isinstance(value, tuple):
            return value
        name, equals, text = value.rpartition("=")
        if not equals or not name or not text:
            self.fail(f"{value!r} is not of the form NAME=VALUE", param, ctx)
        return name, self._value.convert(text, param, ctx)


_MODEL = click.argument("model", type=click.Path(path_type=Path))
_DIMS = click.option(
    "--dim",
    "dims",
    multiple=True,
    metavar="NAME=SIZE",
    type=_Binding(click.IntRange(0, 2**31 - 1)),
    help="Fix an open size of the inputs; NAME[AXIS] for one without a name. May be repeated.",
)
_MEMORY = click.option(
    "--memory",
    type=click.FloatRange(0, min_open=True),
    metavar="GIB",
    help="Memory that the tensors may take, in GiB (2 to load a model, 4 to run it).",
)


def _bytes(memory: float | None) -> int | None:
    return None if memory is None else int(memory * 2**30)


@main.command()
@_MODEL
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", show_default=True
)
@click.option("-o", "--output", metavar="FILE", help="Write the report to FILE instead of printing it.")
@_MEMORY
def check(model: Path, form: Any, output: str | None, memory: float | None) -> None:
    """Check whether MODEL, an ONNX file, lies in the profile.

    Prints every broken rule at every place, with the values that show it and what to do. Exits with 0 if the
    model conforms, 1 if there are findings, 2 if it cannot be read.
    """
    from sonnx.cli.models import check_model  # noqa: PLC0415  see above

    sys.exit(check_model(model, form, output, _bytes(memory)))


@main.command()
@_MODEL
@click.option("-o", "--output", required=True, metavar="OUT", type=click.Path(path_type=Path))
@_DIMS
@_MEMORY
def normalize(model: Path, output: Path, dims: tuple[tuple[str, int], ...], memory: float | None) -> None:
    """Write MODEL to OUT so that it conforms, without changing its meaning.

    What ONNX leaves to defaults is written out, broadcasting becomes Expand, functions are inlined, types are
    inferred. Prints every change with its reason. Exits with 1, and writes nothing, if something is left
    that cannot be mended this way; MODEL itself is never touched.
    """
    from sonnx.cli.models import normalize_model  # noqa: PLC0415  see above

    sys.exit(normalize_model(model, output, dict(dims), _bytes(memory)))


@main.command()
@_MODEL
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=FILE.npy",
    type=_Binding(click.Path(path_type=Path)),
    help="The array for an input of the model. May be repeated.",
)
@click.option("--output-dir", type=click.Path(path_type=Path), help="Write the results into this folder.")
@click.option("--domain", type=click.Choice(["ieee", "real"]), default="ieee", show_default=True)
@click.option("--accumulate", type=click.Choice(["separate", "fused"]), default="separate", show_default=True)
@click.option("--normalize", is_flag=True, help="Make the model conform first, as `sonnx normalize` does.")
@_DIMS
@click.option("--trace", is_flag=True, help="Print every node as it is executed; write its tensors too.")
@click.option("--order", type=click.Choice(["given", "random"]), default="given", show_default=True)
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the random order.")
@_MEMORY
def run(model: Path, memory: float | None, **options: Any) -> None:
    """Run MODEL by the specification, bit for bit or exactly.

    In the domain `ieee` the bits are those that the specification names. In `real` nothing is rounded: the
    results are exact fractions (.json) beside the nearest doubles (.npy). A model outside the profile is
    refused with its findings and exit code 1.
    """
    from sonnx.cli.models import RunOptions, run_model  # noqa: PLC0415  see above
    from sonnx.evaluate.graphs import DEFAULT_MEMORY, Settings  # noqa: PLC0415  see above

    limit = _bytes(memory)
    names = ("domain", "accumulate", "order", "seed")
    chosen = {name: options.pop(name) for name in names}
    settings = Settings(**chosen, memory=limit or DEFAULT_MEMORY)
    options["dims"] = dict(options["dims"])
    if options["dims"] and not options["normalize"]:
        raise click.UsageError("--dim changes the model; say --normalize too")
    sys.exit(run_model(model, RunOptions(settings=settings, memory=limit, **options)))
