/** The prompts of MCP servers, from their lists to the messages that an Agent gets. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { SmcpError } from "../../src/protocol/errors.ts";
import type { Script } from "../fixtures/script.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";

const PROMPTS_CHANGED = { method: "notifications/prompts/list_changed" };
const CAPABILITIES = { tools: {}, prompts: { listChanged: true }, completions: {} };
const REVIEW = {
  name: "review",
  title: "Review code",
  arguments: [{ name: "language", required: true }, { description: "no name" }, {
    name: "tone",
    required: "yes",
  }],
  icons: [{ src: "data:," }, 7],
  _meta: { a2c_mcp_server: "forged", k: 1 },
};
const LISTED = {
  name: "review",
  title: "Review code",
  arguments: [{ name: "language", required: true }, { name: "tone" }],
  icons: [{ src: "data:," }],
};

/** A server whose list of prompts is this. */
function prompting(prompts: readonly unknown[], answers: Record<string, unknown> = {}): Script {
  return { capabilities: CAPABILITIES, answers: { "prompts/list": { prompts }, ...answers } };
}

function said(text: string, role = "user"): Record<string, unknown> {
  return { role, content: { type: "text", text } };
}

async function refusal(promise: Promise<unknown>): Promise<Pick<SmcpError, "code" | "details">> {
  const { code, details } = await assertRejects(() => promise, SmcpError);
  return { code, details };
}

// proves: ext-prompts-list, ext-prompts-capability
Deno.test("prompts of all servers stand in order of precedence, each with its server, without what is no prompt", async () => {
  await using office = await ComputerOffice.open(scriptedServers({
    code: prompting([REVIEW, { title: "no name" }, null, { name: "" }]),
    none: {},
    mail: prompting([{ name: "review", title: null }, { name: "answer", description: "Answers" }]),
  }));
  const { laptop } = office;
  assertEquals((await laptop.getPrompts()).prompts, [
    { ...LISTED, _meta: { a2c_mcp_server: "code", k: 1 } },
    { name: "review", _meta: { a2c_mcp_server: "mail" } },
    { name: "answer", description: "Answers", _meta: { a2c_mcp_server: "mail" } },
  ]);
  const mail = await laptop.getPrompts("mail");
  assertEquals(mail.prompts.map(({ name }) => name), ["review", "answer"]);
  assertEquals(await refusal(laptop.getPrompts("ghost")), { code: 4014, details: { mcp_server: "ghost" } });
  const details = { mcp_server: "none", capability: "prompts" };
  assertEquals(await refusal(laptop.getPrompts("none")), { code: 4015, details });
  assertEquals(await refusal(laptop.getPrompts(undefined, { cursor: "x" })), {
    code: 400,
    details: { field: "cursor" },
  });
});

// proves: ext-prompt-server
Deno.test("a prompt is filled in by the named server, or by the first that lists it", async () => {
  const odd = { messages: [said("mail"), { role: "system", content: {} }, { role: "user" }], description: 1 };
  await using office = await ComputerOffice.open(scriptedServers({
    code: prompting([REVIEW], {
      "prompts/get": { description: "d", messages: [said("code"), said("ok", "assistant")] },
    }),
    mail: prompting([{ name: "review" }, { name: "answer" }], { "prompts/get": odd }),
  }));
  const { laptop } = office;
  assertEquals(await laptop.getPrompt("review", { language: "de" }).then(({ req_id: _, ...rest }) => rest), {
    description: "d",
    messages: [
      { role: "user", content: { type: "text", text: "code" } },
      { role: "assistant", content: { type: "text", text: "ok" } },
    ],
    _meta: { a2c_mcp_server: "code" },
  });
  const asked = (await office.received()).find(({ method }) => method === "prompts/get");
  assertEquals(asked?.params, { name: "review", arguments: { language: "de" } });
  const named = await laptop.getPrompt("review", {}, { mcpServer: "mail" });
  assertEquals(named.messages.map(({ content }) => content.text), ["mail"]);
  assertEquals((await laptop.getPrompt("answer"))._meta, { a2c_mcp_server: "mail" });
});

// proves: ext-prompt-errors
Deno.test("a prompt that nobody lists is 404 with a hint, and one that its server refuses is 400 with its words", async () => {
  const error = { code: -32602, message: "Missing argument language" };
  const broken = { code: -32603, message: "no" };
  await using office = await ComputerOffice.open(scriptedServers({
    code: prompting([REVIEW, { name: "other" }], {
      "prompts/get review": { error },
      "prompts/get other": { error: broken },
    }),
  }));
  const { laptop } = office;
  const absent = await assertRejects(() => laptop.getPrompt("reviev"), SmcpError);
  assertEquals([absent.code, absent.details], [404, { prompt: "reviev" }]);
  assertStringIncludes(absent.message, '"review"');
  const refused = await assertRejects(() => laptop.getPrompt("review"), SmcpError);
  assertEquals([refused.code, refused.details], [400, { mcp_server: "code", prompt: "review" }]);
  assertStringIncludes(refused.message, 'the prompt "review": Missing argument language');
  assertEquals((await refusal(laptop.getPrompt("other"))).code, 500);
});

// proves: ext-prompt-large
Deno.test("a prompt that is too large for one message is fetched in pieces", async () => {
  const embedded = { type: "resource", resource: { uri: "file:///a", text: "x*90000" } };
  const picture = { type: "image", mimeType: "image/png", data: "x*80000" };
  const messages = [said("x*200000"), { role: "assistant", content: embedded }, {
    role: "user",
    content: picture,
  }];
  await using office = await ComputerOffice.open(
    scriptedServers({ code: prompting([REVIEW], { "prompts/get": { messages } }) }),
    { server: { maxPayloadBytes: 100_000 } },
  );
  const { messages: [text, resource, image] } = await office.laptop.getPrompt("review");
  assertEquals(text?.content.text, "x".repeat(200_000));
  assertEquals(resource?.role, "assistant");
  assertEquals(resource?.content.resource, { uri: "file:///a", text: "x".repeat(90_000) });
  assertEquals(image?.content.data, "x".repeat(80_000));
});

// proves: ext-complete-prompt
Deno.test("arguments of a prompt are completed", async () => {
  const completion = { values: ["python"], hasMore: false };
  await using office = await ComputerOffice.open(scriptedServers({
    code: prompting([REVIEW], { "completion/complete": { completion } }),
    plain: {
      capabilities: { tools: {}, prompts: {} },
      answers: { "prompts/list": { prompts: [{ name: "p" }] } },
    },
  }));
  const { laptop } = office;
  const argument = { name: "language", value: "py" };
  const context = { arguments: { tone: "kind" } };
  assertEquals(await laptop.complete({ prompt: "review", argument, context }), {
    values: ["python"],
    hasMore: false,
  });
  const asked = (await office.received()).find(({ method }) => method === "completion/complete");
  assertEquals(asked?.params, { ref: { type: "ref/prompt", name: "review" }, argument, context });
  const details = { mcp_server: "plain", capability: "completions" };
  assertEquals(await refusal(laptop.complete({ prompt: "p", argument })), { code: 4015, details });
  assertEquals((await refusal(laptop.complete({ prompt: "q", argument }))).code, 404);
});

// proves: ext-prompts-changed
Deno.test("an Agent hears that prompts changed: by their server's word, and when the server stops", async () => {
  await using office = await ComputerOffice.open({ servers: { code: scripted(prompting([REVIEW])) } });
  const refreshed = office.next("promptsRefreshed");
  const answers = { "prompts/list": { prompts: [{ name: "new" }] } };
  await office.become({ answers, tell: [PROMPTS_CHANGED] });
  const { computer, prompts } = await refreshed;
  assertEquals([computer, prompts.map(({ name }) => name)], ["laptop", ["new"]]);
  const stopped = office.next("updatePrompts");
  await office.computer.stopServer("code");
  await stopped;
  assertEquals((await office.laptop.getPrompts()).prompts, []);
});

// proves: ext-prompts-bounds
Deno.test("a hostile list of prompts is cut at its bounds, with one warning", async () => {
  const many = Array.from({ length: 1_200 }, (_, index) => ({ name: `p${index}` }));
  const large = { name: "large", description: "x*70000" };
  await using office = await ComputerOffice.open({
    servers: { code: scripted(prompting([large, ...many])) },
  });
  const { laptop } = office;
  const { prompts } = await laptop.getPrompts();
  assertEquals([prompts.length, prompts[0]?.name], [1_000, "p0"]);
  await laptop.getPrompts();
  const warnings = office.log.of("warn").filter(({ message }) => message.startsWith("prompts are left out"));
  assertEquals(warnings.map(({ fields }) => fields?.["count"]), [201]);
});
