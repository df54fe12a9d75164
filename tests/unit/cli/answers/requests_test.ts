import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { listResources } from "../../../../src/cli/answers/mcp_requests.ts";
import { CallParams, NO_ARGUMENTS } from "../../../../src/cli/answers/arguments.ts";
import { toFailure } from "../../../../src/cli/outcome.ts";
import { ConnectionClosedError, RequestTimeoutError } from "../../../../src/link/errors.ts";
import { callTool, emptyText, type RequestContext } from "../../../../src/cli/answers/requests.ts";
import { SmcpError, UnsupportedRequestError } from "../../../../src/protocol/errors.ts";

Deno.test("emptyText() names the MCP servers that do not run, or says how to see them", () => {
  const textOf = (states: Record<string, string>) =>
    emptyText({ what: "tools" }, new Map(Object.entries(states).map(([name, status]) => [name, { status }])));
  assertEquals(textOf({}), "no tools: the Computer has no MCP servers");
  assertEquals(textOf({ shop: "running" }), "no tools");
  assertEquals(textOf({ shop: "running", x: "starting" }), 'no tools: server "x" is starting');
  assertEquals(
    textOf({ x: "failed", "y\nz": "stopped" }),
    'no tools: server "x" failed, server "y z" is stopped; "a2c-smcp computer status" on that machine shows why',
  );
  const known = new Map([["x", { status: "retrying", lastError: "exit code 1" }]]);
  assertEquals(emptyText({ what: "tools" }, known), 'no tools: server "x" is retrying (exit code 1)');
});

Deno.test("emptyText() says with the exit code what the MCP server wrote last, or its error above", () => {
  const textOf = (stderrTail: string) =>
    emptyText(
      { what: "tools" },
      new Map([["x", { status: "retrying", lastError: "exit code 1", stderrTail }]]),
    );
  assertStringIncludes(textOf("starting\nno such folder: /data\n"), "(exit code 1: no such folder: /data)");
  assertStringIncludes(textOf("Error: no key\n    at main\n\u001b[31m}\n"), "(exit code 1: Error: no key)");
  assert(textOf("x".repeat(10_000)).length < 500);
});

Deno.test("emptyText() of a Computer of an office names all that may be the reason, and where to look", () => {
  const tools = emptyText({ what: "tools" }, undefined);
  assertStringIncludes(tools, "no tools; ");
  assertStringIncludes(tools, "starting, stopped or failed, or their tools may be forbidden");
  assertStringIncludes(tools, '"a2c-smcp computer status" on that machine');
  assertStringIncludes(emptyText({ what: "windows" }, undefined), "they may have no windows");
});

Deno.test("emptyText() names the capability that windows and documents need, also where all MCP servers run", () => {
  for (const what of ["windows", "documents"] as const) {
    for (const servers of [undefined, new Map([["x", { status: "running" }]])]) {
      assertStringIncludes(emptyText({ what }, servers), '"resources.subscribe"');
    }
  }
});

Deno.test("emptyText() says what nothing matched", () => {
  const filter = "match window://a\nb";
  const running = new Map([["x", { status: "running" }]]);
  assertEquals(emptyText({ what: "windows", filter }, running), "no windows match window://a b");
  assertStringIncludes(emptyText({ what: "windows", filter }, undefined), "no windows match window://a b; ");
});

Deno.test("a call without an answer says whether its tool may have run", async () => {
  const answers = { texts: {}, values: undefined, isApproved: false, isOffered: false };
  const call = { tool: "echo", typed: NO_ARGUMENTS, params: new CallParams("{}"), timeoutMs: 1_000, answers };
  const failureOf = async (error: Error) => {
    const parts = { callTool: () => Promise.reject(error), person: { isHere: false }, progress() {} };
    const context = { ...parts, signal: new AbortController().signal } as unknown as RequestContext;
    const failure = toFailure(await assertRejects(() => callTool(context, call)));
    return [failure.exitCode, failure.message.replace(/^.*?; /, "")];
  };
  const maybe = "the tool may have run: check what it has done before you call it again";
  const [closed, late] = ["connection lost", "no answer in 9 ms"];
  assertEquals(await failureOf(new ConnectionClosedError(closed)), [3, maybe]);
  assertEquals(await failureOf(new ConnectionClosedError(closed, { isUnsent: true })), [
    3,
    "the tool did not run",
  ]);
  assertEquals(await failureOf(new RequestTimeoutError(late)), [5, maybe]);
  const details = { may_have_run: true };
  assertEquals(await failureOf(new SmcpError(404, "left", { details })), [1, maybe]);
  assertEquals(await failureOf(new SmcpError(404, "not found")), [1, "not found"]);
});

Deno.test("resources of a Computer that does not list its MCP servers says to name one", async () => {
  const computer = {
    name: "laptop",
    getMcpServers: () => Promise.reject(new UnsupportedRequestError("client:get_mcp_servers")),
  };
  const context = { computer, progress() {} } as unknown as RequestContext;
  const error = await assertRejects(() => listResources(context, {}), UnsupportedRequestError);
  assertStringIncludes(error.message, '"laptop"');
  assertStringIncludes(error.message, "resources SERVER");
});
