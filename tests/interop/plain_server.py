"""A small MCP server over stdio with tools alone: `echo(text)`, and `fail()`, which is an error result."""

from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

server = Server("interop-plain", "1.0.0")


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    return [
        types.Tool(name="echo", description="Says it again", inputSchema=text),
        types.Tool(name="fail", inputSchema={"type": "object"}),
    ]


@server.call_tool()
async def call_tool(name: str, arguments: dict[str, Any]) -> list[types.TextContent]:
    if name == "echo":
        return [types.TextContent(type="text", text=arguments["text"])]
    raise ValueError("out of paper")


async def main() -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
