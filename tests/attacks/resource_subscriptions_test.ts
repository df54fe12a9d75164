/** Attacker: an Agent, or an MCP server. They subscribe, tell of updates, or list templates, without end */
import { assert, assertEquals } from "@std/assert";
import { SmcpError } from "../../src/protocol/errors.ts";
import { resourceUpdated } from "../fixtures/script.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { eventually, within } from "../fixtures/within.ts";
import { ComputerOffice } from "../integration/_computer_office.ts";

const good = { resources: [{ uri: "window://good/a" }], contents: { "window://good/a": "good" } };
const GOOD = ["window://good/a\n\ngood"];

function uris(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `file:///${index}`);
}

/** How often the scripted server received this. */
async function count(office: ComputerOffice, method: string, tool?: string): Promise<number> {
  return (await office.received(tool)).filter((each) => each.method === method).length;
}

Deno.test("an Agent that subscribes without end gets as many as are allowed, and they end with it", async () => {
  const config = scriptedServers({ files: { resources: [] } });
  await using office = await ComputerOffice.open(config, { limits: { maxSubscriptions: 20 } });
  const { laptop, agent } = office;
  const subscribe = (uri: string) =>
    laptop.subscribeResource(uri, { mcpServer: "files" }).then(() => "agreed", (error) => {
      assert(error instanceof SmcpError);
      return error.code;
    });
  const answers: unknown[] = [];
  for (let start = 0; start < 400; start += 40) {
    answers.push(...await Promise.all(uris(400).slice(start, start + 40).map(subscribe)));
  }
  assertEquals(answers.filter((answer) => answer === "agreed").length, 20);
  assert(answers.every((answer) => answer === "agreed" || answer === 400), answers.join());
  assertEquals(await count(office, "resources/subscribe"), 20);
  // To let go of them one by one, and of those that are none, makes room and no more requests than there were.
  for (const uri of uris(100)) await laptop.unsubscribeResource(uri);
  const unsubscribed = () => count(office, "resources/unsubscribe");
  assertEquals(await unsubscribed(), 20);
  assertEquals(await Promise.all(uris(20).map(subscribe)), Array(20).fill("agreed"));
  await agent.leave();
  await agent.join("lab");
  // The MCP server is told after the office.
  await eventually(unsubscribed, (count) => count === 40, "40 requests to unsubscribe");
  assertEquals(await subscribe("file:///new"), "agreed");
});

Deno.test("an MCP server that tells of updates without end is heard at a bounded pace, each resource once", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ bad: { resources: [] }, good }), {
    limits: { maxNotificationsPerSecond: 20 },
  });
  const { laptop } = office;
  for (const uri of uris(10)) await laptop.subscribeResource(uri, { mcpServer: "bad" });
  let notified = 0;
  office.agent.on("updateResources", () => void notified++);
  const startMs = performance.now();
  const flood = uris(10).flatMap((uri) =>
    Array.from({ length: 200 }, (_, index) => [uri, `${uri}/${index}`])
  );
  for (let round = 0; round < 3; round++) {
    await office.become({ tell: flood.flat().map(resourceUpdated) });
    assertEquals(await within(laptop.getDesktop(), "the Desktop"), GOOD);
  }
  const { updates } = await laptop.getResourceUpdates();
  assert(updates.filter(({ uri }) => uri !== undefined).length <= 10, `${updates.length} updates`);
  const most = 2 + (performance.now() - startMs) / 50;
  assert(notified <= most, `${notified} notifications, at most ${most}`);
});

Deno.test("a list of templates without end is read once for all who ask, ends in time, and hides no others", async () => {
  const templates = uris(5).map((uri) => ({ uriTemplate: `${uri}/{a}`, name: "x*1000" }));
  const config = scriptedServers({
    good: { ...good, templates: [{ uriTemplate: "good://{a}" }] },
    bad: { resources: [], templates, endless: true },
    deaf: { resources: [], hang: ["resources/templates/list"] },
  });
  await using office = await ComputerOffice.open(config, {
    limits: { readTimeoutMs: 3_000, viewDeadlineMs: 100_000, maxListed: 50 },
  });
  const { laptop } = office;
  const asked = await within(
    Promise.all(Array.from({ length: 30 }, () => laptop.getResourceTemplates())),
    "all answers",
  );
  for (const { resourceTemplates } of asked) {
    const servers = resourceTemplates.map(({ _meta }) => _meta?.["a2c_mcp_server"]);
    assertEquals(servers.filter((server) => server === "good").length, 1);
    assert(servers.length <= 51, `${servers.length} templates`);
  }
  const lists = (await office.received("bad__received")).filter(({ method, params }) =>
    method === "resources/templates/list" && params?.["cursor"] === undefined
  );
  assert(lists.length <= 2, `${lists.length} lists`);
  assertEquals(await laptop.getDesktop(), GOOD);
});
