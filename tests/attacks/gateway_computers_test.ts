/** Attacker: a Computer in an office with a gateway. It lists what would cost the others their place, or passes for them */
import { assert, assertEquals } from "@std/assert";
import { answersOf, AttackedGateway, GOOD_URI, tool } from "./_attacked_gateway.ts";

Deno.test("a tool that is huge costs its own place alone", async () => {
  const bad = answersOf([
    tool("huge", { description: "x".repeat(300_000) }),
    tool("fine"),
  ], []);
  await using gateway = await AttackedGateway.open(bad);
  assertEquals(await gateway.client.tools(), ["fine", "report"]);
});

Deno.test("tools that are called like those of the gateway, or like members of every object, get other names", async () => {
  const names = [
    "list_computers",
    "call_tool",
    "__proto__",
    "constructor",
    "report",
    "report",
    "x".repeat(500),
  ];
  await using gateway = await AttackedGateway.open(answersOf(names.map((name) => tool(name)), []));
  const tools = await gateway.client.tools();
  assertEquals(new Set(tools).size, tools.length);
  assert(tools.every((name) => /^[a-zA-Z0-9_-]{1,48}$/.test(name)), tools.join());
  assertEquals(tools.slice(0, 6), [
    "bad__list_computers",
    "bad__call_tool",
    "__proto__",
    "constructor",
    "bad__report",
    tools[5] ?? "",
  ]);
  assertEquals(tools.at(-1), "good__report");
  const { content } = await gateway.ask("tools/call", { name: "list_computers", arguments: {} });
  assert(content[0].text.includes('Computer "good"'));
});

Deno.test("who lists the documents of another Computer does not get what is read from it", async () => {
  await using gateway = await AttackedGateway.open(answersOf([], [
    { uri: GOOD_URI, name: "Report" },
    { uri: "a2c://good/dpe://com.example.good/report", name: "Report" },
  ]));
  const { resources } = await gateway.ask("resources/list");
  const places = resources.map((
    { uri, _meta }: { uri: string; _meta: object },
  ) => [uri, Object.values(_meta)[0]]);
  assertEquals(places, [
    [`a2c://bad/${GOOD_URI}`, "bad"],
    [`a2c://bad/files/a2c://good/${GOOD_URI}`, "bad"],
    [`a2c://good/${GOOD_URI}`, "good"],
  ]);
  for (const [uri, computer] of places) {
    const { contents } = await gateway.ask("resources/read", { uri });
    assertEquals([contents[0].uri, contents[0]._meta.a2c_computer], [uri, computer]);
  }
  const plain = await gateway.ask("resources/read", { uri: GOOD_URI });
  assertEquals(plain.contents, undefined);
});

Deno.test("a list of empty pages without end ends, and the other Computer's resources are listed", async () => {
  let pages = 0;
  const bad = {
    ...answersOf([], []),
    "client:get_resources": ({ req_id }: Record<string, unknown>) => ({
      resources: [],
      next_cursor: String(pages++),
      req_id,
    }),
  };
  await using gateway = await AttackedGateway.open(bad);
  const uris = async () => {
    const { resources } = await gateway.ask("resources/list");
    return resources.map(({ uri }: { uri: string }) => uri);
  };
  assertEquals(await uris(), [GOOD_URI]);
  assert(pages <= 1_000, String(pages));
});

Deno.test("a Computer with thousands of hosts leaves room for those of the others", async () => {
  const many = Array.from({ length: 3_000 }, (_, index) => ({ uri: `dpe://host${index}/x`, name: "x" }));
  await using gateway = await AttackedGateway.open(answersOf([], many));
  const { resources, nextCursor } = await gateway.ask("resources/list");
  assertEquals([resources.length, typeof nextCursor], [500, "string"]);
  const { contents } = await gateway.ask("resources/read", { uri: GOOD_URI });
  assertEquals(contents[0]._meta.a2c_computer, "good");
});
