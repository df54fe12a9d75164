"""A small MCP server over stdio: four tools, two windows and one document, all deterministic.

Tools: `add(a, b)`; `slow(seconds)`, which tells in the status window that it is running and that it was
cancelled, unless `silent` is true; `set_status(text)`, which changes that window; `picture(size)`, a PNG-typed blob of `size` bytes
(byte i is i modulo 251), large enough to travel as a blob handle. Windows: `window://interop.windows/status`
and `/help`. Document: `dpe://interop.docs/guide`, two pages, served at all four levels. The resources are
listed two at a time.
"""

import base64
import json
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import anyio
from mcp import McpError, types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from pydantic import AnyUrl

STATUS = "window://interop.windows/status"
HELP = "window://interop.windows/help"
DOCS = "dpe://interop.docs"
DOCUMENT = f"{DOCS}/guide"

SUMMARY = {
    "doc_ref": "guide",
    "uri": DOCUMENT,
    "file_uri": "file:///documents/guide.pdf",
    "file_type": "pdf",
    "title": "Interop guide",
    "page_count": 2,
    "keywords": ["interop", "guide"],
    "summary": "How two implementations of one protocol meet",
    "last_modified": "2026-01-15T08:30:00Z",
}

PAGES: list[dict[str, Any]] = [
    {
        "title": "Overview",
        "elements": [
            {
                "element_id": "h-1",
                "category": "heading",
                "summary": "Interop guide",
                "content": {"level": 1, "text": "Interop guide"},
            },
            {
                "element_id": "txt-1",
                "category": "text",
                "summary": "Introduction",
                "content": {"text": "Two peers.\n\nOne wire."},
            },
            {
                "element_id": "list-1",
                "category": "list",
                "summary": "The roles",
                "content": {"ordered": False, "items": ["Server", "Computer", "Agent"]},
            },
        ],
    },
    {
        "title": "Figures",
        "elements": [
            {
                "element_id": "tbl-1",
                "category": "table",
                "summary": "Round trips (2 rows, 2 columns)",
                "content": {"headers": ["Event", "Acks"], "rows": [["join", "2"], ["tool_call", "1"]]},
            },
            {
                "element_id": "code-1",
                "category": "code",
                "summary": "A call",
                "content": {"language": "python", "code": "print(40 + 2)"},
            },
            {
                "element_id": "chart-1",
                "category": "chart",
                "summary": "Latency",
                "content": {"chart_type": "line", "title": "Latency", "data_summary": "Falls with every release"},
            },
        ],
    },
]

server = Server("interop-windows", "1.0.0")
status = "idle"
subscribed: set[str] = set()


async def change_status(text: str) -> None:
    global status
    status = text
    if STATUS in subscribed:
        await server.request_context.session.send_resource_updated(AnyUrl(STATUS))


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    def schema(**properties: str) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in properties.items()},
            "required": list(properties),
        }

    return [
        types.Tool(
            name="add",
            description="Adds two numbers",
            inputSchema=schema(a="number", b="number"),
            outputSchema=schema(sum="number"),
            annotations=types.ToolAnnotations(title="Add", readOnlyHint=True),
        ),
        types.Tool(name="slow", description="Answers after some seconds", inputSchema=schema(seconds="number")),
        types.Tool(name="set_status", description="Changes the status window", inputSchema=schema(text="string")),
        types.Tool(name="picture", description="Returns a blob", inputSchema=schema(size="integer")),
    ]


@server.call_tool()
async def call_tool(name: str, arguments: dict[str, Any]) -> Any:
    if name == "add":
        total = arguments["a"] + arguments["b"]
        return [types.TextContent(type="text", text=str(total))], {"sum": total}
    if name == "slow" and arguments.get("silent"):
        await anyio.sleep(arguments["seconds"])
        return [types.TextContent(type="text", text="done")]
    if name == "slow":
        try:
            await change_status("slow is running")
            await anyio.sleep(arguments["seconds"])
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await change_status("slow was cancelled")
            raise
        return [types.TextContent(type="text", text="done")]
    if name == "set_status":
        await change_status(arguments["text"])
        return [types.TextContent(type="text", text="ok")]
    if name == "picture":
        blob = bytes(index % 251 for index in range(arguments["size"]))
        return [types.ImageContent(type="image", data=base64.b64encode(blob).decode(), mimeType="image/png")]
    raise ValueError(f"Unknown tool: {name}")


RESOURCES = [
    types.Resource(
        uri=AnyUrl(HELP),
        name="Help",
        description="What this server can do",
        mimeType="text/plain",
        annotations=types.Annotations(audience=["assistant"], priority=0.2),
    ),
    types.Resource(
        uri=AnyUrl(STATUS),
        name="Status",
        description="The current status",
        mimeType="text/plain",
        annotations=types.Annotations(audience=["assistant"], priority=0.8),
    ),
    types.Resource(
        uri=AnyUrl(DOCUMENT),
        name=SUMMARY["title"],
        description=SUMMARY["summary"],
        mimeType="application/json",
    ),
]
PAGE_SIZE = 2


@server.list_resources()
async def list_resources(request: types.ListResourcesRequest) -> types.ListResourcesResult:
    start = int(request.params.cursor) if request.params and request.params.cursor else 0
    end = start + PAGE_SIZE
    more = str(end) if end < len(RESOURCES) else None
    return types.ListResourcesResult(resources=RESOURCES[start:end], nextCursor=more)


@server.list_resource_templates()
async def list_resource_templates() -> list[types.ResourceTemplate]:
    return [
        types.ResourceTemplate(uriTemplate=DOCS + "/{doc_ref}/pages/{page_index}", name="Page"),
        types.ResourceTemplate(uriTemplate=DOCS + "/{doc_ref}/elements/{element_id}", name="Element"),
    ]


@server.subscribe_resource()
async def subscribe_resource(uri: AnyUrl) -> None:
    subscribed.add(str(uri))


@server.unsubscribe_resource()
async def unsubscribe_resource(uri: AnyUrl) -> None:
    subscribed.discard(str(uri))


@server.read_resource()
async def read_resource(uri: AnyUrl) -> list[ReadResourceContents]:
    text = str(uri)
    if text == STATUS:
        return [ReadResourceContents(f"status: {status}", "text/plain")]
    if text == HELP:
        return [ReadResourceContents("Call set_status to change the status window", "text/plain")]
    if text.startswith(DOCS):
        return [ReadResourceContents(json.dumps(read_document(text)), "application/json")]
    raise McpError(types.ErrorData(code=-32002, message="Resource not found", data={"uri": text}))


def read_document(uri: str) -> dict[str, Any]:
    parts = urlsplit(uri)
    query = {key: values[0] for key, values in parse_qs(parts.query).items()}
    segments = [unquote(segment) for segment in parts.path.split("/") if segment]
    if not segments:
        return {"documents": [SUMMARY], "total_count": 1}
    if segments[0] != SUMMARY["doc_ref"]:
        raise refusal(4201, f"Document not found: {segments[0]}", doc_ref=segments[0])
    match segments[1:]:
        case []:
            return read_metadata(query)
        case ["pages", index]:
            return read_page(int(index), query)
        case ["elements", element_id]:
            return read_element(element_id)
    raise refusal(4204, f"Invalid DPE URI: {uri}", uri=uri)


def read_metadata(query: dict[str, str]) -> dict[str, Any]:
    if query.get("depth") != "pages":
        return SUMMARY
    offset, limit = int(query.get("offset", "0")), int(query.get("limit", "20"))
    index = [
        {
            "page_index": number,
            "title": page["title"],
            "element_count": len(page["elements"]),
            "uri": f"{DOCUMENT}/pages/{number}",
            "doc_ref": SUMMARY["doc_ref"],
        }
        for number, page in enumerate(PAGES)
    ]
    return {
        **SUMMARY,
        "pages": index[offset : offset + limit],
        "page_offset": offset,
        "page_limit": limit,
        "page_total": len(PAGES),
    }


def read_page(number: int, query: dict[str, str]) -> dict[str, Any]:
    if number >= len(PAGES):
        raise refusal(4202, f"Page out of range: {number}", page_index=number, page_count=len(PAGES))
    wanted = query["categories"].split(",") if "categories" in query else None
    elements = [item for item in PAGES[number]["elements"] if wanted is None or item["category"] in wanted]
    return {
        "page_index": number,
        "title": PAGES[number]["title"],
        "doc_ref": SUMMARY["doc_ref"],
        "uri": f"{DOCUMENT}/pages/{number}",
        "elements": elements,
        "element_count": len(elements),
    }


def read_element(element_id: str) -> dict[str, Any]:
    for number, page in enumerate(PAGES):
        for element in page["elements"]:
            if element["element_id"] == element_id:
                return {
                    **element,
                    "doc_ref": SUMMARY["doc_ref"],
                    "page_index": number,
                    "uri": f"{DOCUMENT}/elements/{element_id}",
                    "metadata": {"source_page": number + 1},
                }
    raise refusal(4203, f"Element not found: {element_id}", element_id=element_id)


def refusal(code: int, message: str, **details: Any) -> McpError:
    return McpError(types.ErrorData(code=code, message=message, data=details))


async def main() -> None:
    options = server.create_initialization_options(NotificationOptions(resources_changed=True))
    if options.capabilities.resources:
        # The low-level Server always announces subscribe: false, also when it has the handlers.
        options.capabilities.resources.subscribe = True
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, options)


if __name__ == "__main__":
    anyio.run(main)
