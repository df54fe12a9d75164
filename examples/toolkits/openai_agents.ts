/**
 * The OpenAI Agents SDK: the office is an MCP server of the agent, and the model sees a picture that a tool took.
 *
 * ```sh
 * cd examples/toolkits && deno run -A openai_agents.ts
 * ```
 */
import { assertEquals, assertMatch } from "@std/assert";
import { Agent, run, setTracingDisabled } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { ExampleOffice } from "./_office.ts";

setTracingDisabled(true);
await using office = await ExampleOffice.open();
using kit = office.agent.toolkit();

// In real life: leave `model` out, or name one.
const model = new ScriptedModel([
  [functionCall("photo", {}, { callId: "1" })],
  [functionCall("sell", { count: 2 }, { callId: "2" })],
  [functionCall("sell", { count: 2 }, { callId: "3" })],
  [assistantMessage("I sold two red apples; one is left.")],
]);
const agent = new Agent({
  name: "Shopkeeper",
  model,
  instructions: await kit.prompt(),
  mcpServers: [kit.mcpServer()],
});
const { finalOutput } = await run(agent, "Look at the apples, and sell them.");
assertEquals(finalOutput, "I sold two red apples; one is left.");
model.assertComplete();

const [before, , , after] = model.calls.map(({ request }) => JSON.stringify(request));
assertMatch(before ?? "", /Apples: 3/);
assertMatch(after ?? "", /"type":"input_image","image":"data:image\/png;base64,/);
assertMatch(after ?? "", /Sold 2, 1 are left/);
assertMatch(after ?? "", /Only 1 apples are left/);
console.log(
  "OpenAI Agents SDK: the model saw the picture, sold two apples, and read why it could not sell more.",
);
