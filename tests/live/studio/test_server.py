"""The studio's server: who may use it, and that nothing recorded is lost."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.live.studio import recordings
from bandstop.live.studio.answers import MOST_BODY
from bandstop.live.studio.recordings import Recordings, checked_class
from bandstop.skeleton import load
from bandstop.skeleton.layouts import HAND


def wave(frames: int = 30, seed: int = 0) -> np.ndarray:
    """A hand that moves."""
    return np.random.default_rng(seed).normal(size=(frames, 21, 3)).astype(np.float32)


@pytest.mark.parametrize(
    "strange",
    [
        {"host": "evil.example"},
        {"host": "evil.example:80"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"x_bandstop_token": "guess"},
        {"x_bandstop_token": ""},
        {"x_bandstop_token": "", "cookie": "bandstop-studio-1=guess"},
    ],
)
@pytest.mark.parametrize("path", ["/api/state", "/", "/page/main.js", "/mediapipe/hands.js"])
def test_strangers_are_refused(studio, strange, path):
    assert studio("GET", path, **strange).status in (400, 403)


def test_the_token_in_the_address_becomes_a_cookie(studio):
    token, port = studio.server.token, studio.server.port
    first = studio("GET", f"/?token={token}", x_bandstop_token="")
    assert first.status == 303 and first.headers["location"] == "/"
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert studio("GET", "/", x_bandstop_token="", cookie=cookie.split(";")[0]).status == 200
    # The address opens the front page only, and a wrong one opens nothing.
    assert studio("GET", f"/api/state?token={token}", x_bandstop_token="").status == 403
    assert studio("GET", "/?token=guess", x_bandstop_token="").status == 403
    assert (
        studio("GET", "/api/state", host=f"localhost:{port}", origin=f"http://localhost:{port}").status == 200
    )


def test_every_answer_has_the_policy(studio):
    for path in ("/", "/api/state", "/nothing"):
        headers = studio("GET", path).headers
        policy = headers["content-security-policy"]
        assert (
            "default-src 'none'" in policy
            and "'unsafe-eval'" not in policy
            and "'unsafe-inline'" not in policy
        )
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


def test_only_this_machine_is_bound(studio):
    assert studio.server._socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "path", ["/page/..%2fapp.py", "/page/app.py", "/mediapipe/..%2f..%2fx", "/page/none.js"]
)
def test_no_other_file_is_served(studio, path):
    assert studio("GET", path).status == 404


def test_a_recording_is_an_ordinary_file(studio):
    assert studio("POST", "/api/classes", {"name": " my  wave "}).json == {"name": "my wave"}
    frames = wave()
    assert studio.record("my wave", "one-1", frames).status == 201
    assert studio.record("fist", "two-1", wave(seed=1)).status == 201
    back = np.frombuffer(studio("GET", "/api/recordings/my%20wave/one-1").body, "<f4").reshape(-1, 21, 3)
    assert np.allclose(back, frames, rtol=1e-5)
    folder = load(str(studio.server.project.recordings.folder))
    assert folder.class_names == ("fist", "my wave") and len(folder) == 2
    assert sorted(map(tuple, folder.edges.tolist())) == sorted(map(tuple, HAND.edges))


def test_sending_twice_is_harmless(studio):
    for _ in range(2):
        assert studio.record("fist", "same-1", wave()).status == 201
    assert len(studio("GET", "/api/state").json["classes"]["fist"]) == 1


def test_a_deletion_can_be_taken_back(studio):
    studio.record("fist", "gone-1", wave())
    assert studio("DELETE", "/api/recordings/fist/gone-1").status == 200
    assert studio("GET", "/api/state").json["classes"]["fist"] == []
    assert studio("POST", "/api/recordings/fist/gone-1/restore").json["frames"] == 30
    assert len(studio("GET", "/api/state").json["classes"]["fist"]) == 1
    assert studio("POST", "/api/recordings/fist/gone-2/restore").status == 400


def test_a_full_disk_says_so_and_leaves_nothing_half(studio, monkeypatch):
    studio.record("fist", "first-1", wave())

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("bandstop.files.os.fsync", full)
    answer = studio.record("fist", "second-1", wave())
    assert answer.status == 507 and "disk is full" in answer.json["problem"]
    monkeypatch.undo()
    place = studio.server.project.recordings.folder / "fist"
    assert [file.name for file in place.iterdir()] == ["first-1.csv"]
    assert studio.record("fist", "second-1", wave()).status == 201


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a/b", "a\\b", "x" * 61, "tab\there\x00", 'say "hi"'])
def test_class_names_are_folder_names(name):
    with pytest.raises(DataError, match="class name"):
        checked_class(name)


@pytest.mark.parametrize("identifier", ["..", "a", "UPPER-1", "a%2fb-c", "with space"])
def test_strange_identifiers(studio, identifier):
    path = f"/api/recordings/fist/{identifier.replace(' ', '%20')}"
    assert studio("PUT", path, wave().tobytes()).status in (400, 404, 405)
    assert not list(Path(studio.server.project.folder).rglob("*.csv"))


def test_wrong_recordings_are_refused(studio):
    assert studio("PUT", "/api/recordings/fist/odd-1", b"123").status == 400
    broken = wave()
    broken[3, 4, 1] = np.nan
    assert studio.record("fist", "nan-1", broken).status == 400
    assert studio.record("fist", "short-1", wave(1)).status == 400
    assert studio("PUT", "/api/recordings/fist/huge-1", bytes(MOST_BODY + 1)).status == 400
    assert studio("POST", "/api/classes", b"[1]").status == 400
    assert studio("POST", "/api/trainings", {"epochs": "many"}).status == 400
    assert studio("POST", "/api/trainings", {"command": "rm"}).status == 400
    assert studio("POST", "/api/trainings/7/resume").status == 400


def test_too_little_is_said_by_the_training(studio):
    studio.record("fist", "only-1", wave())
    number = studio("POST", "/api/trainings", {"epochs": 2}).json["number"]
    trainings = studio.server.project.trainings
    trainings._process.wait(timeout=120)
    found = trainings.progress(number)
    assert found["state"] == "failed" and "needed" in found["outcome"]["problem"]


def test_empty_classes_go_and_full_ones_stay(tmp_path):
    kept = Recordings(tmp_path / "r", tmp_path / "bin")
    kept.add_class("empty")
    kept.save("full", "some-1", wave())
    kept.remove_class("empty")
    with pytest.raises(DataError, match="still has recordings"):
        kept.remove_class("full")
    assert list(kept.classes()) == ["full"]
    assert recordings.MOST_FRAMES > 30 * 60
