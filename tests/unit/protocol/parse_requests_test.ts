import { assertEquals } from "@std/assert";
import {
  parseAnswerInputReq,
  parseFollowCallReq,
  parseGetCompletionReq,
  parseGetComputerConfigReq,
  parseGetDeskTopReq,
  parseGetDpeReq,
  parseGetFinderReq,
  parseGetMcpServersReq,
  parseGetPromptReq,
  parseGetPromptsReq,
  parseGetResourcesReq,
  parseGetResourceTemplatesReq,
  parseGetResourceUpdatesReq,
  parseGetToolsReq,
  parseReadResourceReq,
  parseSubscribeResourceReq,
  parseToolCallReq,
} from "../../../src/protocol/parse.ts";
import {
  parseAgentCallData,
  parseComputerCallData,
  parseEnterOfficeReq,
  parseLeaveOfficeReq,
  parseListRoomReq,
  parseUpdateComputerConfigReq,
  parseUpdateProgressReq,
} from "../../../src/protocol/office_requests.ts";
import type { Parser } from "../../../src/protocol/schemas/schema.ts";
import { checkParser, type Wrong } from "./_accept.ts";

const base = { agent: "ada", req_id: "r1" };
const wrongBase: Wrong[] = [
  ["agent", null],
  ["agent", 1],
  ["agent", "x".repeat(129)],
  ["req_id", undefined],
  ["req_id", ""],
  [
    "req_id",
    7,
  ],
];
const call = { ...base, computer: "laptop" };
const wrongCall: Wrong[] = [...wrongBase, ["computer", undefined], ["computer", {}], [
  "computer",
  "x".repeat(129),
]];
const wrongTimeout: Wrong[] = [["timeout", 0], ["timeout", -1], ["timeout", 86_401], ["timeout", "30"], [
  "timeout",
  NaN,
]];

// proves: data-agent-call, data-snake-case
Deno.test("AgentCallData has agent and req_id", () => checkParser(parseAgentCallData, base, wrongBase));

Deno.test("agent may be missing, since nobody needs it", () => {
  assertEquals(parseAgentCallData({ req_id: "r1" }), { agent: "", req_id: "r1" });
  assertEquals(parseToolCallReq({ req_id: "r1", computer: "c", tool_name: "t", params: {} }).agent, "");
});

Deno.test("a timeout of null is absent, as in requests of peers in Python", () => {
  for (const parse of [parseComputerCallData, parseGetDeskTopReq, parseGetFinderReq]) {
    assertEquals(parse({ ...call, timeout: null }).timeout, undefined);
  }
  assertEquals(parseReadResourceReq({ ...call, uri: "dpe://h", timeout: null }).timeout, undefined);
  const toolCall = { ...call, tool_name: "t", params: {} };
  assertEquals(parseToolCallReq({ ...toolCall, timeout: null }).timeout, undefined);
  const followed = parseFollowCallReq({ ...call, call: "r0", idle_timeout: null, timeout: null });
  assertEquals([followed.timeout, followed.idle_timeout], [undefined, undefined]);
});

// proves: data-timeout-seconds
Deno.test("a relayed request adds computer and may have a timeout in seconds, up to a day, fractions accepted", () => {
  checkParser(parseComputerCallData, call, [...wrongCall, ...wrongTimeout]);
  for (const timeout of [0.5, 30, 86_400]) {
    assertEquals(parseComputerCallData({ ...call, timeout }).timeout, timeout);
  }
});

Deno.test("a req_id is bounded, so that a cancel can name any", () => {
  checkParser(parseAgentCallData, { ...base, req_id: "x".repeat(1024) }, [["req_id", "x".repeat(1025)]]);
});

// proves: data-tool-call-req
Deno.test("ToolCallReq adds tool_name, params and timeout", () => {
  checkParser(parseToolCallReq, { ...call, tool_name: "t", params: { a: 1 }, timeout: 5 }, [
    ...wrongCall,
    ...wrongTimeout,
    ["tool_name", undefined],
    ["tool_name", ""],
    ["params", undefined],
    ["params", []],
    ["params", "{}"],
  ]);
});

Deno.test("an argument that would be lost on its way is refused", () => {
  const members = JSON.parse('{"__proto__": "x"}');
  const requests: [Parser<unknown>, Record<string, unknown>, string][] = [
    [parseToolCallReq, { tool_name: "t", params: members }, "params"],
    [parseAnswerInputReq, { state: "s", action: "accept", content: members }, "content"],
    [parseGetPromptReq, { mcp_server: "s", name: "p", arguments: members }, "arguments"],
  ];
  for (const [parse, more, field] of requests) {
    checkParser(parse, { ...call, ...more, [field]: { a: "x" } }, [[field, members]]);
  }
});

// proves: data-get-tools-req, data-get-config-req
Deno.test("GetToolsReq and GetComputerConfigReq add computer", () => {
  checkParser(parseGetToolsReq, call, wrongCall);
  checkParser(parseGetComputerConfigReq, call, wrongCall);
});

// proves: data-enter-office-req
Deno.test("EnterOfficeReq has role, name and office_id", () => {
  checkParser(parseEnterOfficeReq, { role: "agent", name: "ada", office_id: "lab" }, [
    ["role", undefined],
    ["role", "server"],
    ["name", undefined],
    ["name", ""],
    ["name", "x".repeat(129)],
    ["name", "a\nb"],
    ["office_id", undefined],
    ["office_id", "\u0007"],
    ["office_id", ["lab"]],
  ]);
  parseEnterOfficeReq({ role: "computer", name: "计算机", office_id: "x".repeat(128) });
});

// proves: data-leave-office-req, data-list-room-req, data-update-req
Deno.test("LeaveOfficeReq and ListRoomReq have office_id, UpdateComputerConfigReq has computer", () => {
  checkParser(parseLeaveOfficeReq, { office_id: "lab" }, [["office_id", undefined], ["office_id", 1]]);
  checkParser(parseListRoomReq, { ...base, office_id: "lab" }, [...wrongBase, ["office_id", undefined]]);
  checkParser(parseUpdateComputerConfigReq, { computer: "laptop" }, [["computer", undefined], [
    "computer",
    1,
  ]]);
});

// proves: data-desktop-req
Deno.test("GetDeskTopReq may have desktop_size and window, null meaning absent", () => {
  checkParser(parseGetDeskTopReq, { ...call, desktop_size: -1, window: "window://w" }, [
    ...wrongCall,
    ["desktop_size", 1.5],
    ["desktop_size", "1"],
    ["window", 1],
  ]);
  const { desktop_size, window } = parseGetDeskTopReq({ ...call, desktop_size: null, window: null });
  assertEquals([desktop_size, window], [undefined, undefined]);
});

// proves: data-finder-req
Deno.test("GetFinderReq may have keywords, file_type, offset and limit, null meaning absent", () => {
  checkParser(parseGetFinderReq, { ...call, keywords: ["a"], file_type: "pdf", offset: 0, limit: 1_000 }, [
    ...wrongCall,
    ["keywords", "a"],
    ["keywords", [1]],
    ["file_type", 1],
    ["offset", -1],
    ["offset", 0.5],
    ["limit", -1],
    ["limit", "20"],
  ]);
  const nulls = parseGetFinderReq({ ...call, keywords: null, file_type: null, offset: null, limit: null });
  assertEquals([nulls.keywords, nulls.file_type, nulls.offset, nulls.limit], Array(4).fill(undefined));
});

Deno.test("the requests of the read bridge name a URI or an MCP server", () => {
  checkParser(parseReadResourceReq, { ...call, uri: "dpe://d", mcp_server: "s", timeout: 1 }, [
    ...wrongCall,
    ...wrongTimeout,
    ["uri", undefined],
    ["uri", ""],
    ["mcp_server", 1],
  ]);
  checkParser(parseGetResourcesReq, { ...call, mcp_server: "s", cursor: "c" }, [
    ...wrongCall,
    ["mcp_server", undefined],
    ["mcp_server", ""],
    ["cursor", 1],
  ]);
  checkParser(parseGetDpeReq, { ...call, uri: "dpe://d/x" }, [...wrongCall, ["uri", undefined], ["uri", 1]]);
});

Deno.test("our own requests about resources take what the page of extensions says, and nulls for what is left out", () => {
  const absent = { mcp_server: null, cursor: null };
  assertEquals(parseGetResourceTemplatesReq({ ...call, ...absent }).mcp_server, undefined);
  checkParser(parseGetResourceTemplatesReq, { ...call, mcp_server: "docs", cursor: "2" }, [
    ...wrongCall,
    ...wrongTimeout,
    ["mcp_server", 1],
    ["cursor", 2],
  ]);
  checkParser(parseSubscribeResourceReq, { ...call, uri: "file:///a", mcp_server: "docs" }, [
    ...wrongCall,
    ["uri", ""],
    ["uri", "x".repeat(2_049)],
  ]);
  checkParser(parseGetResourceUpdatesReq, { ...call, cursor: "c" }, [...wrongCall, ["cursor", 1]]);
  checkParser(parseFollowCallReq, { ...call, call: "r2", idle_timeout: 5 }, [
    ...wrongCall,
    ["call", undefined],
    ["call", ""],
    ["call", "x".repeat(10_000)],
    ["idle_timeout", 0],
    ["idle_timeout", 86_401],
    ["idle_timeout", "5"],
  ]);
  checkParser(parseUpdateProgressReq, { computer: "laptop", req_id: "r2", progress: 1, total: 2 }, [
    ["computer", 1],
    ["req_id", undefined],
    ["progress", "1"],
    ["progress", NaN],
    ["total", null],
    ["has_message", 1],
  ]);
  const completion = {
    ...call,
    mcp_server: "docs",
    ref: { uri: "file:///{path}" },
    argument: { name: "path", value: "" },
    context: { arguments: { host: "h" } },
  };
  checkParser(parseGetCompletionReq, completion, [
    ...wrongCall,
    ["ref", { uri: "" }],
    ["ref", "file:///{path}"],
    ["argument", { name: "", value: "" }],
    ["argument", { name: "path" }],
    ["context", { arguments: { host: 1 } }],
  ]);
  assertEquals(parseGetCompletionReq({ ...completion, context: null }).context, undefined);
  checkParser(parseGetCompletionReq, { ...completion, ref: { prompt: "review" } }, [
    ["ref", { prompt: "" }],
    ["ref", { prompt: "x".repeat(1_025) }],
    ["ref", {}],
  ]);
});

Deno.test("requests about MCP servers and prompts take one server or all", () => {
  checkParser(parseGetMcpServersReq, { ...call, mcp_server: "docs", timeout: 3 }, [
    ...wrongCall,
    ...wrongTimeout,
    ["mcp_server", 1],
  ]);
  checkParser(parseGetPromptsReq, { ...call, mcp_server: "docs", cursor: "c", timeout: 3 }, [
    ...wrongCall,
    ...wrongTimeout,
    ["cursor", 2],
  ]);
  const prompt = { ...call, mcp_server: "docs", name: "review", arguments: { language: "de" }, timeout: 3 };
  checkParser(parseGetPromptReq, prompt, [
    ...wrongCall,
    ...wrongTimeout,
    ["name", ""],
    ["name", "x".repeat(1_025)],
    ["arguments", { language: 1 }],
    ["arguments", "language=de"],
  ]);
  assertEquals(parseGetPromptReq({ ...prompt, arguments: null, mcp_server: null }).arguments, undefined);
});
