"""What the three drivers share: JSON lines on stdin and stdout, everything else on stderr.

A driver prints `{"ready": {...}}` when it is up, or `{"failed": "..."}` and exits with 1. Then each
line on stdin is one command, `{"id": 1, "command": "tools", ...}`, answered by one line,
`{"id": 1, "result": ...}` or `{"id": 1, "error": "..."}`. Commands run side by side, so a slow call
can be cancelled by a second one. What happens unasked is `{"event": "...", "data": ...}`.
The driver leaves when stdin ends.
"""

import asyncio
import contextlib
import json
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

# The reference SDK logs to stdout: the protocol takes the real one, and descriptor 1 becomes stderr.
_protocol_out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
os.dup2(2, 1)
os.environ.setdefault("A2C_SMCP_LOG_LEVEL", "warning")

Command = Callable[[dict[str, Any]], Awaitable[Any]]


def say(message: dict[str, Any]) -> None:
    """Write one protocol line."""
    _protocol_out.write(json.dumps(message, default=_to_json) + "\n")
    _protocol_out.flush()


def notify(event: str, data: Any = None) -> None:
    """Tell the test about something that happened unasked."""
    say({"event": event, "data": data})


def _to_json(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    return str(value)


def describe(error: BaseException) -> str:
    """Name and text of an error on one line."""
    return f"{type(error).__name__}: {error}"


class Asking:
    """Mixin before a python-socketio client: requests whose whole ack counts."""

    async def request(self, event: str, data: Any, timeout: float) -> list[Any]:
        """Emit and return every argument of the ack, as it came."""
        answered: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

        def on_ack(*args: Any) -> None:
            if not answered.done():
                answered.set_result(list(args))

        await self.emit(event, data, self.namespace, on_ack)  # type: ignore[attr-defined]
        return await asyncio.wait_for(answered, timeout)


class Tapped(Asking):
    """Mixin before a python-socketio client: reports every event that it receives and sends."""

    last_call: str | None = None

    async def _trigger_event(self, event: str, namespace: str, *args: Any) -> Any:
        notify(event, args[0] if len(args) == 1 else list(args))
        return await super()._trigger_event(event, namespace, *args)  # type: ignore[misc]

    async def emit(self, event: str, data: Any = None, namespace: str | None = None, callback: Any = None) -> None:
        notify("sent", {"event": event, "data": data, "ack": callback is not None})
        if event == "client:tool_call":
            self.last_call = data["req_id"]
        await super().emit(event, data, namespace, callback)  # type: ignore[misc]


def parse_pairs(pairs: list[str]) -> dict[str, str]:
    """`["a=1"]` to `{"a": "1"}`."""
    return dict(pair.split("=", 1) for pair in pairs)


async def serve(ready: dict[str, Any], commands: dict[str, Command]) -> None:
    """Say ready, then answer commands until stdin ends."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read_stdin() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read_stdin, daemon=True).start()
    say({"ready": ready})

    running: set[asyncio.Task[None]] = set()
    while (line := await lines.get()) is not None:
        if line.strip():
            task = asyncio.create_task(_answer(json.loads(line), commands))
            running.add(task)
            task.add_done_callback(running.discard)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def _answer(request: dict[str, Any], commands: dict[str, Command]) -> None:
    answer: dict[str, Any] = {"id": request.get("id")}
    command = commands.get(request.get("command", ""))
    try:
        if command is None:
            raise ValueError(f"unknown command {request.get('command')!r}, known: {', '.join(sorted(commands))}")
        answer["result"] = await command(request)
    except Exception as error:
        answer["error"] = describe(error)
    say(answer)


def run(main: Callable[[], Awaitable[None]]) -> None:
    """Run a driver; a failure before it was ready becomes a `failed` line and exit code 1."""
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(main())  # type: ignore[arg-type]
    except Exception as error:
        say({"failed": describe(error), "payload": getattr(error, "__dict__", {})})
        sys.exit(1)
