/**
 * The OpenAI Agents SDK: a model sees a picture that a tool took, and asks before it sells.
 *
 * ```sh
 * cd examples/toolkits && deno run -A openai_agents.ts
 * ```
 */
import { createToolkit } from "@a2c-smcp/sdk/toolkits";
import { assertEquals, assertMatch } from "@std/assert";
import { Agent, run, setTracingDisabled } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { ExampleOffice } from "./_office.ts";

setTracingDisabled(true);
await using office = await ExampleOffice.open();
using kit = createToolkit(office.agent);

// In real life: leave `model` out, or name one.
const model = new ScriptedModel([
  [functionCall("photo", {}, { callId: "1" })],
  [functionCall("sell", { count: 2 }, { callId: "2" })],
  [assistantMessage("I sold two red apples.")],
]);
const shopkeeper = new Agent({
  name: "Shopkeeper",
  model,
  instructions: await kit.prompt(),
  tools: await kit.openAiTools(),
});
const asking = await run(shopkeeper, "Look at the apples, and sell two of them.");
assertEquals(asking.interruptions.map(({ name }) => name), ["sell"]);

// A person agrees.
for (const interruption of asking.interruptions) asking.state.approve(interruption);
const { finalOutput } = await run(shopkeeper, asking.state);
assertEquals(finalOutput, "I sold two red apples.");

const [before, afterPhoto, afterSale] = model.calls.map(({ request }) => JSON.stringify(request));
assertMatch(before ?? "", /Apples: 3/);
assertMatch(afterPhoto ?? "", /"type":"input_image","image":"data:image\/png;base64,/);
assertMatch(afterSale ?? "", /Sold 2, 1 are left/);
console.log("OpenAI Agents SDK: the model saw the picture, and sold two apples after a person had agreed.");
