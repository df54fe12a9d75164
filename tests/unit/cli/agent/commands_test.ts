import { assertEquals } from "@std/assert";
import { computersText, configText, eventText, officeText } from "../../../../src/cli/agent/commands.ts";
import type { AgentEvent } from "../../../../src/agent/events.ts";
import { parseGetComputerConfigRet } from "../../../../src/protocol/answers.ts";

Deno.test("officeText() lines up the members", () => {
  const session = { sid: "s", office_id: "lab" };
  const text = officeText([
    { ...session, role: "computer", name: "laptop", a2c_version: "0.2.0" },
    { ...session, role: "agent", name: "ada" },
    { ...session, role: "computer", name: "desk", a2c_version: "0.2.0" },
  ], [
    { computer: "laptop", last_read: "2026-11-29T14:05:12Z" },
    { computer: "attic", last_read: "2026-11-29T14:02:31Z", asleep_since: "2026-11-29T14:02:31Z" },
  ]);
  assertEquals(text.split("\n").map((line) => line.split(/ {2,}/)), [
    ["computer", "laptop", "protocol 0.2.0", "awake"],
    ["agent", "ada", "protocol unknown"],
    ["computer", "desk", "protocol 0.2.0", "presence unknown"],
    ["computer", "attic", "asleep since 2026-11-29 14:02 UTC"],
  ]);
  assertEquals(officeText([]), "the office is empty");
});

Deno.test("computersText() says of each Computer whether a call would work now, and which MCP servers it has", () => {
  const text = computersText([
    {
      computer: "laptop",
      last_read: "2026-11-29T14:05:12Z",
      mcp_servers: [{ mcp_server: "files", status: "running", mcp_version: "2025-06-18" }],
    },
    { computer: "attic", last_read: "2026-11-29T14:02:31Z", asleep_since: "2026-11-29T14:02:31Z" },
    { computer: "other", problem: "it does not list them" },
  ]);
  assertEquals(text.split("\n"), [
    "laptop  awake",
    "  files  running    MCP 2025-06-18",
    "attic   asleep since 2026-11-29 14:02 UTC",
    "other   presence unknown",
    "  it does not list them",
  ]);
});

Deno.test("eventText() is one line for each event", () => {
  const computer = "laptop";
  const events: [AgentEvent, string][] = [
    [{ type: "enterOffice", office: "lab", role: "computer", name: computer }, "computer laptop joined"],
    [{ type: "leaveOffice", office: "lab", role: "agent", name: "b" }, "agent b left"],
    [{ type: "updateConfig", computer }, "computer laptop: configuration changed"],
    [{ type: "updateToolList", computer }, "computer laptop: tools changed"],
    [{ type: "updateDesktop", computer: "lap\ttop\u001b" }, "computer lap\ttop�: desktop changed"],
    [{ type: "updateFinder", computer }, "computer laptop: documents changed"],
    [{ type: "updateResources", computer }, "computer laptop: resources changed"],
    [
      { type: "updateProgress", computer, reqId: "r1", progress: 1, total: 3, hasMessage: true },
      "computer laptop: call r1 33 % (1 of 3)",
    ],
    [{ type: "cancelToolCall", agent: "b", reqId: "r1" }, "agent b cancelled call r1"],
    [{ type: "notification", event: "notify:x", body: { a: 1 } }, `notify:x {"a":1}`],
    [{ type: "notification", event: "notify:x", body: undefined }, "notify:x"],
    [{ type: "disconnected", reason: "ping timeout" }, "connection lost (ping timeout)"],
    [{ type: "reconnected", office: "lab" }, "connection restored"],
    [{ type: "failed", error: new TypeError("No") }, "connection failed: No"],
    [{ type: "desktopRefreshed", computer, desktops: [] }, "computer laptop: desktopRefreshed"],
  ];
  for (const [event, text] of events) assertEquals(eventText(event), text);
});

Deno.test("configText() shows where each MCP server is and what it asks for", () => {
  const config = parseGetComputerConfigRet({
    servers: {
      files: { name: "files", type: "stdio", server_parameters: { command: "npx", args: ["files"] } },
      web: { name: "web", type: "sse", disabled: true, server_parameters: { url: "http://web/sse" } },
    },
    inputs: [{ id: "key", type: "promptString", description: "API key" }],
  });
  assertEquals(
    configText(config),
    "files  stdio  enabled   npx files\nweb    sse    disabled  http://web/sse\n\ninput key  promptString  API key",
  );
  assertEquals(configText({ servers: {} }), "no MCP servers");
});
