import { assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import { SmcpServer, staticTokens } from "../../server.ts";
import { AuthenticationError, ServerUnreachableError } from "../../src/link/errors.ts";
import { POLLING } from "../attacks/_raw_http.ts";
import { RawPeer } from "./_socket.ts";

Deno.test("A Server of websocket alone refuses polling with the transports that it serves", async () => {
  await using server = await SmcpServer.listen({ port: 0, transports: ["websocket"] });
  const answer = await fetch(`${server.url}${POLLING}`);
  assertEquals([answer.status, (await answer.json()).transports], [400, ["websocket"]]);
  await using peer = await RawPeer.connect(server.url, { transports: ["websocket"] });
  assertEquals(peer.socket.connected, true);
});

Deno.test("Our Agent and Computer connect to a Server of websocket alone by themselves", async () => {
  const auth = staticTokens({ tokens: ["s3cret"] });
  await using server = await SmcpServer.listen({ port: 0, transports: ["websocket"], auth });
  const place = { url: server.url, office: "lab", auth: { token: "s3cret" } };
  await using computer = Computer.open({ name: "laptop", config: { servers: {}, inputs: [] } });
  await computer.join(place);
  await using agent = await Agent.connect({ ...place, name: "ada" });
  assertEquals(await agent.computer("laptop").getTools(), []);
  const wrong = { ...place, name: "eve", auth: { token: "guess" } };
  await assertRejects(() => Agent.connect(wrong), AuthenticationError, "credentials");
});

Deno.test("A Server of polling alone offers no upgrade, and refuses a websocket", async () => {
  await using server = await SmcpServer.listen({ port: 0, transports: ["polling"] });
  await assertRejects(() => RawPeer.connect(server.url, { transports: ["websocket"] }));
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  assertEquals((await agent.listOffice()).length, 1);
});

Deno.test("Where a proxy passes no websocket on, the error says so", async () => {
  const answer = { code: 400, message: "Transport not served", transports: ["websocket"] };
  const proxy = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => Response.json(answer, { status: 400 }),
  );
  try {
    const url = `http://127.0.0.1:${proxy.addr.port}`;
    // There is no time for a second attempt.
    const time = { timeoutMs: 60_000, reconnectDelayMs: Number.MAX_SAFE_INTEGER };
    await assertRejects(
      () => Agent.connect({ url, office: "lab", name: "ada", ...time }),
      ServerUnreachableError,
      "WebSocket",
    );
  } finally {
    await proxy.shutdown();
  }
});
