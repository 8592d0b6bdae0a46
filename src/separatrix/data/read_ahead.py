"""A thread that reads the next blocks while this one is worked on."""

from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")

WAIT = 0.1  # seconds after which the thread looks whether anybody still wants its blocks


def read_ahead(items: Iterable[T], depth: int) -> Iterator[T]:
    """The same items in the same order, up to ``depth`` of them made before they are asked for.

    What goes wrong in the thread goes wrong here; an iterator that is dropped ends the thread.
    """
    queue: Queue[tuple[bool, Any]] = Queue(depth)
    unwanted = Event()

    def put(what: tuple[bool, Any]) -> bool:
        while not unwanted.is_set():
            try:
                queue.put(what, timeout=WAIT)
                return True
            except Full:
                pass
        return False

    def produce() -> None:
        try:
            for item in items:
                if not put((True, item)):
                    return
            put((False, None))
        except BaseException as error:
            put((False, error))

    thread = Thread(target=produce, name="separatrix-read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            more, item = queue.get()
            if more:
                yield item
                del item  # the block is not kept while the next one is waited for
            elif item is None:
                return
            else:
                raise item
    finally:
        unwanted.set()
        while thread.is_alive():
            try:
                queue.get_nowait()
            except Empty:
                thread.join(WAIT)
