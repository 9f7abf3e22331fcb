"""The forms of the pages: bad input is a message that says what, where and how to put it right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from experiments_app.core.spec import Spec
from experiments_app.core.spec_model import MAX_REPEATS
from experiments_app.targets.base import TargetStatus

LARGEST_IMPORT = 200 * 1024 * 1024


class LaunchForm(forms.Form):
    """Which target, how many repeats, which arms; checked against the experiment."""

    target = forms.ChoiceField(
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose a target.",
            "invalid_choice": "There is no target “%(value)s” here. Choose one of the list.",
        },
    )
    repeats = forms.IntegerField(
        min_value=1,
        max_value=MAX_REPEATS,
        error_messages={
            "required": f"Give the number of repeats: 1 to {MAX_REPEATS}.",
            "invalid": f"The number of repeats must be a whole number from 1 to {MAX_REPEATS}.",
            "min_value": f"The number of repeats must be from 1 to {MAX_REPEATS}.",
            "max_value": f"The number of repeats must be from 1 to {MAX_REPEATS}.",
        },
    )
    arms = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Choose at least one arm.",
            "invalid_choice": "There is no arm “%(value)s” in this experiment.",
        },
    )

    def __init__(
        self, data: Any = None, *, spec: Spec, targets: Sequence[TargetStatus], chosen: str | None
    ) -> None:
        names = [arm.name for arm in spec.arms]
        initial = {"repeats": spec.repeats, "arms": names, "target": chosen}
        super().__init__(data, initial=initial)
        target, arms = self.fields["target"], self.fields["arms"]
        assert isinstance(target, forms.ChoiceField)
        assert isinstance(arms, forms.ChoiceField)
        target.choices = [(status.name, status.name) for status in targets]
        arms.choices = [(arm.name, arm.label or arm.name) for arm in spec.arms]

    @property
    def ticked(self) -> set[str]:
        """The arms that are ticked, whether sent or by default."""
        return {str(name) for name in self["arms"].value() or ()}

    @property
    def chosen_target(self) -> str:
        return str(self["target"].value() or "")


class ImportForm(forms.Form):
    """A run document or a full export."""

    file = forms.FileField(
        error_messages={
            "required": "Choose a file: a run document (.json) or a full export (.zip).",
            "empty": "The file is empty. Choose a run document (.json) or a full export (.zip).",
        }
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > LARGEST_IMPORT:
            raise forms.ValidationError(
                f"The file has {file.size // 2**20} MiB; at most "
                f"{LARGEST_IMPORT // 2**20} MiB are taken. Import it with ./lab import."
            )
        return file
