"""axe-core, which finds what keeps users of screen readers or keyboards out of a page; fetched for tests."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import urllib.request
from typing import Any

import pytest

from bandstop.files import atomic_write
from bandstop.live.studio import mediapipe

VERSION = "4.14.0"
ADDRESS = f"{mediapipe.REGISTRY}/axe-core/-/axe-core-{VERSION}.tgz"
SHA512 = "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ=="


def axe_script() -> str:
    """The text of axe.min.js, kept beside MediaPipe's files; a skip where it cannot be fetched."""
    kept = mediapipe.mediapipe_folder().parent / f"axe-core-{VERSION}.min.js"
    if not kept.is_file():
        try:
            data = urllib.request.urlopen(ADDRESS, timeout=60).read()
        except OSError as problem:
            pytest.skip(f"axe-core cannot be fetched from the npm registry ({problem})")
        assert base64.b64encode(hashlib.sha512(data).digest()).decode() == SHA512
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            source = archive.extractfile("package/axe.min.js")
            assert source is not None
            with atomic_write(kept) as part:
                part.write_bytes(source.read())
    return kept.read_text(encoding="utf-8")


def violations(driver: Any) -> list[str]:
    """What axe finds wrong with the page as it is shown."""
    driver.execute_script(axe_script())
    driver.set_script_timeout(60)
    found = driver.execute_async_script("axe.run().then((r) => arguments[0](r.violations))")
    return [
        f"{one['id']}: {node['html'][:160]} ({node['failureSummary'][:200]})"
        for one in found
        for node in one["nodes"]
    ]
