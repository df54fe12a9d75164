/** Attacker: a Computer in an office with a gateway. Flawed entries are to cost all clients their whole lists */
import { assertEquals } from "@std/assert";
import {
  CallToolResultSchema,
  CompleteResultSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { answersOf, AttackedGateway, GOOD_URI, server, tool } from "./_attacked_gateway.ts";

/** Values of a wrong type, for members that clients check. */
const ODD = [5, {}, "x", [5], [null], null, true, "2024-99-99", -1, 80, "\ud800"];

/** An entry for each member and each odd value. */
function oddEntries(members: readonly string[], make: (index: number) => object): object[] {
  return members.flatMap((member, place) =>
    ODD.map((value, index) => ({ ...make(place * ODD.length + index), [member]: value }))
  );
}

const DESCRIBED = ["name", "title", "description", "icons", "_meta"];
const CONTENT = [...DESCRIBED, "mime_type", "mimeType", "size", "annotations"];
const annotated = ODD.flatMap((value, index) =>
  ["audience", "priority", "lastModified"].map((member) => ({
    uri: `odd:${member}${index}`,
    annotations: { [member]: value },
    icons: [{ src: "https://icons.example/a.png", sizes: value, mimeType: value }],
  }))
);

const TOOLS = [
  ...ODD.map((value, index) => tool(`properties-${index}`, { params_schema: { properties: value } })),
  ...ODD.map((value, index) =>
    tool(`property-${index}`, { params_schema: { properties: { a: value }, required: value } })
  ),
  ...ODD.map((value, index) =>
    tool(`output-${index}`, { return_schema: { type: "object", properties: value } })
  ),
  ...ODD.map((value, index) =>
    tool(`meta-${index}`, {
      bundle_id: "\ud800",
      meta: {
        ui: JSON.stringify({ resourceUri: "ui://a/b", visibility: value }),
        MCP_TOOL_ANNOTATION: JSON.stringify({ readOnlyHint: value, title: value }),
        MCP_TOOL_ICONS: JSON.stringify([{
          src: "https://icons.example/a.png",
          sizes: value,
          mimeType: value,
        }]),
      },
    })
  ),
  tool("\u0000\u001b[31m\ud800", { description: "\ud800" }),
];

const ODD_LISTS = answersOf(TOOLS, [
  ...oddEntries(CONTENT, (index) => ({ uri: `odd:${index}` })),
  ...annotated,
  { uri: "" },
  { uri: "no scheme" },
  { uri: "odd:\ud800" },
], {
  "client:get_mcp_servers": ({ req_id }) => ({ mcp_servers: [server("\ud800")], req_id }),
  "client:get_resource_templates": ({ req_id }) => ({
    resource_templates: oddEntries(CONTENT, (index) => ({ uri_template: `odd:{x}${index}` })),
    req_id,
  }),
  "client:get_prompts": ({ req_id }) => ({
    prompts: [
      ...oddEntries(DESCRIBED, (index) => ({ name: `odd-${index}` })),
      ...ODD.map((value, index) => ({ name: `arguments-${index}`, arguments: value })),
      ...ODD.map((value, index) => ({
        name: `argument-${index}`,
        arguments: [{ name: value, required: value, description: value }],
      })),
    ],
    req_id,
  }),
});

Deno.test("entries with members of wrong types cost no client its lists", async () => {
  await using gateway = await AttackedGateway.open(ODD_LISTS);
  ListToolsResultSchema.parse(await gateway.ask("tools/list"));
  assertEquals((await gateway.client.tools()).at(-1), "report");
  const answer = await gateway.ask("resources/list");
  ListResourcesResultSchema.parse(answer);
  const uris: string[] = answer.resources.map(({ uri }: { uri: string }) => uri);
  assertEquals(uris.at(-1), GOOD_URI);
  assertEquals(uris.filter((uri) => !URL.canParse(uri)), []);
  ListResourceTemplatesResultSchema.parse(await gateway.ask("resources/templates/list"));
  ListPromptsResultSchema.parse(await gateway.ask("prompts/list"));
});

Deno.test("no list has half of a character, which clients in other languages cannot read", async () => {
  await using gateway = await AttackedGateway.open(ODD_LISTS);
  for (const list of ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]) {
    const written = JSON.stringify(await gateway.ask(list));
    assertEquals(/[^\\]\\u[dD][89a-fA-F]/.exec(written)?.[0], undefined, list);
  }
});

Deno.test("a result with half of a character can be read by clients in other languages", async () => {
  const half = answersOf([tool("half")], [], {
    "client:follow_call": ({ req_id }) => ({ req_id }),
    "client:open_input": () => ({ code: 400, message: "Nothing is asked here" }),
    "client:tool_call": () => ({
      content: [{ type: "text", text: "\ud800" }],
      structuredContent: { "\udc00": ["\ud800"] },
    }),
    "client:read_resource": ({ uri, req_id }) => ({ contents: [{ uri, text: "\ud800" }], req_id }),
  });
  await using gateway = await AttackedGateway.open(half);
  const { content, structuredContent } = await gateway.ask("tools/call", { name: "half", arguments: {} });
  assertEquals([content[0].text, structuredContent], ["\ufffd", { "\ufffd": ["\ufffd"] }]);
  const { contents } = await gateway.ask("resources/read", { uri: "a2c://bad/dpe://any/document" });
  assertEquals(contents[0].text, "\ufffd");
});

Deno.test("the gateway's own tools, suggestions and errors have no half of a character", async () => {
  const refuse = () => ({ code: 500, message: "\ud800" });
  await using gateway = await AttackedGateway.open(answersOf([], [], {
    "client:get_finder": ({ req_id }) => ({
      documents: [{
        uri: "dpe://a/b",
        doc_ref: "b",
        file_uri: "file:///b.pdf",
        file_type: "pdf",
        title: "\ud800",
        page_count: 1,
        server: "files",
      }],
      total_count: 1,
      req_id,
    }),
    "client:get_windows": ({ req_id }) => ({ windows: [{ uri: "window://a/b", text: "\ud800" }], req_id }),
    "client:get_mcp_servers": ({ req_id }) => ({
      mcp_servers: [{ ...server("files"), instructions: "\ud800" }],
      req_id,
    }),
    "client:get_prompts": ({ req_id }) => ({
      prompts: ["good", "broken"].map((name) => ({ name, _meta: { a2c_mcp_server: "files" } })),
      req_id,
    }),
    "client:get_prompt": refuse,
    "client:get_completion": ({ prompt, req_id }) =>
      prompt === "broken" ? refuse() : { completion: { values: ["\ud800"], total: 1.5 }, req_id },
    "client:read_resource": refuse,
  }));
  await gateway.ask("prompts/list");
  const complete = (name: string) =>
    gateway.ask("completion/complete", {
      ref: { type: "ref/prompt", name },
      argument: { name: "x", value: "" },
    });
  const named = { computer: "bad" };
  const answers = [
    await gateway.ask("tools/call", { name: "list_computers", arguments: {} }),
    await gateway.ask("tools/call", { name: "view_desktop", arguments: named }),
    await gateway.ask("tools/call", { name: "find_documents", arguments: named }),
    await gateway.ask("tools/call", { name: "read_document", arguments: { ...named, uri: "dpe://a/b" } }),
    await gateway.ask("prompts/get", { name: "attach_desktop", arguments: named }),
    await gateway.ask("prompts/get", { name: "broken" }),
    CompleteResultSchema.parse(await complete("good")),
    await complete("broken"),
  ];
  for (const answer of answers) {
    const written = JSON.stringify(answer);
    assertEquals([written.includes("\ufffd"), /\\ud8/.test(written)], [true, false], written);
  }
});

Deno.test("a result with flawed content can be read by every client", async () => {
  const flawed = [
    { type: "text" },
    { type: "image", data: 5 },
    { type: "resource" },
    { type: "resource", resource: { uri: "a:b" } },
    { type: "resource_link", uri: "a:b", size: "x" },
    { type: "text", text: "fine", annotations: { priority: 80, audience: ["robot"] }, _meta: 5 },
  ];
  const answers = answersOf([tool("flawed")], [], {
    "client:follow_call": ({ req_id }) => ({ req_id }),
    "client:open_input": () => ({ code: 400, message: "Nothing is asked here" }),
    "client:tool_call": () => ({ content: flawed }),
  });
  await using gateway = await AttackedGateway.open(answers);
  const result = await gateway.ask("tools/call", { name: "flawed", arguments: {} });
  CallToolResultSchema.parse(result);
  assertEquals(result.content.at(-1), {
    type: "text",
    text: "fine",
    annotations: { priority: 1, audience: [] },
  });
});

Deno.test("a list that names one resource a thousand times comes to an end", async () => {
  const same = Array.from({ length: 1_200 }, () => ({ uri: "odd://same", name: "same" }));
  await using gateway = await AttackedGateway.open(answersOf([], same));
  const uris: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 10 && (pages === 0 || cursor !== undefined); pages++) {
    const { resources, nextCursor } = await gateway.ask("resources/list", { cursor });
    for (const { uri } of resources) uris.push(uri);
    cursor = nextCursor;
  }
  assertEquals([cursor, uris.length, uris.at(-1)], [undefined, 1_201, GOOD_URI]);
});
