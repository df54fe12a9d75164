/** Attacker: a stranger, a web page or a member. It tries to read the metrics, to learn from them, or to make them grow. */
import { assert, assertEquals } from "@std/assert";
import { type ListenOptions, SmcpServer, staticTokens } from "../../server.ts";
import { RawPeer } from "../integration/_socket.ts";
import { exchange } from "./_raw_http.ts";

const SECRETS = ["lab-of-ada", "ada-the-agent", "laptop-of-ada", "s3cret", "scrape-me", "token-1"];
const ada = { role: "agent", name: "ada-the-agent", office_id: "lab-of-ada" } as const;
const laptop = { role: "computer", name: "laptop-of-ada", office_id: "lab-of-ada" } as const;

/** The status of a request for the metrics, on the main port unless told otherwise. */
async function ask(port: number, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  return (await exchange(port, { target: "/metrics", headers })).status;
}

function portOf(url: string | undefined): number {
  return Number(new URL(url ?? "").port);
}

Deno.test("The main port gives no metrics without the right token, nor by any other way of showing it", async () => {
  const auth = staticTokens({ tokens: ["s3cret"] });
  const options: ListenOptions = { port: 0, auth, metricsPort: 0, metricsToken: "scrape-me" };
  await using server = await SmcpServer.listen(options);
  const right = { Authorization: "Bearer scrape-me" };
  const wrong: Readonly<Record<string, string>>[] = [
    {},
    { Authorization: "Bearer scrape-m" },
    { Authorization: "Bearer scrape-me2" },
    { Authorization: "Bearer " },
    { Authorization: "Basic scrape-me" },
    // The token of a member admits to an office, not to the metrics.
    { Authorization: "Bearer s3cret" },
    { "X-Api-Key": "scrape-me" },
  ];
  for (const port of [server.port, portOf(server.metricsUrl)]) {
    for (const headers of wrong) assertEquals(await ask(port, headers), 401, JSON.stringify(headers));
    assertEquals(await ask(port, right), 200);
    const query = await exchange(port, { target: "/metrics?token=scrape-me", headers: {} });
    assertEquals(query.status, 401);
  }
});

Deno.test("The main port has no metrics when no token protects them", async () => {
  await using server = await SmcpServer.listen({ port: 0, metricsPort: 0 });
  assertEquals(await ask(server.port), 404);
});

Deno.test("A web page gets no metrics, from an allowed origin, by its own name, or without an Origin", async () => {
  const options: ListenOptions = { port: 0, metricsPort: 0, allowedOrigins: ["https://app.example"] };
  await using open = await SmcpServer.listen(options);
  await using closed = await SmcpServer.listen({ ...options, metricsToken: "scrape-me" });
  const right = { Authorization: "Bearer scrape-me" };
  for (const Origin of ["https://app.example", "http://localhost:8080", "null"]) {
    assertEquals(await ask(portOf(open.metricsUrl), { Origin }), 403);
    assertEquals(await ask(portOf(closed.metricsUrl), { Origin, ...right }), 403);
    assertEquals(await ask(closed.port, { Origin, ...right }), 403);
  }
  // DNS rebinding: the name of the page's owner, which now leads to this machine.
  assertEquals(await ask(portOf(open.metricsUrl), { Host: "evil.example" }), 403);
  assertEquals(await ask(portOf(open.metricsUrl), { "Sec-Fetch-Site": "cross-site" }), 403);
});

Deno.test("The metrics name no office, member, principal or token", async () => {
  const auth = staticTokens({ tokens: ["s3cret"] });
  await using server = await SmcpServer.listen({ port: 0, auth, metricsToken: "scrape-me" });
  const options = { auth: { token: "s3cret" } };
  await using agent = await RawPeer.join(server.url, ada, options);
  await using computer = await RawPeer.join(server.url, laptop, options);
  computer.serve("client:tool_call", () => [{ content: [], isError: false }]);
  const call = { agent: ada.name, req_id: "r1", computer: laptop.name, tool_name: "echo", params: {} };
  await agent.request("client:tool_call", call);
  await agent.request("client:tool_call", { ...call, computer: "phone" });
  const text = await server.metrics();
  for (const secret of SECRETS) assert(!text.includes(secret), secret);
});

Deno.test("A member cannot make the metrics grow by the names of its events", async () => {
  await using server = await SmcpServer.listen({ port: 0, metrics: true });
  await using agent = await RawPeer.join(server.url, ada);
  const linesOf = async () => (await server.metrics()).split("\n").length;
  const send = async (round: number) => {
    for (let i = 0; i < 300; i++) {
      const name = `${round}-${i}`;
      for (const event of [`client:${name}`, `client:x${"\n"}a2c_${name} 1`, `server:update_${name}`, name]) {
        agent.socket.emit(event, {});
      }
    }
    await agent.settled();
  };
  await send(0);
  const lines = await linesOf();
  await send(1);
  assertEquals(await linesOf(), lines);
});
