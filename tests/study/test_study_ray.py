"""A study on a local Ray cluster of two worker nodes, one of which is killed in the middle of a run."""

import collections
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bandstop.errors import ConfigError
from bandstop.study.conduct import conduct, make_executor
from bandstop.study.plan import read_plan
from bandstop.study.results import read_results
from bandstop.study.runs import expand
from bandstop.study.study_folder import StudyFolder

pytestmark = pytest.mark.slow
ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'bandstop[ray]'")
Write = Callable[..., Path]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head without CPUs and two nodes with one each."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    memory = {"object_store_memory": 80 * 1024**2}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **memory})
    made.workers = [made.add_node(num_cpus=1, **memory) for _ in range(2)]
    try:
        made.wait_for_nodes()
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def journal(out: Path) -> list[dict[str, Any]]:
    path = out / "journal.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_node_killed_in_mid_run(plan_file: Write, tmp_path: Path, cluster: Any) -> None:
    path = plan_file(
        '[[grid]]\ndata = "tiny"\nmethod = "dense"\nseed = [0, 1, 2, 3]\nsettings.epochs = 250\n'
    )
    out, events, killed = tmp_path / "out", [], []

    def kill() -> None:
        """Take a node away once both are at work."""
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            begun = {entry["pid"] for entry in journal(out) if entry["event"] == "began"}
            if len(begun) == 2 and list(out.glob("runs/*/checkpoint.safetensors")):
                cluster.remove_node(cluster.workers[0], allow_graceful=False)
                killed.append([entry["run"] for entry in journal(out) if entry["event"] == "finished"])
                return
            time.sleep(0.02)

    killer = threading.Thread(target=kill)
    killer.start()
    plan = read_plan(str(path))
    standing = conduct(
        plan,
        expand(plan)[0],
        StudyFolder(out),
        lambda: make_executor(f"ray:{cluster.address}", None),
        lambda s, event: events.append(event),
        checkpoint_seconds=0,
    )
    killer.join()
    assert killed, "the node was to be killed while both worked"
    assert standing.finished == 4 and not standing.failed, events
    put_back = [event.split(":")[0] for event in events if "put back" in event]
    assert len(put_back) == 1 and put_back[0] not in killed[0], events
    finished = collections.Counter(entry["run"] for entry in journal(out) if entry["event"] == "finished")
    assert len(finished) == 4 and set(finished.values()) == {1}, "nothing lost, nothing run twice"
    began = collections.Counter(entry["run"] for entry in journal(out) if entry["event"] == "began")
    assert began == {run: 2 if run == put_back[0] else 1 for run in finished}
    assert len(read_results([out])) == 4


def test_no_cluster_is_said_in_a_sentence() -> None:
    with pytest.raises(ConfigError, match=r"no Ray cluster answers at 127\.0\.0\.1:1"):
        make_executor("ray:127.0.0.1:1", None)
