import { assert, assertEquals, assertRejects } from "@std/assert";
import { SmcpError } from "../../src/protocol/errors.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";
import suite from "../vectors/auth_error_conformance_vectors.json" with { type: "json" };

const echo = { name: "echo", inputSchema: { type: "object" } };

for (const protocolVersion of ["0.3", "0.4"] as const) {
  Deno.test(`a ${protocolVersion} office names tools, windows and configurations by bundle_id`, async () => {
    const window = { uri: "window://com.example/a", name: "a" };
    const script = { tools: [echo], resources: [window], contents: { [window.uri]: "hello" } };
    const config = {
      servers: { "My Probe!": scripted(script) },
      inputs: [{ id: "pick", type: "pickString", options: [{ label: "One", value: "1" }, "2"] }],
    };
    await using office = await ComputerOffice.open(config, { protocolVersion });
    const [tool] = await office.laptop.getTools();
    assertEquals([tool?.name, tool?.bundle_id], ["My_Probe__echo", "My_Probe"]);
    assertEquals([tool?.server, tool?.meta?.["a2c_mcp_server"]], ["My_Probe", undefined]);

    const result = await office.laptop.callTool("My_Probe__echo");
    assertEquals([result.isError, result.meta?.a2c_mcp_server], [false, undefined]);
    const bare = await office.laptop.callTool("echo");
    assertEquals([bare.isError, bare.meta?.error_code], [true, 4001]);
    assert(bare.content[0]?.text?.includes('"My_Probe__echo"'));

    const answer = await office.agent.request("client:get_config", { computer: "laptop" });
    const { servers, inputs } = answer as {
      servers: Record<string, Record<string, unknown>>;
      inputs: unknown;
    };
    assertEquals(Object.keys(servers), ["My_Probe"]);
    assertEquals([servers["My_Probe"]?.["bundle_id"], servers["My_Probe"]?.["name"]], [
      "My_Probe",
      "My Probe!",
    ]);
    const options = [{ label: "One", value: "1" }, { label: "2", value: "2" }];
    assertEquals(inputs, [{ id: "pick", description: "", type: "pickString", options }]);

    const page = await office.laptop.getResources("My_Probe");
    assertEquals(page.resources.map(({ uri }) => uri), [window.uri]);
    assertEquals(office.computer.history[0]?.server, "My_Probe");
    assertEquals([...office.computer.servers.keys()], ["My_Probe"]);
    assert(office.computer.serverLog("My Probe!").length > 0);
  });
}

Deno.test("from 0.3 on, of two servers with one bundle_id only the first runs", async () => {
  const servers = {
    "a b": scripted({ tools: [echo] }),
    a_b: scripted({ tools: [{ ...echo, name: "other" }] }),
  };
  await using office = await ComputerOffice.open({ servers }, { protocolVersion: "0.4" });
  assertEquals(office.computer.tools[0]?.name, "a_b__echo");
  assertEquals([...office.computer.servers.keys()], ["a_b"]);
  assert(office.log.lines.some(({ message }) => message.includes('server "a_b" is left out')));
});

Deno.test("from 0.3 on, our own Agent reads the code of an error that other peers see as 404", async () => {
  await using office = await ComputerOffice.open({ servers: {} }, { protocolVersion: "0.4" });
  const windowed = () => office.laptop.getDesktop({ window: "no uri" });
  assertEquals((await assertRejects(windowed, SmcpError)).code, 400);
  const missing = await assertRejects(() => office.laptop.getResources("none"), SmcpError);
  assertEquals([missing.code, missing.details], [4014, { mcp_server: "none" }]);
});

for (const { desc, transport, upstream, expected } of suite.vectors) {
  Deno.test(`conformance vector at 0.4: ${desc}`, async () => {
    const kind = transport === "streamable_http" ? "streamable" : "sse";
    const { status, www_authenticate } = { www_authenticate: undefined, ...upstream };
    const headers = new Headers(
      typeof www_authenticate === "string" ? { "www-authenticate": www_authenticate } : [],
    );
    await using server = new HttpMcpServer(kind, { tools: [echo] }, {
      intercept: ({ method }) =>
        method === "tools/call" ? new Response("no", { status, headers }) : undefined,
    });
    const config = { servers: { "the guard": server.config() } };
    await using office = await ComputerOffice.open(config, { protocolVersion: "0.4" });
    const { isError, meta } = await office.laptop.callTool("the_guard__echo", {}, { timeoutMs: 600_000 });
    assertEquals({ error_code: meta?.error_code, isError, hangs: false }, expected);
    const action = expected.error_code === 4006 ? "user_authorization_required" : "token_refresh_required";
    assertEquals(meta?.["mcp_server"], "the_guard");
    assertEquals((meta?.["auth_hint"] as Record<string, unknown>)["action"], action);
  });
}
