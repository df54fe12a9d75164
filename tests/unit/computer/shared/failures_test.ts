import { assertEquals } from "@std/assert";
import { readResolved } from "../../../../src/config/values.ts";
import { absentServersHint, toReadError } from "../../../../src/computer/shared/failures.ts";
import {
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
} from "../../../../src/mcp/errors.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { Fleet } from "../../../../src/mcp/supervision/fleet.ts";
import { silentLogger } from "../../../../src/log.ts";
import { parseConfig } from "../../../../src/config/config.ts";
import { DEFAULT_SERVER_LIMITS } from "../../../../src/mcp/limits.ts";
import type { ServerStatus } from "../../../../src/mcp/supervision/server_state.ts";
import type { SupervisedServer } from "../../../../src/mcp/supervision/supervised_server.ts";
import { parseDpeUri } from "../../../../src/uri/dpe_uri.ts";
import { deafListener } from "../../../fixtures/deaf_listener.ts";

/** A server that is never started. */
function stoppedServer(): SupervisedServer {
  const fleet = new Fleet({
    limits: DEFAULT_SERVER_LIMITS,
    log: silentLogger,
    listen: () => ({
      onRunning() {},
      onStateChange() {},
      ...deafListener,
    }),
    resolve: (config) => Promise.resolve(readResolved(config.name, config)),
  });
  const entry = { name: "s", disabled: true, type: "stdio", server_parameters: { command: "x" } };
  const [config] = parseConfig({ servers: [entry] }).servers;
  if (config === undefined) throw new TypeError("no config");
  fleet.follow([config]);
  const server = fleet.get(config.name);
  if (server === undefined) throw new TypeError("no server");
  return server;
}

const server = stoppedServer();

/** The code and details of what a failure becomes for a URI. */
function readError(
  error: unknown,
  uri = "file:///x",
  isListed = false,
  pageCount?: number,
): unknown {
  const dpe = uri.startsWith("dpe:") ? parseDpeUri(uri) : undefined;
  const made = toReadError(error, { server, uri, dpe, isListed, pageCount: () => pageCount });
  return made instanceof SmcpError ? [made.code, made.details] : made;
}

Deno.test("time, authorization and a server that is not running have their codes", () => {
  assertEquals(readError(new ServerTimeoutError("x")), [408, { mcp_server: "s" }]);
  assertEquals(readError(new ServerAuthorizationError(401)), [4006, { mcp_server: "s" }]);
  assertEquals(readError(new ServerAuthorizationError(403)), [4007, { mcp_server: "s" }]);
  assertEquals(readError(new ServerNotRunningError({ reason: "x" })), [500, {
    mcp_server: "s",
    state: "stopped",
  }]);
});

// proves: mcp-error-not-found, mcp-error-internal
Deno.test("MCP's not found is told by scheme and level, its other errors are 500 with their code", () => {
  const missing = new ServerAnswerError(-32002, "x");
  assertEquals(readError(missing), [404, { uri: "file:///x" }]);
  assertEquals(readError(missing, "dpe://d"), [4201, {}]);
  assertEquals(readError(missing, "dpe://d/a"), [4201, { doc_ref: "a" }]);
  assertEquals(readError(missing, "dpe://d/a/pages/7"), [4201, { doc_ref: "a" }]);
  assertEquals(readError(missing, "dpe://d/a/pages/7", true), [4202, { doc_ref: "a", page_index: 7 }]);
  assertEquals(readError(missing, "dpe://d/a/elements/e", true), [4203, { doc_ref: "a", element_id: "e" }]);
  assertEquals(readError(new ServerAnswerError(-32603, "x")), [500, { mcp_server: "s", code: -32603 }]);
});

// proves: guide-error-kept
Deno.test("4201 to 4203 pass with their details wherever the server puts the code, other codes do not", () => {
  const answer = (code: number, data?: unknown) =>
    readError(new ServerAnswerError(code, "x", { data }), "dpe://d/a");
  assertEquals(answer(4202, { page_index: 9, page_count: 3 }), [4202, { page_index: 9, page_count: 3 }]);
  assertEquals(answer(-32000, { code: 4203, element_id: "e", message: "m" }), [4203, { element_id: "e" }]);
  assertEquals(answer(4201, { details: { doc_ref: "a" }, code: 4201 }), [4201, { doc_ref: "a" }]);
  assertEquals(answer(4201), [4201, { doc_ref: "a" }]);
  assertEquals(answer(4204), [500, { mcp_server: "s", code: 4204 }]);
  const other = { code: "4201" };
  assertEquals(answer(-32000, other), [500, { mcp_server: "s", code: -32000, data: other }]);
});

// proves: guide-error-details
Deno.test("details that the server does not give are filled in from the URI and the known document", () => {
  const page = (data?: unknown) =>
    readError(new ServerAnswerError(4202, "x", { data }), "dpe://d/a/pages/7", true, 3);
  assertEquals(page(), [4202, { doc_ref: "a", page_index: 7, page_count: 3 }]);
  assertEquals(page({ code: 4202, message: "m" }), page());
  assertEquals(readError(new ServerAnswerError(-32002, "x"), "dpe://d/a/pages/7", true, 3), page());
  const element = readError(new ServerAnswerError(4203, "x"), "dpe://d/a/elements/e");
  assertEquals(element, [4203, { doc_ref: "a", element_id: "e" }]);
});

// proves: guide-error-kept
Deno.test("the data of an MCP server's other errors is kept, unless it is very large", () => {
  const answer = (data: unknown) => readError(new ServerAnswerError(-32603, "x", { data }), "dpe://d/a");
  assertEquals(answer({ hint: "later" }), [500, { mcp_server: "s", code: -32603, data: { hint: "later" } }]);
  assertEquals(answer("x".repeat(20_000)), [500, { mcp_server: "s", code: -32603 }]);
});

Deno.test("what nobody foresaw stays what it is", () => {
  const error = new TypeError("bug");
  assertEquals(readError(error), error);
});

function serverIn(status: ServerStatus, why?: string) {
  return {
    name: `${status}-server`,
    status,
    statusText: why === undefined ? status : `${status}: ${why}`,
  };
}

Deno.test("absentServersHint() says nothing when every server runs", () => {
  assertEquals(absentServersHint({ servers: [] }), "");
  assertEquals(absentServersHint({ servers: [serverIn("running")] }), "");
});

Deno.test("absentServersHint() names the servers that do not run, and why", () => {
  const servers = [serverIn("starting"), serverIn("running"), serverIn("retrying", "HTTP 401")];
  assertEquals(
    absentServersHint({ servers }),
    "; not running: starting-server (starting), retrying-server (retrying: HTTP 401)",
  );
});

Deno.test("absentServersHint() names five servers and counts the others", () => {
  const hint = absentServersHint({ servers: Array.from({ length: 9 }, () => serverIn("stopped")) });
  assertEquals(hint.split("stopped-server").length - 1, 5);
  assertEquals(hint.endsWith(" and 4 more"), true);
});
