/** Attacker: a client whose credential is for one Computer of an office, or for reading. It wants to see or do more */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { scopeFor } from "../../src/gateway/gateway_options.ts";
import type { Access } from "../../src/http/mcp/access.ts";
import { within } from "../fixtures/within.ts";
import { type Answer, ScriptedComputer } from "../integration/_scripted_computer.ts";
import { answersOf, AttackedGateway, RawClient, tool } from "./_attacked_gateway.ts";

const ACCESS: Access = {
  id: "guest",
  client: "Guest",
  offices: ["lab"],
  computers: ["good"],
  rights: "call",
};
const HIDDEN_URI = "dpe://com.example.bad/plan";
const READS = { MCP_TOOL_ANNOTATION: JSON.stringify({ readOnlyHint: true }) };

/** A Computer without extensions, so that nobody waits for them. */
const UNKNOWN: Answer = () => ({ code: 400, message: "Unknown event", details: { field: "event" } });

/** What the Computer has that the client may not see. */
const HIDDEN: Record<string, Answer> = answersOf(
  [tool("bad_tool"), tool("report")],
  [{ uri: HIDDEN_URI, name: "The plan of bad" }],
  {
    "client:get_resource_templates": ({ req_id }) => ({
      resource_templates: [{ uri_template: "dpe://com.example.bad/{id}", name: "bad" }],
      req_id,
    }),
    "client:get_prompts": ({ req_id }) => ({ prompts: [{ name: "bad_prompt" }], req_id }),
  },
);

/** The owner has seen all, so that nothing is hidden only because it is not known yet. */
async function openOffice(): Promise<AttackedGateway> {
  const gateway = await AttackedGateway.open(HIDDEN);
  for (const list of ["tools", "resources", "resources/templates", "prompts"]) {
    await gateway.ask(`${list}/list`);
  }
  return gateway;
}

/** A client of the office that may see the good Computer alone. */
function guestOf(
  { gateway }: AttackedGateway,
  scope = scopeFor({ kind: "all" }, ACCESS),
): Promise<RawClient> {
  return RawClient.open(gateway, scope, { access: ACCESS });
}

const call = (name: string, args: Record<string, unknown> = {}) =>
  ["tools/call", { name, arguments: args }] as const;

/** Questions about what is named `NAME`, or its URI. */
const ABOUT = (name: string, uri: string) => [
  call(`${name}_tool`),
  call("view_desktop", { computer: name }),
  call("find_documents", { computer: name }),
  call("read_document", { uri: `a2c://${name}/${uri}` }),
  call("find_tools", { query: `${name}_tool`, computer: name }),
  call("call_tool", { name: `${name}_tool` }),
  ["resources/read", { uri: `a2c://${name}/${uri}` }] as const,
  ["resources/read", { uri }] as const,
  ["resources/subscribe", { uri: `a2c://${name}/${uri}` }] as const,
  ["prompts/get", { name: `${name}_prompt` }] as const,
  ["prompts/get", { name: "attach_desktop", arguments: { computer: name } }] as const,
  ["completion/complete", {
    ref: { type: "ref/prompt", name: "attach_desktop" },
    argument: { name: "computer", value: name },
  }] as const,
  ["completion/complete", {
    ref: { type: "ref/prompt", name: `${name}_prompt` },
    argument: { name: "a", value: "" },
  }] as const,
  ["completion/complete", {
    ref: { type: "ref/resource", uri: `dpe://com.example.${name}/{id}` },
    argument: { name: "id", value: "" },
  }] as const,
];

Deno.test("a Computer that a client may not see is in no list and no suggestion", async () => {
  await using gateway = await openOffice();
  await using client = await guestOf(gateway);
  const answers = [
    client.initialized,
    ...await Promise.all([
      client.ask("tools/list"),
      client.ask("resources/list"),
      client.ask("resources/templates/list"),
      client.ask("prompts/list"),
      client.ask(...call("list_computers")),
      client.ask(...call("view_desktop")),
      client.ask(...call("find_documents")),
      client.ask(...call("find_tools", { query: "bad tool" })),
      client.ask("completion/complete", {
        ref: { type: "ref/prompt", name: "attach_desktop" },
        argument: { name: "computer", value: "" },
      }),
    ]),
  ];
  for (const answer of answers) assert(!/\bbad/.test(JSON.stringify(answer)), JSON.stringify(answer));
  assert((await client.tools()).some((name) => name.includes("report")));
});

Deno.test("questions about a hidden Computer are answered as about one that never was", async () => {
  await using gateway = await openOffice();
  for (const kind of ["all", "search"] as const) {
    await using client = await guestOf(gateway, scopeFor({ kind }, ACCESS));
    const asked = gateway.bad.requests.length;
    const about = ABOUT("bad", HIDDEN_URI);
    const never = ABOUT("zap", "dpe://com.example.zap/plan");
    for (const [index, [method, params]] of about.entries()) {
      const [otherMethod, otherParams] = never[index] ?? [method, params];
      const hidden = JSON.stringify(await client.ask(method, params));
      const absent = JSON.stringify(await client.ask(otherMethod, otherParams));
      assertEquals(hidden.replaceAll("bad", "zap"), absent, `${method} ${JSON.stringify(params)}`);
    }
    assertEquals(gateway.bad.requests.length, asked, "the hidden Computer was asked");
  }
});

Deno.test("the path of a hidden Computer is that of one that never was", async () => {
  await using gateway = await openOffice();
  const seen = async (computer: string) => {
    await using client = await guestOf(gateway, scopeFor({ kind: "computer", computer }, ACCESS));
    const answers = [client.initialized, await client.ask("tools/list"), await client.ask("resources/list")];
    return JSON.stringify([...answers, await client.ask(...call("list_computers"))]);
  };
  assertEquals((await seen("bad")).replaceAll("bad", "zap"), await seen("zap"));
});

Deno.test("what a hidden Computer does is told to nobody who may not see it", async () => {
  await using gateway = await openOffice();
  const told: unknown[] = [];
  const heard = Promise.withResolvers<void>();
  gateway.gateway.onListChanged(scopeFor({ kind: "all" }, ACCESS), (list) => told.push(list));
  gateway.gateway.onListChanged({ kind: "all" }, () => heard.resolve());
  gateway.bad.close();
  await within(heard.promise, "the owner's client to hear that the hidden Computer has left");
  assertEquals(told, []);
  using _good = await ScriptedComputer.join(gateway.url, { name: "other", answers: answersOf([], []) });
  assertEquals(told, []);
});

Deno.test("a client that may read calls what says that it modifies nothing, and nothing else", async () => {
  const tools = [
    tool("peek", { meta: READS }),
    tool("poke"),
    tool("liar", { meta: { readOnlyHint: "true" } }),
  ];
  const ran = answersOf(tools, [], {
    "client:tool_call": ({ req_id }) => ({ content: [{ type: "text", text: "ran" }], req_id }),
    "client:follow_call": UNKNOWN,
    "client:open_input": UNKNOWN,
  });
  await using gateway = await AttackedGateway.open(ran);
  const access: Access = { ...ACCESS, computers: undefined, rights: "read" };
  for (const kind of ["all", "search"] as const) {
    await using client = await RawClient.open(gateway.gateway, { kind }, { access });
    const textOf = async (...[method, params]: ReturnType<typeof call>) =>
      (await client.ask(method, params)).content[0].text;
    assertEquals(await textOf(...call("peek")), "ran");
    assertEquals(await textOf(...call("call_tool", { name: "peek" })), "ran");
    for (const name of ["poke", "liar"]) {
      const before = gateway.bad.requests.length;
      assertMatch(await textOf(...call(name)), /may only call tools that modify nothing/);
      assertMatch(await textOf(...call("call_tool", { name })), /may only call tools that modify nothing/);
      assertMatch(await textOf(...call("call_read_tool", { name })), /may modify something/);
      assertEquals(gateway.bad.requests.length, before, "the Computer was asked");
    }
  }
});

Deno.test("a client whose calls are confirmed has the owner asked for what may modify something", async () => {
  const answer: Answer = ({ req_id }) => ({ content: [{ type: "text", text: "ran" }], req_id });
  await using gateway = await AttackedGateway.open(
    answersOf([tool("peek", { meta: READS }), tool("poke")], [], {
      "client:tool_call": answer,
      "client:ask_tool_call": answer,
      "client:follow_call": UNKNOWN,
      "client:open_input": UNKNOWN,
    }),
  );
  const access: Access = { ...ACCESS, computers: undefined, rights: "confirm" };
  await using client = await RawClient.open(gateway.gateway, { kind: "search" }, { access });
  for (const name of ["peek", "poke"]) {
    await client.ask(...call(name));
    await client.ask(...call("call_tool", { name }));
  }
  const calls = gateway.bad.requests.filter(({ event }) => event.endsWith("tool_call"))
    .map(({ event, body }) => [event, body["tool_name"], body["agent"]]);
  assertEquals(calls, [
    ["client:tool_call", "peek", "ada/Guest"],
    ["client:tool_call", "peek", "ada/Guest"],
    ["client:ask_tool_call", "poke", "ada/Guest"],
    ["client:ask_tool_call", "poke", "ada/Guest"],
  ]);
});
