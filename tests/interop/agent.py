"""The reference Agent.

Ready: `{"sid", "name", "office"}`. Events: each Socket.IO event that arrives, `sent` for each that
leaves, and `tools_received`, which the SDK fetches by itself when a Computer enters or changes.
Commands: `tools` (`computer`), `call` (`computer`, `tool`, `params`, `timeout`), `cancel` (`req_id`, that
of the last call when not given), `desktop` (`computer`, `size`, `window`), `resources` (`computer`,
`mcp_server`, `cursor`), `config` (`computer`), `skills` (`computer`), `skill` (`computer`, `name`,
`rel_path`), `blob` (`computer`, `handle`), all of it in base64, `put_blob` (`computer`, `data` in base64,
`name`), `list_room`, `computers`, `join`, `leave`, `second` (`name`), which joins with one more Agent,
`reach` (`url`), which only connects, `request` and `emit` as in computer.py.
"""

import argparse
import asyncio
import base64
import dataclasses
import uuid
from typing import Any

from _driver import Asking, Tapped, notify, parse_pairs, run, serve

from a2c_smcp.agent.auth import DefaultAgentAuthProvider
from a2c_smcp.agent.client import AsyncSMCPAgentClient
from a2c_smcp.smcp import (
    CANCEL_TOOL_CALL_EVENT,
    GET_CONFIG_EVENT,
    JOIN_OFFICE_EVENT,
    LIST_ROOM_EVENT,
    SMCP_NAMESPACE,
)


class TappedAgentClient(Tapped, AsyncSMCPAgentClient):
    pass


class AskingAgentClient(Asking, AsyncSMCPAgentClient):
    pass


class EventHandler:
    async def on_computer_enter_office(self, data: Any, client: Any) -> None:
        pass

    async def on_computer_leave_office(self, data: Any, client: Any) -> None:
        pass

    async def on_computer_update_config(self, data: Any, client: Any) -> None:
        pass

    async def on_tools_received(self, computer: str, tools: list[Any], client: Any) -> None:
        notify("tools_received", {"computer": computer, "tools": tools})

    async def on_skills_received(self, computer: str, skills: list[Any], client: Any) -> None:
        notify("skills_received", {"computer": computer, "skills": skills})


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--office", required=True)
    parser.add_argument("--name", default="python-agent", help="the name that it joins under")
    parser.add_argument("--agent-id", help="the `agent` member of its requests; the name when not given")
    parser.add_argument("--token")
    parser.add_argument("--auth-field", default="token")
    parser.add_argument("--header", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--await-join", action="store_true", help="ask for the ack of the join, which the SDK does not")
    parser.add_argument("--no-join", action="store_true")
    return parser.parse_args()


async def main() -> None:
    args = parse_args()
    agent_id = args.agent_id or args.name
    client = TappedAgentClient(auth_provider=credentials(args, agent_id), event_handler=EventHandler())
    try:
        await client.connect_to_server(args.url)
        if not args.no_join:
            await join_office(client, args, ack=args.await_join)
        await serve(
            {"sid": client.get_sid(SMCP_NAMESPACE), "name": args.name, "office": args.office},
            commands_of(client, args),
        )
    finally:
        await client.disconnect()


def credentials(args: argparse.Namespace, agent_id: str) -> DefaultAgentAuthProvider:
    return DefaultAgentAuthProvider(
        agent_id=agent_id,
        office_id=args.office,
        api_key=args.token,
        auth_field_name=args.auth_field,
        extra_headers=parse_pairs(args.header),
    )


async def join_office(client: TappedAgentClient, args: argparse.Namespace, *, ack: bool) -> list[Any]:
    """Join as the SDK does, without an ack, and wait until list_room shows it; or with an ack."""
    if ack:
        answer = await client.request(
            JOIN_OFFICE_EVENT,
            {"role": "agent", "name": args.name, "office_id": args.office},
            10,
        )
        if answer and answer[0] is not True:
            raise RuntimeError(f"join refused: {answer}")
        return answer
    await client.join_office(args.office, args.name, namespace=SMCP_NAMESPACE)
    for _ in range(10):
        try:
            room = await list_room(client, args, timeout=1)
        except TimeoutError:
            continue
        members = room[0].get("sessions", []) if room and isinstance(room[0], dict) else []
        if any(member["role"] == "agent" and member["name"] == args.name for member in members):
            return []
        await asyncio.sleep(0.1)
    raise RuntimeError("join not confirmed by list_room")


async def list_room(client: TappedAgentClient, args: argparse.Namespace, *, timeout: float) -> list[Any]:
    return await client.request(
        LIST_ROOM_EVENT,
        {"agent": args.agent_id or args.name, "req_id": uuid.uuid4().hex, "office_id": args.office},
        timeout,
    )


def commands_of(client: TappedAgentClient, args: argparse.Namespace) -> dict[str, Any]:
    agent_id = args.agent_id or args.name

    async def tools(request: dict[str, Any]) -> Any:
        return await client.get_tools_from_computer(request["computer"])

    async def call(request: dict[str, Any]) -> Any:
        return await client.emit_tool_call(
            request["computer"],
            request["tool"],
            request.get("params", {}),
            request.get("timeout", 10),
        )

    async def cancel(request: dict[str, Any]) -> None:
        await client.emit(
            CANCEL_TOOL_CALL_EVENT,
            {"agent": request.get("agent", agent_id), "req_id": request.get("req_id", client.last_call)},
            SMCP_NAMESPACE,
        )

    async def desktop(request: dict[str, Any]) -> Any:
        return await client.get_desktop_from_computer(
            request["computer"],
            size=request.get("size"),
            window=request.get("window"),
        )

    async def resources(request: dict[str, Any]) -> Any:
        return await client.get_resources(request["computer"], request["mcp_server"], request.get("cursor"))

    async def config(request: dict[str, Any]) -> list[Any]:
        data = {"agent": agent_id, "req_id": uuid.uuid4().hex, "computer": request["computer"]}
        return await client.request(GET_CONFIG_EVENT, data, request.get("timeout", 10))

    async def skills(request: dict[str, Any]) -> Any:
        return await client.get_skills(request["computer"])

    async def skill(request: dict[str, Any]) -> Any:
        return await client.get_skill(request["computer"], request["name"], request.get("rel_path"))

    async def blob(request: dict[str, Any]) -> str:
        content = b""
        while True:
            chunk = await client.get_blob(request["computer"], request["handle"], chunk_offset=len(content))
            content += base64.b64decode(chunk["blob"])
            if chunk["eof"]:
                return base64.b64encode(content).decode()

    async def put_blob(request: dict[str, Any]) -> Any:
        content = base64.b64decode(request["data"])
        return dataclasses.asdict(await client.put_blob(request["computer"], content, name_hint=request.get("name")))

    async def second(request: dict[str, Any]) -> None:
        other = AskingAgentClient(auth_provider=credentials(args, request["name"]), event_handler=EventHandler())
        try:
            await other.connect_to_server(args.url)
            data = {"role": "agent", "name": request["name"], "office_id": args.office}
            answer = await other.request(JOIN_OFFICE_EVENT, data, 10)
            if answer and answer[0] is not True:
                raise RuntimeError(f"join refused: {answer}")
        finally:
            await other.disconnect()

    async def reach(request: dict[str, Any]) -> None:
        other = AskingAgentClient(auth_provider=credentials(args, args.name), event_handler=EventHandler())
        try:
            await other.connect_to_server(request["url"])
        finally:
            await other.disconnect()

    async def room(request: dict[str, Any]) -> list[Any]:
        return await list_room(client, args, timeout=request.get("timeout", 10))

    async def computers(_: dict[str, Any]) -> Any:
        return await client.get_computers_in_office(args.office)

    async def join(request: dict[str, Any]) -> list[Any]:
        return await join_office(client, args, ack=request.get("ack", True))

    async def leave(_: dict[str, Any]) -> None:
        await client.leave_office(args.office, namespace=SMCP_NAMESPACE)

    async def request_raw(request: dict[str, Any]) -> list[Any]:
        return await client.request(request["event"], request.get("data"), request.get("timeout", 10))

    async def emit(request: dict[str, Any]) -> None:
        await client.emit(request["event"], request.get("data"), SMCP_NAMESPACE)

    return {
        "tools": tools,
        "call": call,
        "cancel": cancel,
        "desktop": desktop,
        "resources": resources,
        "config": config,
        "skills": skills,
        "skill": skill,
        "blob": blob,
        "put_blob": put_blob,
        "second": second,
        "reach": reach,
        "list_room": room,
        "computers": computers,
        "join": join,
        "leave": leave,
        "request": request_raw,
        "emit": emit,
    }


run(main)
