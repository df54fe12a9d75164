"""The official Python SDK's Server on a free port of 127.0.0.1, for `deno task bench:relay`. Prints the address on which it listens."""

import asyncio
import socket
from typing import Any

import socketio
import uvicorn
from a2c_smcp.server.auth import AuthenticationProvider
from a2c_smcp.server.middleware import A2CProtocolVersionASGIMiddleware
from a2c_smcp.server.namespace import SMCPNamespace

# The default message limit of our Server. The default of uvicorn for a WebSocket is the same.
MAX_PAYLOAD_BYTES = 256 * 1024 * 1024


class AcceptEveryone(AuthenticationProvider):
    async def authenticate(self, sio: Any, environ: dict, auth: dict | None, headers: list) -> bool:
        return True


async def main() -> None:
    sio = socketio.AsyncServer(
        async_mode="asgi", cors_allowed_origins="*", max_http_buffer_size=MAX_PAYLOAD_BYTES
    )
    sio.register_namespace(SMCPNamespace(AcceptEveryone()))
    app = A2CProtocolVersionASGIMiddleware(socketio.ASGIApp(sio, socketio_path="/socket.io"))
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
    await serving


asyncio.run(main())
