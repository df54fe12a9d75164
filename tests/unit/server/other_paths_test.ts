import { assertEquals } from "@std/assert";
import { Agent } from "../../../src/agent/agent.ts";
import { staticTokens } from "../../../src/server/admission/tokens.ts";
import { listenBeside } from "../../../src/server/server.ts";
import { within } from "../../fixtures/within.ts";

Deno.test("listenBeside() serves paths of a program on the port of the Server, and leaves it its own", async () => {
  const forwarded: unknown[] = [];
  await using server = await listenBeside(
    { port: 0, trustedProxies: ["loopback"] },
    (request, response, context) => {
      if (request.url !== "/ours") return false;
      forwarded.push(context.forwarded?.address);
      response.end("ours");
      return true;
    },
  );
  const text = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${server.url}${path}`, { headers });
    return [answer.status, await answer.text()];
  };
  assertEquals(await text("/ours", { origin: "https://page.example", "x-forwarded-for": "192.0.2.1" }), [
    200,
    "ours",
  ]);
  assertEquals(forwarded, ["192.0.2.1"]);
  assertEquals(await text("/healthz"), [200, "A2C-SMCP Server: ok\n"]);
  assertEquals(await text("/other"), [404, "Not found\n"]);
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  assertEquals((await agent.listOffice()).length, 1);
});

Deno.test("listenBeside() keeps the connection of an admitted client, however many others come", async () => {
  const options = { port: 0, maxPendingConnectionsPerAddress: 1, auth: staticTokens({ tokens: ["s3cret"] }) };
  await using server = await listenBeside(options, (request, response, { adopt }) => {
    if (request.headers.authorization === "Bearer s3cret") adopt();
    response.write("begin");
    return true;
  });
  const open = async (headers: Record<string, string>) => {
    const answer = await fetch(server.url, { headers });
    const reader = answer.body?.getReader();
    await reader?.read();
    return reader;
  };
  const admitted = await open({ authorization: "Bearer s3cret" });
  const read = admitted?.read();
  const others = [];
  // An address may have two connections per session that is not admitted, and newer ones are refused.
  for (let other = 0; other < 2; other++) others.push(await open({}));
  await within(
    fetch(server.url).then((answer) => answer.body?.cancel(), () => undefined),
    "the refusal of one more",
  );
  assertEquals(await Promise.race([read, Promise.resolve("open")]), "open");
  await admitted?.cancel();
  for (const other of others) await other?.cancel();
  await read;
});
