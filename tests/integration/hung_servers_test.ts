/** An MCP server that hangs delays Desktop and Finder once, and only by the deadline of a view. */
import { assert, assertEquals } from "@std/assert";
import { summaryOf } from "../fixtures/chain_control.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { eventually } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";

/** The time that a view may take here: a hundred times what one takes that does not wait, so that a busy machine is no wait. */
const DEADLINE_MS = 4_000;
const COUNT = 60;

const windows = [{ uri: "window://good/a", name: "a" }];
const contents = { "window://good/a": "hello" };
const indices = Array.from({ length: COUNT }, (_, index) => index);
const listed = (host: string) => indices.map((index) => ({ uri: `dpe://${host}/${index}` }));

Deno.test("an MCP server that hangs on a read delays the Desktop once, and no other server's windows", async () => {
  const slow = {
    resources: [{ uri: "window://slow/hung" }, { uri: "window://slow/fine" }],
    contents: { "window://slow/fine": "fine", "window://slow/hung": "never seen" },
    hang: ["resources/read window://slow/hung"],
  };
  const config = scriptedServers({ slow, good: { resources: windows, contents } });
  await using office = await ComputerOffice.open(config, {
    limits: { viewDeadlineMs: DEADLINE_MS, readTimeoutMs: 600_000 },
  });
  const expected = ["window://good/a\n\nhello", "window://slow/fine\n\nfine"];
  const firstMs = performance.now();
  assertEquals(await office.laptop.getDesktop(), expected);
  const tookMs = performance.now() - firstMs;
  assert(tookMs >= DEADLINE_MS * 0.6, `it waits for the hung window within its deadline, not ${tookMs} ms`);
  await assertNoWait(async () => assertEquals(await office.laptop.getDesktop(), expected));
  assert(office.log.of("warn").some(({ message }) => message.startsWith("MCP server is slow")));
});

Deno.test("an unknown tool names the MCP server that has not listed its tools yet", async () => {
  const tools = [{ name: "echo", inputSchema: { type: "object" } }];
  const servers = { hung: { tools, hang: ["tools/list"] }, none: { resources: [] } };
  await using office = await ComputerOffice.open(scriptedServers(servers), {
    limits: { readTimeoutMs: 100 },
  });
  // On a busy machine, the other one is late as well, and then no more.
  await eventually(
    () => office.laptop.callTool("sing", {}),
    ({ content: [answer] }) => answer?.text?.split("; ").slice(1).join() === "tools not listed yet: hung",
    "the name of the one that hangs",
  );
});

Deno.test("an MCP server that hangs on its list of resources delays the Desktop once", async () => {
  const config = scriptedServers({
    hung: { resources: [], hang: ["resources/list"] },
    good: { resources: windows, contents },
  });
  await using office = await ComputerOffice.open(config, {
    limits: { viewDeadlineMs: DEADLINE_MS, readTimeoutMs: 600_000 },
  });
  assertEquals(await office.laptop.getDesktop(), ["window://good/a\n\nhello"]);
  await assertNoWait(async () => assertEquals((await office.laptop.getDesktop()).length, 1));
});

for (
  const { name, hang } of [
    { name: "its list", hang: ["resources/list"] },
    { name: "Level 0", hang: ["resources/read dpe://hung", "resources/read"] },
    { name: "Level 1", hang: indices.map((index) => `resources/read dpe://hung/${index}`) },
  ]
) {
  Deno.test(`an MCP server that hangs on ${name} costs the Finder its deadline once`, async () => {
    const documents = listed("docs").map(({ uri }) => summaryOf(uri, "good"));
    const level0 = { "dpe://docs": { documents, total_count: COUNT } };
    await using office = await ComputerOffice.open(
      scriptedServers({
        hung: { resources: listed("hung"), hang },
        good: { resources: listed("docs"), contents: level0 },
      }),
      { limits: { viewDeadlineMs: DEADLINE_MS, readTimeoutMs: 600_000 } },
    );
    const firstMs = performance.now();
    assertEquals(await titlesOf(office), indices.map(() => "good"));
    assert(performance.now() - firstMs >= DEADLINE_MS * 0.6, "it waits for the hung server");
    await assertNoWait(async () => assertEquals((await titlesOf(office)).length, COUNT));
  });
}

/** Asserts that most requests are quick, whatever else the machine does: one that waits takes over half the deadline. */
async function assertNoWait(request: () => Promise<void>): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < 9; i++) {
    const startMs = performance.now();
    await request();
    times.push(performance.now() - startMs);
  }
  const [medianMs = Infinity] = times.toSorted((a, b) => a - b).slice(4);
  assert(medianMs < DEADLINE_MS / 2, `requests wait for it again: ${times.map(Math.round).join(", ")} ms`);
}

/** All titles, each as often as it is there. */
async function titlesOf(office: ComputerOffice): Promise<string[]> {
  const { documents, totalCount } = await office.laptop.getFinder({ limit: 100 });
  assertEquals(documents.length, totalCount);
  return documents.map(({ title }) => title);
}
