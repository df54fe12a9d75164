"""The reference Computer, hosting windows_server.py under the name `windows`, or what `--servers` says.

Ready: `{"sid", "name", "office"}`. Events: each Socket.IO event that arrives, and `sent` for each that
leaves. Commands: `join` (`office`), `leave`, `update` (`what`: config, tool_list, desktop or skills),
`second` (`name`, `office`), which joins with one more Computer, `reach` (`url`), which only connects,
`request` (`event`, `data`, `timeout`) and `emit` (`event`, `data`) for anything else.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from _driver import Tapped, parse_pairs, run, serve

from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.mcp_clients.model import MCPServerConfig, StdioServerConfig, ToolMeta
from a2c_smcp.computer.socketio.client import SMCPComputerClient
from a2c_smcp.smcp import SMCP_NAMESPACE
from mcp import StdioServerParameters
from pydantic import TypeAdapter

WINDOWS_SERVER = Path(__file__).with_name("windows_server.py")


class TappedComputerClient(Tapped, SMCPComputerClient):
    pass


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--name", default="python-computer")
    parser.add_argument("--office", help="joined at once; without it the Computer only connects")
    parser.add_argument("--servers", help="a JSON list of MCP servers, in the form of the SDK")
    parser.add_argument("--skill-home", type=Path, help="a folder with user/<skill>/SKILL.md")
    parser.add_argument("--landing-root", type=Path, help="where uploads go; from 0.4 on")
    parser.add_argument("--auth", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--header", action="append", default=[], metavar="NAME=VALUE")
    return parser.parse_args()


def windows_config() -> StdioServerConfig:
    return StdioServerConfig(
        name="windows",
        default_tool_meta=ToolMeta(auto_apply=True),
        server_parameters=StdioServerParameters(command=sys.executable, args=[str(WINDOWS_SERVER)]),
    )


def servers_of(args: argparse.Namespace) -> list[Any]:
    if args.servers is None:
        return [windows_config()]
    return [TypeAdapter(MCPServerConfig).validate_python(server) for server in json.loads(args.servers)]


async def connect(client: SMCPComputerClient, url: str, args: argparse.Namespace) -> None:
    auth, headers = parse_pairs(args.auth) or None, parse_pairs(args.header)
    await client.connect(url, auth=auth, headers=headers, namespaces=[SMCP_NAMESPACE])


async def main() -> None:
    args = parse_args()
    with tempfile.TemporaryDirectory(prefix="a2c-interop-", ignore_cleanup_errors=True) as home:
        computer = Computer(
            name=args.name,
            mcp_servers=set(servers_of(args)),
            blob_cache_root=Path(home),
            skill_home=args.skill_home or Path(home) / "skills",
        )
        if args.landing_root:
            # Outside of tests it is named in a settings file of the user.
            computer._landing_root = args.landing_root
        client = TappedComputerClient(computer=computer)
        async with computer:
            try:
                await connect(client, args.url, args)
                if args.office:
                    await client.join_office(args.office)
                await serve(
                    {"sid": client.get_sid(SMCP_NAMESPACE), "name": args.name, "office": args.office},
                    commands_of(client, args),
                )
            finally:
                await client.disconnect()


def commands_of(client: TappedComputerClient, args: argparse.Namespace) -> dict[str, Any]:
    async def join(request: dict[str, Any]) -> str:
        await client.join_office(request["office"])
        return request["office"]

    async def leave(request: dict[str, Any]) -> None:
        await client.leave_office(request.get("office") or client.office_id)

    async def update(request: dict[str, Any]) -> None:
        emitters = {
            "config": client.emit_update_config,
            "tool_list": client.emit_update_tool_list,
            "desktop": client.emit_refresh_desktop,
            "skills": client.emit_update_skills,
        }
        await emitters[request["what"]]()

    async def second(request: dict[str, Any]) -> None:
        other = SMCPComputerClient(computer=Computer(name=request["name"]))
        try:
            await connect(other, args.url, args)
            await other.join_office(request["office"])
        finally:
            await other.disconnect()

    async def reach(request: dict[str, Any]) -> None:
        other = SMCPComputerClient(computer=Computer(name=args.name))
        try:
            await connect(other, request["url"], args)
        finally:
            await other.disconnect()

    async def request_raw(request: dict[str, Any]) -> list[Any]:
        return await client.request(request["event"], request.get("data"), request.get("timeout", 10))

    async def emit(request: dict[str, Any]) -> None:
        await client.emit(request["event"], request.get("data"))

    return {
        "join": join,
        "leave": leave,
        "update": update,
        "second": second,
        "reach": reach,
        "request": request_raw,
        "emit": emit,
    }


run(main)
