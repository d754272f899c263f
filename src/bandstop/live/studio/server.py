"""The studio's server: on this machine only, with a token in the address that it prints and opens."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from pathlib import Path

import uvicorn

from bandstop.errors import ConfigError
from bandstop.live.studio.app import make_app
from bandstop.live.studio.project import Project

__all__ = ["StudioServer", "serve"]


class StudioServer:
    """A server for one project; ``address`` has the token in it."""

    def __init__(self, folder: Path, *, port: int = 0, token: str | None = None) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind(("127.0.0.1", port))
        except OSError as problem:
            raise ConfigError(
                f"port {port} cannot be used ({problem.strerror}); choose another --port"
            ) from None
        self.port: int = self._socket.getsockname()[1]
        self.token = token or secrets.token_urlsafe(24)
        self.project = Project.open(folder)
        app = make_app(self.project, port=self.port, token=self.token)
        settings = uvicorn.Config(app, log_level="warning", ws_max_size=1 << 20, server_header=False)
        self._server = uvicorn.Server(settings)

    @property
    def address(self) -> str:
        """What to open in the browser."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def run(self) -> None:
        """Serve until interrupted; a training under way is stopped and can be resumed."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self.project.trainings.cancel()

    def stop(self) -> None:
        """Ask `run` to return."""
        self._server.should_exit = True


def serve(folder: Path, *, port: int, open_browser: bool) -> None:
    """Serve a project; prints the address and opens it."""
    server = StudioServer(folder, port=port)
    print(f"bandstop studio: {server.address}\nrecordings and trainings: {server.project.folder}", flush=True)
    if open_browser:
        threading.Timer(0.5, webbrowser.open, [server.address]).start()
    server.run()
