"""The examples in docs/experiments.md are experiments."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from experiments_app import catalogue
from experiments_app.core.plan import make_plan
from experiments_app.core.spec import load_spec
from experiments_app.core.workloads import Workload

TEXT = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text("utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_loads_and_can_be_planned(example: str) -> None:
    text = example if "question" in example else f'name = "x"\n{example}'
    assert make_plan(load_spec(text), kind="local", cpus=2).arms


def test_there_are_examples_of_both_forms() -> None:
    assert any("groups" in example for example in EXAMPLES)
    assert any("groups" not in example for example in EXAMPLES)


def test_the_table_of_the_catalogue_has_every_name_and_alias() -> None:
    section = TEXT.partition("## The catalogue")[2]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    names = [re.match(r"\| ([a-z-]+)(?: \(([^)]*)\))? \|", line) for line in rows]
    found = {m[1]: set((m[2] or "").split(", ")) for m in names if m and m[2]}
    assert found == {spec.name: set(spec.aliases) for spec in catalogue.entries()}


def test_every_kind_of_work_is_described_with_all_its_keys() -> None:
    section = TEXT.partition("### Workloads")[2].partition("### Values")[0]
    rows = {line.split("|")[1].strip(): line for line in section.splitlines() if "|" in line}
    for kind in get_args(get_args(Workload)[0]):
        keys = [name for name in kind.model_fields if name != "kind"]
        row = rows[kind.model_fields["kind"].default]
        assert [key for key in keys if not re.search(rf"\b{key}\b", row)] == []
