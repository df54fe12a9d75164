/**
 * The AI SDK of Vercel, version 6: a model sees a picture that a tool took, and asks before it sells.
 *
 * ```sh
 * cd examples/toolkits && deno run -A ai_sdk_6.ts
 * ```
 */
import { createToolkit } from "@a2c-smcp/sdk/toolkits";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { generateText, type ModelMessage, stepCountIs } from "ai-6";
import { MockLanguageModelV3 } from "ai-6/test";
import { ExampleOffice } from "./_office.ts";

/** What a model that runs nowhere says of its costs. */
const EMPTY = {
  usage: {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  },
  warnings: [],
};

await using office = await ExampleOffice.open();
using kit = createToolkit(office.agent);

// In real life: `anthropic("…")`, `openai("…")` or the like.
const model = new MockLanguageModelV3({
  doGenerate: [call("photo", {}), call("sell", { count: 2 }), say("I sold two of the red apples.")],
});
const messages: ModelMessage[] = [{ role: "user", content: "Look at the apples, and sell two of them." }];
const run = async () =>
  await generateText({
    model,
    system: await kit.prompt(),
    messages,
    tools: await kit.aiTools({ version: 6 }),
    stopWhen: stepCountIs(5),
  });

const first = await run();
const approval = first.content.find(({ type }) => type === "tool-approval-request");
assert(approval?.type === "tool-approval-request", "the model sold without asking");
assertEquals([approval.toolCall.toolName, approval.toolCall.input], ["sell", { count: 2 }]);

// A person agrees.
messages.push(...first.response.messages, {
  role: "tool",
  content: [{ type: "tool-approval-response", approvalId: approval.approvalId, approved: true }],
});
const { text } = await run();
assertEquals(text, "I sold two of the red apples.");

const [before, afterPhoto, afterSale] = model.doGenerateCalls.map(({ prompt }) => JSON.stringify(prompt));
assertMatch(before ?? "", /Apples: 3/);
assertMatch(afterPhoto ?? "", /"type":"image-data","data":"[^"]+","mediaType":"image\/png"/);
assertMatch(afterSale ?? "", /Sold 2, 1 are left/);
console.log("AI SDK 6: the model saw the picture, and sold two apples after a person had agreed.");

type Answer = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>;

function call(toolName: string, input: unknown): Answer {
  const content = [{
    type: "tool-call" as const,
    toolCallId: toolName,
    toolName,
    input: JSON.stringify(input),
  }];
  return { ...EMPTY, content, finishReason: { unified: "tool-calls", raw: undefined } };
}

function say(text: string): Answer {
  return { ...EMPTY, content: [{ type: "text", text }], finishReason: { unified: "stop", raw: undefined } };
}
