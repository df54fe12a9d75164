/**
 * LangChain: its MCP adapter loads the tools over a transport in memory.
 *
 * ```sh
 * cd examples/toolkits && deno run -A langchain.ts
 * ```
 */
import { createToolkit } from "@a2c-smcp/sdk/toolkits";
import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { loadMcpTools } from "@langchain/mcp-adapters";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { assertEquals, assertMatch } from "@std/assert";
import { createAgent } from "langchain";
import { ExampleOffice } from "./_office.ts";

await using office = await ExampleOffice.open();
using kit = createToolkit(office.agent);
const client = new Client({ name: "langchain", version: "1.0.0" });
await client.connect(kit.transport());

// In real life: `new ChatAnthropic({ … })` or the like.
const model = fakeModel()
  .respondWithTools([{ name: "photo", args: {}, id: "1" }])
  .respondWithTools([{ name: "sell", args: { count: 2 }, id: "2" }])
  .respond(new AIMessage("I sold two red apples."));
const agent = createAgent({
  model,
  systemPrompt: await kit.prompt(),
  tools: await loadMcpTools("office", client),
});
const { messages } = await agent.invoke({
  messages: [{ role: "user", content: "Look at the apples, and sell two of them." }],
});
assertEquals(messages.at(-1)?.content, "I sold two red apples.");

const [before, afterPhoto, afterSale] = model.calls.map((call) => JSON.stringify(call.messages));
assertMatch(before ?? "", /Apples: 3/);
assertMatch(afterPhoto ?? "", /data:image\/png;base64,/);
assertMatch(afterSale ?? "", /"Sold 2, 1 are left/); // the text alone, as the tool gave it
await client.close();
console.log("LangChain: the model saw the picture, and sold two apples.");
