/**
 * Mastra: its MCP client reaches the office by a URL that leads to the toolkit's `fetch`, and asks before it sells.
 *
 * ```sh
 * cd examples/toolkits && deno run -A mastra.ts
 * ```
 */
import { createToolkit } from "@a2c-smcp/sdk/toolkits";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { MastraLanguageModelV2Mock } from "@mastra/core/test-utils/llm-mock";
import { MCPClient } from "@mastra/mcp";
import { assertEquals, assertMatch } from "@std/assert";
import { ExampleOffice } from "./_office.ts";

/** What a model that runs nowhere says of its costs. */
const NO_USAGE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

await using office = await ExampleOffice.open();
using kit = createToolkit(office.agent);
const mcp = new MCPClient({
  servers: {
    office: {
      url: new URL("http://localhost/mcp"),
      fetch: kit.fetch,
      requireToolApproval: ({ annotations }) =>
        annotations?.readOnlyHint !== true && annotations?.destructiveHint !== false,
    },
  },
});
// In real life: the name of a model, such as "anthropic/claude-…".
const script = [
  call("office_photo", {}),
  call("office_sell", { count: 2 }),
  { type: "text" as const, text: "I sold two red apples." },
];
const model = new MastraLanguageModelV2Mock({
  doGenerate: () => {
    const [block] = script.splice(0, 1);
    const content = block === undefined ? [] : [block];
    const finishReason = block?.type === "tool-call" ? "tool-calls" : "stop";
    return Promise.resolve({ content, finishReason, usage: NO_USAGE, warnings: [] });
  },
});
const shopkeeper = new Agent({
  id: "shopkeeper",
  name: "Shopkeeper",
  model,
  instructions: await kit.prompt(),
  tools: await mcp.listTools(),
});
// An agent that waits for a person needs a place to keep the run.
const agent = new Mastra({ agents: { shopkeeper }, storage: new InMemoryStore(), logger: false })
  .getAgent("shopkeeper");
const { runId = "", finishReason, suspendPayload } = await agent.generate(
  "Look at the apples, and sell two of them.",
);
assertEquals([finishReason, suspendPayload.toolName], ["suspended", "office_sell"]);

// A person agrees.
const { text } = await agent.approveToolCallGenerate({ runId, toolCallId: "office_sell" });
assertEquals(text, "I sold two red apples.");

const [before, afterPhoto, afterSale] = model.doGenerateCalls.map(({ prompt }) => JSON.stringify(prompt));
assertMatch(before ?? "", /Apples: 3/);
assertMatch(afterPhoto ?? "", /"type":"image-data","data":"[^"]+","mediaType":"image\/png"/);
assertMatch(afterSale ?? "", /Sold 2, 1 are left/);
await mcp.disconnect();
console.log("Mastra: the model saw the picture, and sold two apples after a person had agreed.");

function call(toolName: string, input: unknown) {
  return { type: "tool-call" as const, toolCallId: toolName, toolName, input: JSON.stringify(input) };
}
