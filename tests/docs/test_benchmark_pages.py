"""Pages made from result files say what these say."""

import json
from statistics import mean

from tests.docs.scripts import ROOT, script


def test_the_page_on_scale_is_current() -> None:
    page = script("scale_page").page()
    assert (ROOT / "docs" / "scale.md").read_text(encoding="utf-8") == page, "run benchmarks/scale_page.py"


def test_the_penalty_is_as_cheap_as_is_said() -> None:
    rows = json.loads((ROOT / "benchmarks" / "results" / "scale.json").read_text(encoding="utf-8"))["rows"]
    found = {(row["path"], row["weights"]): row for row in rows}
    largest = found["penalty, fused", 10**8]
    assert largest["nanoseconds"] <= 10 and largest["extra_share"] <= 0.1


def test_the_page_on_one_training_is_current() -> None:
    made = script("one_training_page")
    page = made.page(made.read_rows())
    assert made.PAGE.read_text(encoding="utf-8") == page, "run benchmarks/one_training_page.py"


def test_the_page_on_fine_tuning_is_current() -> None:
    made = script("finetune_page")
    text, found = made.PAGE.read_text(encoding="utf-8"), json.loads(made.RESULTS.read_text(encoding="utf-8"))
    assert text == made.page(text, found), "run benchmarks/finetune_page.py"


def test_fine_tuning_is_as_good_as_is_said() -> None:
    """Above torch's pruning and above both starts with the schedule of new networks, on both tasks."""
    runs = json.loads(script("finetune_page").RESULTS.read_text(encoding="utf-8")).values()
    tests = [run for run in runs if run["kind"] == "test"]
    for task in ("digits", "text"):
        means = {
            method: mean(r["accuracy"] for r in tests if (r["task"], r["method"]) == (task, method))
            for method in {r["method"] for r in tests if r["task"] == task}
        }
        assert len(means) == 5 and max(means, key=lambda method: means[method]) == "bandstop"
        mine = [r for r in tests if (r["task"], r["method"]) == (task, "bandstop")]
        assert len(mine) >= 3 and all(r["attached"] == r["dense"] for r in mine)
        assert all(r["said"].startswith("started as a trained network") for r in mine)


def test_the_table_of_deploying_is_current() -> None:
    made = script("deploy_table")
    found = json.loads((ROOT / "benchmarks" / "results" / "deploy.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    assert page.split(made.START)[1].split(made.END)[0].strip() == made.page_tables(found)


def test_the_page_on_streams_is_current() -> None:
    made, path = script("live_page"), ROOT / "docs" / "live.md"
    rows = json.loads((ROOT / "benchmarks" / "results" / "live.json").read_text(encoding="utf-8"))["rows"]
    cost = json.loads((ROOT / "benchmarks" / "results" / "live_cost.json").read_text(encoding="utf-8"))
    text = path.read_text(encoding="utf-8")
    assert text == made.page(text, rows, cost), "run benchmarks/live_page.py"


def test_streams_are_recognised_as_is_said() -> None:
    rows = json.loads((ROOT / "benchmarks" / "results" / "live.json").read_text(encoding="utf-8"))["rows"]
    hands = next(row for row in rows if (row["data"], row["rate"]) == ("hands", 0.98))
    found = hands["test"]
    assert found["detection_rate"] >= 0.9 and found["false_alarms_per_minute"] <= 1
    assert found["delay_frames"] / hands["frames_per_second"] <= 0.3


def test_a_look_costs_what_is_said() -> None:
    cost = json.loads((ROOT / "benchmarks" / "results" / "live_cost.json").read_text(encoding="utf-8"))
    found = cost["float32, for speed"]
    assert found["mean_milliseconds"] <= 0.5 and found["most_instructions"] <= 200_000  # room for two cycles


def test_the_confidence_is_measured_as_is_said() -> None:
    path = ROOT / "benchmarks" / "results" / "confidence.json"
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    page = " ".join((ROOT / "docs" / "live.md").read_text(encoding="utf-8").split())
    plain, after = (mean(run["calibration_error"][key] for run in runs) for key in ("plain", "calibrated"))
    assert f"from {plain:.3f} to {after:.3f}" in page
    rejected, named = (mean(run[key] for run in runs) for key in ("unknown_rejected", "known_named_rightly"))
    assert f"{100 * rejected:.0f} % of two other unknown actions" in page
    assert f"only {100 * named:.0f} % were still named" in page


def test_the_time_to_fix_a_mask_is_that_of_the_result_file() -> None:
    result = json.loads((ROOT / "benchmarks" / "results" / "mac_freeze.json").read_text(encoding="utf-8"))
    now = [row for row in result["rows"] if row["tree"] == "now"]
    page = " ".join((ROOT / "docs" / "any-network.md").read_text(encoding="utf-8").split())
    for net in ("ResNet-18", "ViT-tiny"):
        spent = [row["freeze_seconds"] for row in now if row["net"] == net]
        assert len(spent) == 6 and max(spent) <= 5
        assert f"of a {net} " in page and f"in {min(spent):.1f} to {max(spent):.1f} s" in page
    assert all(row["macs"] == row["macs_asked"] for row in now)


def test_the_page_on_reliability_is_current() -> None:
    made = script("torture_page")
    text, found = made.PAGE.read_text(encoding="utf-8"), json.loads(made.RESULT.read_text(encoding="utf-8"))
    assert text == made.page(text, found), "run benchmarks/torture_page.py"


def test_nothing_failed_under_torture() -> None:
    found = json.loads((ROOT / "benchmarks" / "results" / "torture.json").read_text(encoding="utf-8"))
    assert [group["failures"] for group in found["groups"].values()] == [[]] * len(found["groups"])
    assert found["groups"]["engine"]["count"] >= 500
