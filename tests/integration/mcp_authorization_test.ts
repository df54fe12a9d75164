import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { SmcpError } from "../../src/protocol/errors.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import type { Message } from "../fixtures/script.ts";
import { stateOf } from "../fixtures/log_book.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
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

/** A server that refuses every new session while `gate` says so. */
function guardedServer(kind: "streamable" | "sse", gate: { status: number | undefined }): HttpMcpServer {
  const refusal = () =>
    gate.status === undefined ? undefined : new Response("not for the Agent's eyes", { status: gate.status });
  const script = { tools: [echo], resources: [{ uri: "dpe://guarded/a" }] };
  return new HttpMcpServer(
    kind,
    script,
    kind === "sse"
      ? { interceptGet: refusal }
      : { intercept: ({ method }) => method === "initialize" ? refusal() : undefined },
  );
}

/** A server that was refused is not started again while a test looks. */
const LATER = { limits: { restartDelayMs: 600_000 } };

for (const kind of ["streamable", "sse"] as const) {
  Deno.test(`a ${kind} server that refuses at initialize is retried, and its state says what to do`, async () => {
    for (
      const [status, advice] of [
        [401, 'Cannot use the MCP server: it answered HTTP 401; check the credentials in "headers"'],
        [403, "Cannot use the MCP server: it answered HTTP 403; check the permissions of its credentials"],
      ] as const
    ) {
      await using server = guardedServer(kind, { status });
      await using office = await ComputerOffice.open({ servers: { guarded: server.config() } }, LATER);
      const { fields } = await office.log.until(stateOf("guarded", "retrying"));
      assertEquals(fields["error"], advice);
      const { meta, content } = await office.laptop.callTool("echo");
      assertEquals(meta?.error_code, 4001);
      const hint = `; not running: guarded (retrying: HTTP ${status})`;
      assertEquals(content[0]?.text, `Tool "echo" does not exist on this Computer${hint}`);
      assertEquals(meta?.a2c_reason, "not_running");
    }
  });

  Deno.test(`calls and reads of a ${kind} server that refuses when it is started again are 4006 or 4007 at once, until it does not`, async () => {
    for (const [status, code] of [[401, 4006], [403, 4007]] as const) {
      const gate: { status: number | undefined } = { status: undefined };
      await using server = guardedServer(kind, gate);
      await using office = await ComputerOffice.open({ servers: { guarded: server.config() } }, LATER);
      await office.laptop.getFinder();
      const refused = office.log.next(stateOf("guarded", "retrying"));
      gate.status = status;
      office.computer.restartServer("guarded");
      await refused;
      const { meta, content } = await office.laptop.callTool("echo", {}, { timeoutMs: 600_000 });
      assertEquals(meta?.error_code, code);
      assertMatch(content[0]?.text ?? "", /check .* config/);
      for (const read of ["dpe://guarded/a", "window://guarded/a"]) {
        const error = await assertRejects(() => office.laptop.readResource(read), SmcpError);
        assertEquals([error.code, error.details], [code, { mcp_server: "guarded" }]);
      }
      const running = office.log.next(stateOf("guarded", "running"));
      gate.status = undefined;
      office.computer.restartServer("guarded");
      await running;
      assertEquals((await office.laptop.callTool("echo")).isError, false);
    }
  });
}

Deno.test({
  name:
    "a session whose token expired begins anew with the token of today, and only when there is another one",
  ignore: Deno.build.os === "windows",
  async fn() {
    using folder = new TempFolder();
    const file = `${folder.path}/token`;
    const issue = (token: string) => Deno.writeTextFileSync(file, token);
    issue("first");
    let valid = "first";
    await using server = new HttpMcpServer("streamable", { tools: [echo] }, {
      intercept: (_message, request) =>
        request.headers.get("authorization") === `Bearer ${valid}`
          ? undefined
          : new Response(null, { status: 401 }),
    });
    const inputs = [{ type: "command", id: "token", command: `cat ${file}` }];
    const config = server.config({ headers: { Authorization: "Bearer ${input:token}" } });
    await using office = await ComputerOffice.open({ servers: { guarded: config }, inputs });
    assertEquals((await office.laptop.callTool("echo")).isError, false);
    valid = "second";
    issue("second");
    const running = office.log.next(stateOf("guarded", "running"));
    assertEquals((await office.laptop.callTool("echo")).meta?.error_code, 4006);
    await running;
    assertEquals((await office.laptop.callTool("echo")).isError, false);
    assertEquals(office.computer.servers.get("guarded")?.restarts, 1);
  },
});
