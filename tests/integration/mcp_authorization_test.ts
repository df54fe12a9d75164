import { assertEquals, assertRejects } from "@std/assert";
import { SmcpError } from "../../src/protocol/errors.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import type { Message } from "../fixtures/script.ts";
import { stateOf } from "../fixtures/log_book.ts";
import { ComputerOffice } from "./_computer_office.ts";
import suite from "../vectors/auth_error_conformance_vectors.json" with { type: "json" };

const echo = { name: "echo", inputSchema: { type: "object" } };

/** Refuses messages of one method; `initialize` passes. */
function refusing(
  method: string,
  upstream: { readonly status: number; readonly www_authenticate?: string | null },
) {
  return ({ method: asked }: Message): Response | undefined => {
    if (asked !== method) return undefined;
    const { status, www_authenticate } = upstream;
    const headers = typeof www_authenticate === "string"
      ? { "www-authenticate": www_authenticate }
      : undefined;
    return new Response("not for the Agent's eyes", headers === undefined ? { status } : { status, headers });
  };
}

for (const { desc, transport, upstream, expected } of suite.vectors) {
  Deno.test(`conformance vector: ${desc}`, async () => {
    const kind = transport === "streamable_http" ? "streamable" : "sse";
    await using server = new HttpMcpServer(kind, { tools: [echo] }, {
      intercept: refusing("tools/call", upstream),
    });
    await using office = await ComputerOffice.open({ servers: { guarded: server.config() } });
    const { isError, meta, content } = await office.laptop.callTool("echo", {}, { timeoutMs: 600_000 });
    assertEquals({ error_code: meta?.error_code, isError, hangs: false }, expected);
    assertEquals(JSON.stringify(content).includes("not for the Agent's eyes"), false);
    assertEquals(office.computer.servers.get("guarded")?.status, "running");
  });
}

Deno.test("a read that its MCP server refuses is 4006 for HTTP 401 and 4007 for HTTP 403", async () => {
  for (const [status, code] of [[401, 4006], [403, 4007]] as const) {
    const intercept = refusing("resources/read", { status });
    await using server = new HttpMcpServer("streamable", { resources: [] }, { intercept });
    await using office = await ComputerOffice.open({ servers: { guarded: server.config() } });
    const error = await assertRejects(
      () => office.laptop.readResource("file:///x", { mcpServer: "guarded" }),
      SmcpError,
    );
    assertEquals([error.code, error.details], [code, { mcp_server: "guarded" }]);
  }
});

Deno.test("an MCP server that refuses at initialize is retried, and its state says why", async () => {
  for (const kind of ["streamable", "sse"] as const) {
    const refusal = () => new Response("no", { status: 401, headers: { "www-authenticate": "Bearer" } });
    const intercept = refusing("initialize", { status: 401, www_authenticate: "Bearer" });
    await using server = new HttpMcpServer(
      kind,
      {},
      kind === "sse" ? { interceptGet: refusal } : { intercept },
    );
    await using office = await ComputerOffice.open({ servers: { guarded: server.config() } });
    const { fields } = await office.log.until(stateOf("guarded", "retrying"));
    assertEquals(String(fields["error"]).includes("HTTP 401"), true, `${kind}: ${fields["error"]}`);
  }
});
