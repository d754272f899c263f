"""Plans: what they mean, what they refuse and how they say it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bandstop.errors import ConfigError
from bandstop.study.data import resolve_data
from bandstop.study.plan import read_plan, shipped_plans
from bandstop.study.runs import PlannedRun, expand
from bandstop.training.config import RunConfig
from bandstop.training.presets import paper

GRID = '[[grid]]\ndata = "tiny"\nrate = 0.9\n'
Write = Callable[..., Path]


def runs(path: Path, **options: list[str]) -> list[PlannedRun]:
    return expand(read_plan(str(path)), **options)[0]  # type: ignore[arg-type]


JOINED = GRID + 'method = "joined"\njoin = ["default", "b"]\n[variant.b]\nchunks = 4\n'
BAD = {
    "not TOML": ("[[grid]\ndata = 3", "not valid TOML.*line 10"),
    "unknown table": (GRID + "[bass]\nepochs = 1", "'bass' is not known here"),
    "unknown axis": (GRID + "rates = [0.9]", r"number 1 'rates' is not known here; it can hold data, method"),
    "no grid": ("", "at least one"),
    "no data": ('[[grid]]\nmethod = "pmp"', "needs data"),
    "bad rate": ('[[grid]]\ndata = "tiny"\nrate = [0.5, 98]', r"rate must lie in \[0, 1\).*found 98"),
    "rate as text": ('[[grid]]\ndata = "tiny"\nrate = "0.9"', "rate must be numbers, found '0.9'"),
    "seed as truth": (GRID + "seed = true", "seed must be whole numbers"),
    "seed twice": (GRID + "seed = [1, 1]", "none twice"),
    "unknown method": (GRID + 'method = "magic"', "method must be one of .*pmp.*, found 'magic'"),
    "unknown prior": (GRID + 'prior = "cauchy"', "prior must be one of .*laplace.*, found 'cauchy'"),
    "unknown variant": (GRID + 'variant = "soft"', "names the variant 'soft'"),
    "unknown setting": (
        GRID + "settings.epoch = 3",
        r"number 1 settings epoch is not a setting of a run; did you mean epochs\?",
    ),
    "unknown nested": (
        GRID + 'variant = "v"\n[variant.v]\nprune.gait = "soft"',
        r"\[variant.v\] prune.gait .*prune.gate\?",
    ),
    "wrong type": (GRID + 'settings.epochs = "3"', "settings epochs must be a whole number, found '3'"),
    "truth as number": (
        GRID + "settings.prune.live = 1",
        "prune.live must be true or false, found 1",
    ),
    "wrong choice": (
        GRID + 'settings.prune.gate = "open"',
        "prune.gate must be one of soft, hard, .*found 'open'",
    ),
    "not a table": (GRID + "settings.prune = 3", "prune holds settings of its own"),
    "axis as setting": (GRID + "settings.seed = 3", r"seed is an axis: give it in a \[\[grid\]\]"),
    "out of range": (
        GRID + "settings.epochs = 0",
        r"settings: config.epochs must be at least 1, found 0",
    ),
    "no budget": ('[[grid]]\ndata = "tiny"', "pmp needs a rate"),
    "two budgets": (GRID + "settings.weights = 9", "one budget at a time"),
    "no teacher": (GRID + 'teachers = { seeds = "same" }', "no dense run of tiny .*with seed 0"),
    "no pruned teacher": (GRID + "teachers = { rate = 0.5 }", "no pmp run at 0.5 of tiny .*with seed 0"),
    "two rates of teachers": (GRID + "teachers = { rate = [0.5, 0.6] }", "rate must be one number"),
    "bad teachers": (
        GRID + 'teachers = { seed = "same" }',
        "'seed' is not known here; it can hold seeds, variant",
    ),
    "nothing to join": (JOINED, "no pmp run of tiny at 0.9 .*variant default or b"),
    "one to join": (JOINED.replace(', "b"', ""), "two variants or more"),
    "same name": (
        GRID + GRID + "settings.epochs = 3",
        "two different runs are both called tiny-pmp-laplace-90-s0",
    ),
    "nothing left": (GRID + '[[exclude]]\ndata = "tiny"', "the exclusions leave no run"),
}


@pytest.mark.parametrize(("grids", "found"), BAD.values(), ids=BAD)
def test_a_bad_plan_is_refused_with_its_file_and_place(plan_file: Write, grids: str, found: str) -> None:
    path = plan_file(grids)
    with pytest.raises(ConfigError, match=found) as refused:
        runs(path)
    assert str(path) in str(refused.value)


def test_an_unknown_plan_lists_the_shipped_ones() -> None:
    with pytest.raises(
        ConfigError, match=r"nowhere: no such plan.*ablation, distilled, .*main, paper-table-1"
    ):
        read_plan("nowhere")


def test_a_grid_is_a_product_and_a_variant_a_set_of_changes(plan_file: Write) -> None:
    path = plan_file(
        "[variant.hot]\nprune.kl = 3\n"
        '[[grid]]\ndata = "tiny"\nprior = ["laplace", "gaussian"]\nrate = [0.5, 0.9]\n'
        'seed = [0, 7]\nvariant = ["default", "hot"]\n[[exclude]]\nprior = "gaussian"\nseed = 7\n'
    )
    found = runs(path)
    assert len(found) == 2 * 2 * 2 * 2 - 4
    assert not [r for r in found if r.axes.prior == "gaussian" and r.axes.seed == 7]
    for run in found:
        assert run.config.prune.kl == (3.0 if run.axes.variant == "hot" else RunConfig().prune.kl)
        assert (run.config.rate, run.config.prior, run.config.seed) == (
            run.axes.rate,
            run.axes.prior,
            run.axes.seed,
        )
        assert run.config.epochs == 2 and run.config.net.heads == 2


def test_what_does_not_matter_to_a_method_makes_no_runs(plan_file: Write) -> None:
    path = plan_file(
        '[[grid]]\ndata = "tiny"\nmethod = ["dense", "gmp"]\n'
        'prior = ["laplace", "gaussian"]\nrate = [0.5, 0.9]'
    )
    assert [(r.axes.method, r.axes.prior, r.axes.rate) for r in runs(path)] == [
        ("dense", None, None),
        ("gmp", None, 0.5),
        ("gmp", None, 0.9),
    ]


def test_variants_that_come_to_the_same_are_run_once_and_said(plan_file: Write) -> None:
    path = plan_file(GRID + 'variant = ["default", "same"]\n[variant.same]\nprune.bins = 100')
    found, remarks = expand(read_plan(str(path)))
    assert len(found) == 1
    assert remarks == ["variant same is the same run as variant default, and is run once"]


def test_teachers_are_dense_runs_of_the_same_data(plan_file: Write) -> None:
    dense = '[[grid]]\ndata = ["tiny", "hands"]\nmethod = "dense"\nseed = [0, 1, 2]\n'
    for asked, expected in (
        ('"same"', [["s1"], ["s2"]]),
        ('"all"', [["s0", "s1", "s2"]] * 2),
        ("[0, 2]", [["s0", "s2"]] * 2),
    ):
        path = plan_file(f"{GRID}seed = [1, 2]\nteachers = {{ seeds = {asked} }}\n{dense}")
        students = [r for r in runs(path) if r.needs]
        assert [[t.split("-")[2] for t in r.needs] for r in students] == expected
        assert all(t.startswith("tiny-dense-") for r in students for t in r.needs)
        assert all(r.config.distill.teachers == r.needs and "distilled" in r.id for r in students)


def test_the_preset_is_the_paper_s_and_can_be_changed(plan_file: Write) -> None:
    path = plan_file(GRID + 'variant = "p"\n[variant.p]\npreset = "paper"\nprune.kl = 5', base="")
    config = runs(path)[0].config
    published = paper(RunConfig(epochs=600, rate=0.9)).resolved()
    assert config.epochs == 600 and config.prune.kl == 5.0
    assert (config.prune.gate, config.optim, config.net, config.augment) == (
        "logistic",
        published.optim,
        published.net,
        published.augment,
    )


def test_teachers_may_be_pruned_runs_at_a_rate(plan_file: Write) -> None:
    taught = '[[grid]]\ndata = "tiny"\nmethod = "pmp"\nrate = [0.9]\nseed = [0, 1]\n'
    path = plan_file(taught + GRID + 'seed = [1]\nteachers = { seeds = "all", rate = 0.9 }\n')
    students = [r for r in runs(path) if r.needs]
    assert [[t.split("-")[1] + t.split("-")[3] for t in r.needs] for r in students] == [["pmp90"] * 2]


def test_only_keeps_teachers(plan_file: Write) -> None:
    path = plan_file(
        '[[grid]]\ndata = "tiny"\nmethod = "dense"\nseed = [0, 1]\n' + GRID + "seed = [0, 1]\nteachers = {}"
    )
    assert [r.axes.slug(False) for r in runs(path, only=["method=pmp", "seed=1"])] == [
        "tiny-dense-s1",
        "tiny-pmp-laplace-90-s1",
    ]
    with pytest.raises(ConfigError, match="no run of the plan is left"):
        runs(path, only=["seed=5"])
    for wrong in ("seed", "sed=1", "seed=x"):
        with pytest.raises(ConfigError, match="--only"):
            runs(path, only=[wrong])


def test_ids_are_the_same_in_another_process_and_place(plan_file: Write, tmp_path: Path) -> None:
    path = plan_file(
        '[[grid]]\ndata = "tiny"\nmethod = "dense"\n' + GRID + "teachers = {}\nsettings.optim.lr = 1"
    )
    here = [run.id for run in runs(path)]
    program = (
        "import sys; from bandstop.study.plan import read_plan; from bandstop.study.runs import expand\n"
        "print(*[run.id for run in expand(read_plan(sys.argv[1]))[0]])"
    )
    moved = tmp_path / "elsewhere.toml"
    moved.write_text(path.read_text().replace("tiny.npz", "other.npz").replace("lr = 1", "lr = 1.0"))
    there = subprocess.run(
        [sys.executable, "-c", program, str(moved)], capture_output=True, text=True, check=True
    )
    assert there.stdout.split() == here


def test_any_setting_changes_the_id(plan_file: Write) -> None:
    seen = {
        run.id
        for change in ("epochs = 3", "epochs = 4", "prune.kl = 0.5", "augment.noise = 0")
        for run in runs(plan_file(GRID + f"settings.{change}"))
    }
    assert len(seen) == 4


def test_a_changed_teacher_is_another_student(plan_file: Write) -> None:
    students = []
    for epochs in (3, 4):
        path = plan_file(
            f'[[grid]]\ndata = "tiny"\nmethod = "dense"\nsettings.epochs = {epochs}\n{GRID}teachers = {{}}'
        )
        students.append(runs(path)[1].id)
    assert students[0] != students[1]


def test_settings_that_do_not_go_together_are_refused_before_anything_runs(plan_file: Write) -> None:
    path = plan_file(
        '[variant.never]\nprune.freeze = 1.0\n[[grid]]\ndata = "tiny"\nrate = 0.9\nvariant = ["never"]\n'
    )
    with pytest.raises(
        ConfigError, match=r"number 1 variant never: live connections need a mask that is fixed"
    ):
        expand(read_plan(str(path)))


def test_shipped_plans_are_what_they_say() -> None:
    made = {name: expand(read_plan(name))[0] for name in shipped_plans()}
    assert set(made) >= {"main", "paper-table-1", "paper-table-2", "rivals", "ablation"}
    assert len(made["main"]) == 3 * (5 + 4 * 5)
    assert all(len(r.needs) == (3 if r.axes.method == "pmp" else 0) for r in made["main"])
    assert {(r.config.net.kind, r.config.net.layers) for r in made["paper-table-1"]} == {
        ("gcn", 1),
        ("lstm", 1),
        ("lstm", 2),
    }
    per_preset = {
        preset: {
            (r.axes.method, r.axes.prior, r.axes.rate)
            for r in made["paper-table-2"]
            if r.config.preset == preset
        }
        for preset in ("paper", "paper-literal", "empirical")
    }
    assert [len(rows) for rows in per_preset.values()] == [20, 20, 20]
    assert {r.axes.rate for r in made["rivals"]} == {None, 0.95, 0.98, 0.99, 0.995}
    assert {r.axes.fold for r in made["transfer"] if r.axes.data == "sbu"} == {1, 2, 3, 4, 5}
    settings = [str(r.config.prune) for r in made["ablation"]] + [
        str(r.config.optim) for r in made["ablation"]
    ]
    for part in (
        "gate='hard'",
        "histogram='pooled'",
        "kl=10.0",
        "ramp=0.0",
        "allocation='erk'",
        "rule='paper-speed'",
        "kl=0.0",
    ):
        assert any(part in text for text in settings), part


def test_the_rivals_plan_names_every_rival() -> None:
    from bandstop.rivals import NAMES

    assert {r.axes.method for r in expand(read_plan("rivals"))[0]} == {"dense", "pmp", *NAMES}


def test_data_are_found_by_key(tmp_path: Path) -> None:
    assert resolve_data(["mine"], {"mine": "sub/a.npz"}, [], tmp_path) == {
        "mine": str(tmp_path / "sub/a.npz")
    }
    assert resolve_data(["mine"], {"mine": "a.npz"}, ["mine=hands:3"], tmp_path) == {"mine": "hands:3"}
    assert resolve_data(["hands"], {}, ["fpha=x"], tmp_path, ["fpha"]) == {"hands": "hands"}, (
        "left out by --only"
    )
    for given, found in (
        ([], "the plan needs the data set 'fpha': say where it is with --data fpha=fpha:PATH"),
        (["fpha"], "--data needs KEY=DATA"),
        (["fpha=fpha:/a", "sbu=sbu:/b"], "--data sbu: the plan has no such data; it names fpha"),
    ):
        with pytest.raises(ConfigError, match=found):
            resolve_data(["fpha"], {}, given, tmp_path)
    with pytest.raises(ConfigError, match="sbu:PATH"):
        resolve_data(["sbu"], {}, ["sbu=/archive.npz"], tmp_path)


def test_the_documented_plans_are_plans(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
    path, counts = tmp_path / "mine.toml", []
    for block in page.split("```toml\n")[1:]:
        path.write_text(block.split("```")[0], encoding="utf-8")
        counts.append(len(runs(path)))
    assert counts == [2 + 2 * 2, 3 + 2 * 2 * 2 * 3 + 2 * 3]
    for name in shipped_plans():
        assert f"| `{name}` |" in page
        count = page.split(f"| `{name}` |")[1].split("\n")[0].rstrip("| ").split("|")[-1]
        assert int(count) == len(expand(read_plan(name))[0]), name
