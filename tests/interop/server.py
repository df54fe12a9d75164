"""The reference Server on a free port of 127.0.0.1.

Ready: `{"url", "port"}`. Events: `handled` for each Socket.IO event, `{"event", "from", "args"}` with
`answer` or `error` (the reference Server leaves a client without an ack when a handler raises).
Commands: `sessions`, `disconnect` (`name`).
"""

import argparse
import asyncio
import contextlib
import socket
from typing import Any

from _driver import describe, notify, run, serve

import socketio
import uvicorn
from a2c_smcp import PROTOCOL_VERSION
from a2c_smcp.server.auth import AuthenticationProvider, DefaultAuthenticationProvider
from a2c_smcp.server.middleware import A2CProtocolVersionASGIMiddleware
from a2c_smcp.server.namespace import SMCPNamespace


class AcceptEveryone(AuthenticationProvider):
    async def authenticate(self, sio: Any, environ: dict, auth: dict | None, headers: list) -> bool:
        return True


class ObservedNamespace(SMCPNamespace):
    """The reference namespace, reporting what each event came to."""

    async def trigger_event(self, event: str, *args: Any) -> Any:
        if event in ("connect", "disconnect"):
            return await super().trigger_event(event, *args)
        handled: dict[str, Any] = {"event": event, "from": args[0], "args": list(args[1:])}
        try:
            answer = await super().trigger_event(event, *args)
        except Exception as error:
            notify("handled", {**handled, "error": describe(error)})
            raise
        notify("handled", {**handled, "answer": answer})
        return answer


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--token", help="the only secret that is let in; everybody is without it")
    parser.add_argument("--auth-field", default="token", help="the field of the Socket.IO auth object that holds it")
    parser.add_argument("--protocol-version", default=PROTOCOL_VERSION)
    parser.add_argument("--ping-interval", type=float, default=25)
    parser.add_argument("--ping-timeout", type=float, default=20)
    return parser.parse_args()


async def main() -> None:
    args = parse_args()
    auth = DefaultAuthenticationProvider(args.token, args.auth_field) if args.token else AcceptEveryone()
    sio = socketio.AsyncServer(
        async_mode="asgi",
        cors_allowed_origins="*",
        ping_interval=args.ping_interval,
        ping_timeout=args.ping_timeout,
    )
    namespace = ObservedNamespace(auth)
    sio.register_namespace(namespace)
    app = A2CProtocolVersionASGIMiddleware(
        socketio.ASGIApp(sio, socketio_path="/socket.io"),
        server_version=args.protocol_version,
    )

    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        if serving.done():
            await serving
        await asyncio.sleep(0.01)

    async def sessions(_: dict[str, Any]) -> list[Any]:
        found = []
        for sid, _eio_sid in list(sio.manager.get_participants(namespace.namespace, None)):
            found.append({"sid": sid, **await namespace.get_session(sid)})
        return found

    async def disconnect(request: dict[str, Any]) -> bool:
        sid = await namespace.get_sid_by_name(request["name"])
        if sid is None:
            return False
        await sio.disconnect(sid, namespace=namespace.namespace)
        return True

    try:
        await serve(
            {"url": f"http://127.0.0.1:{port}", "port": port},
            {"sessions": sessions, "disconnect": disconnect},
        )
    finally:
        server.should_exit = True
        server.force_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await serving


run(main)
