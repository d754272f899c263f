"""The studio's web application: the page, its data, and a socket for what happens meanwhile."""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import asdict
from importlib import resources

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from bandstop.live.device import live_wasm_loader
from bandstop.live.stream import NONE
from bandstop.live.studio import mediapipe
from bandstop.live.studio.answers import answering, read_body, read_json
from bandstop.live.studio.guard import Guard
from bandstop.live.studio.project import Project
from bandstop.live.studio.recordings import FRAMES_PER_SECOND, JOINTS, read_landmark_file
from bandstop.live.studio.takeaway import PACKAGES, make_package
from bandstop.skeleton.layouts import HAND, MEDIAPIPE_TO_HAND

__all__ = ["make_app"]

_PAGE = resources.files("bandstop.live.studio") / "page"
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class Studio:
    """The handlers of one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._making = asyncio.Lock()

    async def page(self, request: Request) -> Response:
        """The page and its modules, by name from the package."""
        name = request.path_params.get("name", "index.html")
        kind = _TYPES.get("." + name.rsplit(".", 1)[-1])
        if name == "live.js":  # the loader of exported modules, as a user gets it
            return Response(live_wasm_loader(), media_type=_TYPES[".js"])
        file = _PAGE / name
        if kind is None or "/" in name or not file.is_file():
            return Response("there is no such file", status_code=404)
        return Response(file.read_bytes(), media_type=kind)

    async def landmarks(self, request: Request) -> Response:
        """A file of MediaPipe's package."""
        name, folder = request.path_params["name"], mediapipe.mediapipe_folder()
        if name not in mediapipe.FILES or not (folder / name).is_file():
            return Response("there is no such file", status_code=404)
        return FileResponse(folder / name, headers={"cache-control": "private, max-age=86400"})

    @answering
    async def state(self, request: Request) -> Response:
        """Everything the page shows at its start."""
        classes = await run_in_threadpool(self.project.recordings.classes)
        trainings = self.project.trainings
        return JSONResponse(
            {
                "project": str(self.project.folder),
                "none": NONE,
                "frames_per_second": FRAMES_PER_SECOND,
                "joints": JOINTS,
                "edges": HAND.edges,
                "landmark_order": MEDIAPIPE_TO_HAND,
                "mediapipe": mediapipe.installed(),
                "classes": {name: [asdict(one) for one in found] for name, found in classes.items()},
                "trainings": [trainings.progress(n, after=10**9) for n in trainings.numbers()],
                "packages": {name: what for name, (what, _) in PACKAGES.items()},
            }
        )

    @answering
    async def add_class(self, request: Request) -> Response:
        """A new, empty class."""
        name = self.project.recordings.add_class(str((await read_json(request)).get("name", "")))
        return JSONResponse({"name": name}, status_code=201)

    @answering
    async def remove_class(self, request: Request) -> Response:
        """Remove an empty class."""
        self.project.recordings.remove_class(request.path_params["class_name"])
        return JSONResponse({})

    @answering
    async def save(self, request: Request) -> Response:
        """A recording: float32 values of [frames, joints, 3], little-endian."""
        body = await read_body(request)
        if len(body) % (12 * JOINTS):
            return JSONResponse({"problem": f"a frame has {12 * JOINTS} bytes"}, status_code=400)
        frames = np.frombuffer(body, "<f4").reshape(-1, JOINTS, 3)
        path = request.path_params
        saved = await run_in_threadpool(
            self.project.recordings.save, path["class_name"], path["identifier"], frames
        )
        return JSONResponse(asdict(saved), status_code=201)

    @answering
    async def read(self, request: Request) -> Response:
        """The frames of a recording, as they were sent."""
        path = request.path_params
        frames = await run_in_threadpool(self.project.recordings.read, path["class_name"], path["identifier"])
        return Response(frames.astype("<f4").tobytes(), media_type="application/octet-stream")

    @answering
    async def delete(self, request: Request) -> Response:
        """Move a recording to the bin."""
        path = request.path_params
        self.project.recordings.delete(path["class_name"], path["identifier"])
        return JSONResponse({})

    @answering
    async def restore(self, request: Request) -> Response:
        """Take a deletion back."""
        path = request.path_params
        return JSONResponse(asdict(self.project.recordings.restore(path["class_name"], path["identifier"])))

    @answering
    async def landmarks_of_file(self, request: Request) -> Response:
        """The frames of a landmark file that the page sends, in the studio's order of joints."""
        frames = await run_in_threadpool(
            read_landmark_file, request.path_params["name"], await read_body(request)
        )
        return Response(frames.astype("<f4").tobytes(), media_type="application/octet-stream")

    @answering
    async def train(self, request: Request) -> Response:
        """Begin a training."""
        number = self.project.trainings.start(await read_json(request))
        return JSONResponse({"number": number}, status_code=201)

    @answering
    async def resume(self, request: Request) -> Response:
        """Go on with a stopped training."""
        return JSONResponse({"number": self.project.trainings.resume(int(request.path_params["number"]))})

    @answering
    async def cancel(self, request: Request) -> Response:
        """Stop the training under way."""
        await run_in_threadpool(self.project.trainings.cancel)
        return JSONResponse({})

    @answering
    async def choose(self, request: Request) -> Response:
        """Remember which size of a training is tried and taken away."""
        asked = await read_json(request)
        self.project.trainings.choose(int(request.path_params["number"]), str(asked.get("point", "")))
        return JSONResponse({})

    @answering
    async def module(self, request: Request) -> Response:
        """The WebAssembly module of a point of a training, for the page to try."""
        number, point = int(request.path_params["number"]), request.path_params["point"]
        file = self.project.trainings.point_folder(number, point) / "export" / "recogniser_live.wasm"
        if not file.is_file():
            return Response("there is no such file", status_code=404)
        return FileResponse(file, media_type="application/wasm")

    @answering
    async def package(self, request: Request) -> Response:
        """A package to take away; with HEAD only its size."""
        number, point, what = (request.path_params[key] for key in ("number", "point", "what"))
        trainings = self.project.trainings
        run, place = trainings.point_folder(int(number), point), trainings.place(int(number)) / "packages"
        async with self._making:  # one at a time: compilers would only slow each other down
            file = await run_in_threadpool(make_package, what, run, place / point)
        return FileResponse(file, filename=f"bandstop-{what}.zip", media_type="application/zip")

    async def progress(self, socket: WebSocket) -> None:
        """Send each new epoch of the newest training, and every change of state."""
        await socket.accept()
        sent: tuple[object, ...] = (0, 0)
        try:
            while True:
                numbers = self.project.trainings.numbers()
                if numbers:
                    after = int(str(sent[1])) if sent[0] == numbers[-1] else 0
                    found = await run_in_threadpool(self.project.trainings.progress, numbers[-1], after)
                    if found["done"] < after:  # resumed from an earlier checkpoint
                        found = await run_in_threadpool(self.project.trainings.progress, numbers[-1], 0)
                    now = (*(found[k] for k in ("number", "done", "state", "point")), len(found["points"]))
                    if now != sent:
                        await socket.send_text(
                            json.dumps({**found, "after": found["done"] - len(found["rows"])})
                        )
                        sent = now
                try:
                    await asyncio.wait_for(socket.receive_text(), timeout=0.5)
                except TimeoutError:
                    continue
        except (WebSocketDisconnect, RuntimeError):
            return


def make_app(project: Project, *, port: int, token: str | None = None) -> Starlette:
    """The application for one project, guarded by ``token``."""
    studio = Studio(project)
    one = "/api/recordings/{class_name}/{identifier}"
    point = "/api/trainings/{number:int}/points/{point}"
    routes = [
        Route("/", studio.page),
        Route("/page/{name}", studio.page),
        Route("/mediapipe/{name}", studio.landmarks),
        Route("/api/state", studio.state),
        Route("/api/classes", studio.add_class, methods=["POST"]),
        Route("/api/classes/{class_name}", studio.remove_class, methods=["DELETE"]),
        Route("/api/landmarks/{name}", studio.landmarks_of_file, methods=["POST"]),
        Route(one, studio.save, methods=["PUT"]),
        Route(one, studio.read, methods=["GET"]),
        Route(one, studio.delete, methods=["DELETE"]),
        Route(one + "/restore", studio.restore, methods=["POST"]),
        Route("/api/trainings", studio.train, methods=["POST"]),
        Route("/api/trainings/cancel", studio.cancel, methods=["POST"]),
        Route("/api/trainings/{number:int}/resume", studio.resume, methods=["POST"]),
        Route("/api/trainings/{number:int}/choice", studio.choose, methods=["PUT"]),
        Route(point + "/recogniser.wasm", studio.module),
        Route(point + "/packages/{what}", studio.package),
        WebSocketRoute("/api/progress", studio.progress),
    ]
    guard = Middleware(Guard, token=token or secrets.token_urlsafe(24), port=port)
    app = Starlette(routes=routes, middleware=[guard])
    app.router.redirect_slashes = False  # an address is right or refused
    return app
