/**
 * The Anthropic SDK: its helpers take the toolkit for an MCP client, and the model sees a picture that a tool took.
 *
 * ```sh
 * cd examples/toolkits && deno run -A anthropic.ts
 * ```
 */
import { createToolkit } from "@a2c-smcp/sdk/toolkits";
import Anthropic from "@anthropic-ai/sdk";
import { mcpTools } from "@anthropic-ai/sdk/helpers/beta/mcp";
import { assertEquals, assertMatch } from "@std/assert";
import { ExampleOffice } from "./_office.ts";

/** In real life: the name of a model. */
const MODEL = "scripted";

await using office = await ExampleOffice.open();
using kit = createToolkit(office.agent);

const requests: string[] = [];
const answers: Anthropic.Beta.BetaContentBlockParam[] = [
  { type: "tool_use", id: "1", name: "photo", input: {} },
  { type: "tool_use", id: "2", name: "sell", input: { count: 9 } },
  { type: "text", text: "I cannot sell nine apples: only three are left." },
];
// In real life: `new Anthropic()`.
const anthropic = new Anthropic({ apiKey: "none", fetch: answerFromScript });

const client = kit.mcpClient();
const { tools } = await client.listTools();
const message = await anthropic.beta.messages.toolRunner({
  model: MODEL,
  max_tokens: 1024,
  system: await kit.prompt(),
  messages: [{ role: "user", content: "Look at the apples, and sell nine of them." }],
  tools: mcpTools(tools, client),
});
const [last] = message.content;
assertEquals(last?.type === "text" ? last.text : last, "I cannot sell nine apples: only three are left.");

const [before, afterPhoto, afterSale] = requests;
assertMatch(before ?? "", /Apples: 3/);
assertMatch(
  afterPhoto ?? "",
  /"type":"image","source":\{"type":"base64","data":"[^"]+","media_type":"image\/png"/,
);
assertMatch(afterSale ?? "", /Only 3 apples are left/);
console.log("Anthropic SDK: the model saw the picture, and read why it could not sell nine apples.");

/** What the API would answer. */
function answerFromScript(_url: unknown, init?: { readonly body?: unknown }): Promise<Response> {
  requests.push(String(init?.body));
  const block = answers[requests.length - 1];
  return Promise.resolve(Response.json({
    id: `message-${requests.length}`,
    type: "message",
    role: "assistant",
    model: MODEL,
    content: [block],
    stop_reason: block?.type === "tool_use" ? "tool_use" : "end_turn",
    usage: { input_tokens: 0, output_tokens: 0 },
  }));
}
