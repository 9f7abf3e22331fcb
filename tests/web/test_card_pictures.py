"""The pictures of the catalogue's cards, against what was published."""

from __future__ import annotations

import pytest
from django.test import Client

from experiments_app import catalogue
from experiments_app.web.card_pictures import Picture, picture

ENTRIES = catalogue.entries()


def drawn(name: str) -> Picture:
    found = picture(catalogue.find(name))
    assert found is not None
    return found


@pytest.mark.parametrize("spec", ENTRIES, ids=[spec.name for spec in ENTRIES])
def test_every_experiment_has_a_picture_of_published_data(spec: catalogue.Spec) -> None:
    found = drawn(spec.name)
    assert "published" in found.caption
    assert bool(found.groups) != (found.drawing is not None)
    for bar in (bar for group in found.groups for bar in group):
        assert 0 <= bar.width <= 100
        assert bar.value


def test_walls_are_on_one_scale() -> None:
    (bars,) = drawn("burst-limits").groups
    longest = max(bars, key=lambda bar: bar.whisker or 0)
    assert (longest.name, longest.whisker, longest.value) == ("limit 500m", 100, "260")
    assert [bar.look for bar in bars] == ["free", "free", "held", "held", "held"]


def test_latencies_are_pairs_of_median_and_p99() -> None:
    pairs = drawn("serve-clumped").groups
    assert [[bar.value for bar in pair] for pair in pairs] == [
        ["33.1", "74.4"],
        ["63.0", "360"],
        ["111", "447"],
    ]
    assert [pair[1].look for pair in pairs] == ["tail", "held", "held"]


def test_shares_stand_beside_what_the_weights_promise() -> None:
    pairs = drawn("weights").groups
    assert [pair[0].name for pair in pairs] == [
        "req-100m",
        "req-1",
        "pair",
        "pair.small",
        "pair.big",
    ]
    promised, got = pairs[3]
    assert (promised.width, got.width) == (14.53, 14.4)


def test_the_steps_of_gomaxprocs_are_told_in_words() -> None:
    drawing = drawn("go-maxprocs").drawing
    assert drawing is not None
    assert drawing.alt == (
        "go 1.24: 500m 10, 1 10, 1500m 10, 2 10, 2500m 10, none 10; "
        "go 1.25: 500m 2, 1 2, 1500m 2, 2 2, 2500m 3, none 10"
    )


def test_the_tree_says_which_level_has_a_quota() -> None:
    drawing = drawn("limit-tree").drawing
    assert drawing is not None
    one, two = drawing.alt.split("; ")
    assert "pod 250\xa0ms per 100\xa0ms" in one
    assert "pod no quota" in two
    assert "sidecar no quota" in two


def test_tiers_have_throughput_and_tail() -> None:
    rates, tails = drawn("quota-tiers").groups
    assert [bar.value.replace("\u2009", " ") for bar in rates] == ["1 043", "2 081", "4 044"]
    assert [bar.value.partition("\xa0")[0] for bar in tails] == ["76.5", "4.01", "0.530"]


@pytest.mark.django_db
def test_the_catalogue_lists_them_in_reading_order(operating: Client) -> None:
    page = operating.get("/catalogue/").content.decode()
    places = [page.index(f"<b>{spec.name}</b>") for spec in ENTRIES]
    assert places == sorted(places)
    assert page.count('role="img"') == 2
