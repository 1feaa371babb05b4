"""Scores on published change points: TCPDBench's definitions on marks small enough to count, and a tiny folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from explain.tcpd import cover, f1, load, scores


def test_f1_takes_precision_against_all_annotators_and_recall_as_their_mean() -> None:
    marks = {"a": [10, 20], "b": [10]}
    precision, recall = 2 / 3, (2 / 3 + 1) / 2  # the start counts for everybody; 40 is nobody's
    assert f1(marks, [11, 40]) == pytest.approx(2 * precision * recall / (precision + recall))


def test_a_found_point_matches_one_annotation_and_six_samples_are_too_far() -> None:
    assert f1({"a": [10, 12]}, [11]) == pytest.approx(2 * 1 * (2 / 3) / (1 + 2 / 3))
    assert f1({"a": [20]}, [26]) == pytest.approx(0.5)
    assert f1({"a": [20]}, [25]) == pytest.approx(1.0)


def test_cover_weighs_each_annotated_segment_by_its_length() -> None:
    assert cover({"a": [10]}, [10], 20) == pytest.approx(1.0)
    assert cover({"a": [10]}, [], 20) == pytest.approx(0.5)
    assert cover({"a": [10], "b": []}, [], 20) == pytest.approx(0.75)


def test_a_folder_is_scored_by_name_and_series_of_several_dimensions_are_left_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.normal(0, 1, 120), rng.normal(8, 1, 90)]).tolist()
    values[30] = None
    put(tmp_path, "shifted", [values])
    put(tmp_path, "plane", [values, values])
    (tmp_path / "annotations.json").write_text(
        json.dumps({"shifted": {"1": [120], "2": [121]}, "plane": {"1": [5]}, "absent": {"1": [5]}})
    )
    assert list(load(tmp_path)) == ["shifted"]
    table = scores(tmp_path)
    assert table["shifted"][0] == pytest.approx(1.0)
    assert table["shifted"][1] > 0.97
    assert table["mean"] == table["shifted"]


def put(folder: Path, name: str, columns: list[list[float | None]]) -> None:
    (folder / "datasets" / name).mkdir(parents=True)
    series = [{"label": f"V{place}", "type": "float", "raw": raw} for place, raw in enumerate(columns)]
    (folder / "datasets" / name / f"{name}.json").write_text(json.dumps({"name": name, "series": series}))
