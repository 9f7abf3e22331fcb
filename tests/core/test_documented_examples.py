"""The examples in docs/experiments.md are experiments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments_app.core.plan import make_plan
from experiments_app.core.spec import load_spec

TEXT = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text("utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_loads_and_can_be_planned(example: str) -> None:
    text = example if "question" in example else f'name = "x"\n{example}'
    assert make_plan(load_spec(text), kind="local", cpus=2).arms


def test_there_are_examples_of_both_forms() -> None:
    assert any("groups" in example for example in EXAMPLES)
    assert any("groups" not in example for example in EXAMPLES)
