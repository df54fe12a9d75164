import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { Entrance } from "../../../../src/http/mcp/entrance.ts";
import {
  type Access,
  accessOf,
  AccessRefusal,
  type AccessRule,
  firstRule,
  OWNER,
  refuseOffice,
  toAuthInfo,
  tokenRule,
} from "../../../../src/http/mcp/access.ts";
import type { SessionClient } from "../../../../src/http/mcp/sessions.ts";
import { LogBook } from "../../../fixtures/log_book.ts";
import { within } from "../../../fixtures/within.ts";

const READER: Access = { id: "r", client: "Reader", offices: ["lab"], rights: "read" };
const HEADERS = {
  host: "localhost",
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

const CALL = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "slow", arguments: {} } };

const MODERN_CALL = {
  ...CALL,
  params: {
    ...CALL.params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
};

/** Admits whom the header `x-id` names, with the rights of `x-rights`. */
const named: AccessRule = {
  admit({ headers }) {
    const id = headers.get("x-id");
    if (id === null) {
      const log = { reason: "no id" };
      return Promise.resolve(new AccessRefusal(401, { message: "no id", challenge: "Bearer", log }));
    }
    const rights = headers.get("x-rights") === "call" ? "call" : "read";
    return Promise.resolve({ ...READER, id, rights });
  },
};

interface EntranceOptions {
  readonly logger?: LogBook;
  /** Called with the server of each session. */
  readonly prepare?: (server: Server) => void;
}

/** An entrance whose path tells the access of a session as the name of its server. */
function openEntrance(rule: AccessRule, { logger = new LogBook(), prepare }: EntranceOptions = {}) {
  const clients: SessionClient[] = [];
  const factory = (client: SessionClient) => {
    clients.push(client);
    const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
    prepare?.(server);
    return server;
  };
  const modern = createMcpHandler(
    ({ era, authInfo }) => factory({ era, access: () => accessOf(authInfo) }),
    { legacy: "reject" },
  );
  const path = { factory, modern };
  const entrance = new Entrance({
    names: "/mcp",
    find: (pathname) => pathname === "/mcp" ? { path: pathname, open: () => path } : undefined,
    close: () => modern.close(),
  }, { access: rule, publicUrl: "https://hub.example", logger });
  return { entrance, clients, logger };
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const ping = { jsonrpc: "2.0", id: 2, method: "ping" };

async function post(entrance: Entrance, headers: Record<string, string>, body: unknown = ping) {
  const request = new Request("http://localhost:4000/mcp", {
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(body),
  });
  const response = await entrance.fetch(request);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

Deno.test("a session belongs to the credential that began it, and is unknown to every other", async () => {
  const { entrance } = openEntrance(named);
  await using _ = entrance;
  const { headers } = await post(entrance, { "x-id": "one" }, initialize);
  const session = headers.get("mcp-session-id") ?? "";
  assertEquals((await post(entrance, { "x-id": "one", "mcp-session-id": session })).status, 200);
  const stolen = await post(entrance, { "x-id": "two", "mcp-session-id": session });
  const unknown = await post(entrance, { "x-id": "two", "mcp-session-id": crypto.randomUUID() });
  assertEquals([stolen.status, stolen.text], [unknown.status, unknown.text]);
  assertEquals(stolen.status, 404);
});

Deno.test("the server of a session knows the access of its newest request", async () => {
  const { entrance, clients } = openEntrance(named);
  await using _ = entrance;
  const { headers } = await post(entrance, { "x-id": "one" }, initialize);
  const session = { "x-id": "one", "mcp-session-id": headers.get("mcp-session-id") ?? "" };
  assertEquals(clients.map(({ access }) => access().rights), ["read"]);
  await post(entrance, { ...session, "x-rights": "call" });
  assertEquals(clients.map(({ access }) => access().rights), ["call"]);
});

Deno.test("one credential cannot take the sessions of all others", async () => {
  const { entrance } = openEntrance(named);
  await using _ = entrance;
  const begin = async (id: string) => {
    const { headers } = await post(entrance, { "x-id": id }, initialize);
    return { "x-id": id, "mcp-session-id": headers.get("mcp-session-id") ?? "" };
  };
  const first = await begin("modest");
  for (let count = 0; count < 210; count++) await begin("greedy");
  assertEquals((await post(entrance, first)).status, 200);
});

Deno.test("a refusal is in the audit log by its reason", async () => {
  const { entrance, logger } = openEntrance(named);
  await using _ = entrance;
  assertEquals((await post(entrance, {})).status, 401);
  const [line] = logger.lines;
  assertEquals([line?.level, line?.module], ["warn", "audit"]);
  assertEquals(line?.fields, { reason: "no id", path: "/mcp", action: "mcp" });
});

Deno.test("a stream ends with its credential", async () => {
  const ending = new AbortController();
  const { entrance } = openEntrance({
    admit: () => Promise.resolve({ ...READER, signal: ending.signal }),
  });
  await using _ = entrance;
  const { headers } = await post(entrance, {}, initialize);
  const session = headers.get("mcp-session-id") ?? "";
  const stream = await entrance.fetch(
    new Request("http://localhost:4000/mcp", { headers: { ...HEADERS, "mcp-session-id": session } }),
  );
  ending.abort();
  await stream.text();
  assertEquals(stream.status, 200);
});

Deno.test("a call that is cut off by the end of its credential is cancelled and answered, so that its client does not wait", async () => {
  const ending = new AbortController();
  const began = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const { entrance, logger } = openEntrance({
    admit: () => Promise.resolve({ ...READER, signal: ending.signal }),
  }, {
    prepare: (server) =>
      server.setRequestHandler("tools/call", (_, { mcpReq }) => {
        mcpReq.signal.addEventListener("abort", () => cancelled.resolve(), { once: true });
        began.resolve();
        return new Promise(() => {});
      }),
  });
  await using _ = entrance;
  const { headers } = await post(entrance, {}, initialize);
  const answer = post(entrance, { "mcp-session-id": headers.get("mcp-session-id") ?? "" }, CALL);
  await within(began.promise, "the call");
  ending.abort(new Error("The token was removed"));
  const { status, text } = await within(answer, "the answer");
  assertEquals(status, 200);
  assertStringIncludes(text, `"id":7,"error"`);
  assertStringIncludes(text, "may have run");
  await within(cancelled.promise, "the end of the call");
  const [line, ...others] = logger.lines;
  assertEquals([line?.level, line?.module, line?.message, others], [
    "info",
    "audit",
    "cut off an MCP client",
    [],
  ]);
  const reason = "The token was removed";
  assertEquals(line?.fields, { reason, client: "r", path: "/mcp", action: "mcp" });
});

Deno.test("a call ends when its access expires, and goes on when a token expires that its client renews", async () => {
  let expiring: Partial<Access> = {};
  const answered = Promise.withResolvers<void>();
  const { entrance, logger } = openEntrance({ admit: () => Promise.resolve({ ...READER, ...expiring }) }, {
    prepare: (server) =>
      server.setRequestHandler("tools/call", async () => {
        await answered.promise;
        return { content: [] };
      }),
  });
  await using _ = entrance;
  const { headers } = await post(entrance, {}, initialize);
  const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "" };
  expiring = { expiresAt: Date.now() };
  const renewed = post(entrance, session, { ...CALL, id: 8 });
  expiring = { expiresAt: Date.now() + 1, endsCalls: true };
  const { text } = await within(post(entrance, session, CALL), "the end of the call");
  assertStringIncludes(text, "has expired; a tool may have run");
  assertEquals(logger.lines.map(({ fields }) => fields["reason"]), [
    "The credential of the client has expired",
  ]);
  const modern = { "mcp-method": "tools/call", "mcp-name": "slow", "mcp-protocol-version": "2026-07-28" };
  for (const accept of ["application/json", HEADERS.accept]) {
    expiring = { expiresAt: Date.now() + 1, endsCalls: true };
    const cut = await within(post(entrance, { ...modern, accept }, MODERN_CALL), "the end of the call");
    assertEquals([cut.status, cut.text.split("has expired; a tool may have run").length], [200, 2]);
  }
  answered.resolve();
  assertStringIncludes((await within(renewed, "the answer")).text, `"result"`);
});

Deno.test("the rule is asked for the public URL of the path, whatever host the request names", async () => {
  const asked: string[] = [];
  const { entrance } = openEntrance({
    admit(_request, resource) {
      asked.push(resource);
      return Promise.resolve(READER);
    },
  });
  await using _ = entrance;
  await post(entrance, {});
  await post(entrance, { host: "127.0.0.1:4000" });
  assertEquals(asked, ["https://hub.example/mcp", "https://hub.example/mcp"]);
});

Deno.test("what is known of a path before a token is read at its well-known place", async () => {
  const { entrance } = openEntrance({ ...named, metadata: (resource) => ({ resource }) });
  await using _ = entrance;
  const read = async (path: string) => {
    const url = `http://localhost:4000/.well-known/oauth-protected-resource${path}`;
    const response = await entrance.fetch(new Request(url, { headers: { host: "localhost" } }));
    return [response.status, response.status === 200 ? await response.json() : await response.text() !== ""];
  };
  const about = { resource: "https://hub.example/mcp" };
  assertEquals(await read("/mcp"), [200, about]);
  assertEquals(await read(""), [200, about]);
  assertEquals(await read("/other"), [404, true]);
});

Deno.test("clients with tokens of their own need a public URL to name in them", () => {
  const routes = { names: "", find: () => undefined, close: () => Promise.resolve() };
  const access = { ...named, metadata: () => ({}) };
  assertThrows(() => new Entrance(routes, { access }), TypeError, "public URL");
});

Deno.test("firstRule() admits what one of its rules admits, and refuses as the last one does", async () => {
  const rule = firstRule([tokenRule("s3cret"), named]);
  const ask = async (headers: Record<string, string>) => {
    const answer = await rule.admit(new Request("http://localhost/mcp", { headers }), "");
    return answer instanceof Response ? await answer.json() : answer;
  };
  assertEquals(await ask({ authorization: "Bearer s3cret" }), OWNER);
  assertEquals((await ask({ "x-id": "one" })).id, "one");
  assertEquals((await ask({ authorization: "Bearer wrong" })).error.message, "no id");
});

Deno.test("refuseOffice() lets a client into the offices of its access alone", () => {
  assertEquals(refuseOffice(READER, "lab"), undefined);
  assertEquals(refuseOffice(READER, "shop")?.status, 403);
  assertEquals(refuseOffice(READER, undefined)?.status, 403);
  assertEquals(refuseOffice(OWNER, undefined), undefined);
});

Deno.test("accessOf() knows what was admitted, and nothing else", () => {
  assertEquals(accessOf(toAuthInfo(READER)), READER);
  assertThrows(() => accessOf({ token: "", clientId: "r", scopes: [] }), TypeError);
  assertThrows(() => accessOf(undefined), TypeError);
});
