"""The server of the studio: for this machine alone, unless a password guards it."""

import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from separatrix.errors import DataError
from separatrix.studio.files_in import LARGEST_FILE, Loaded
from separatrix.studio.page import Page, panel

LOOPBACK = "127.0.0.1"
LARGEST_MESSAGE = 2 * LARGEST_FILE  # bytes of one message of a page, in which a file travels as letters
SHORTEST_PASSWORD = 8


def server(
    port: int = 0,
    host: str | None = None,
    password: str | None = None,
    start: Loaded | None = None,
    origins: tuple[str, ...] = (),
) -> Any:
    """A server that is not started yet; port 0 takes a free one.

    Without a host it listens on the loopback address alone. With one a password is required. Web sockets are taken from
    pages of its own address only, so no other page in the browser can speak to it.
    """
    pn = panel()
    address = host or LOOPBACK
    if host is not None and len(password or "") < SHORTEST_PASSWORD:
        raise DataError(f"For other machines the studio needs a password of at least {SHORTEST_PASSWORD} characters.")
    port = port or _free_port(address)
    allowed = {f"{name}:{port}" for name in (address, *([] if host else ["localhost"]))} | set(origins)
    guard: dict[str, Any] = {}
    if host is not None:
        login = str(Path(__file__).with_name("login.html"))  # Panel's own takes its picture from the network
        guard = {"basic_auth": password, "cookie_secret": secrets.token_hex(32), "login_template": login}
    with _ctrl_c_as_before():
        return pn.io.server.get_server(
            {"/": page_maker(start)},
            port=port,
            address=address,
            websocket_origin=sorted(allowed),
            websocket_max_message_size=LARGEST_MESSAGE,
            title="separatrix studio",
            show=False,
            start=False,
            **guard,
        )


@contextmanager
def _ctrl_c_as_before() -> Iterator[None]:
    """Panel takes Ctrl-C for a server that need not run yet, for as long as the process lives: a fit never sees it."""
    former = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if former is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, former)


def page_maker(start: Loaded | None = None) -> Callable[[], Any]:
    """Every window gets a page, a state and a thread of its own."""

    def make() -> None:
        document = panel().state.curdoc
        with document.models.freeze():  # else Bokeh collects all models again after every one that is added
            Page(start).view().server_doc(document, title="separatrix studio")

    return make


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])
