/** Questions of calls to users of MCP clients. */
import { assertEquals } from "@std/assert";
import type { AgentQuestion } from "../../../src/agent/questions.ts";
import { withAbilities } from "../../../src/gateway/questions.ts";

const ABOUT = {
  computer: "laptop",
  tool: "echo",
  mcpServer: "s",
  reqId: "r1",
  message: "Now?",
  problems: [],
  timeLeftMs: 1_000,
  signal: new AbortController().signal,
};

const QUESTIONS: readonly AgentQuestion[] = [
  { ...ABOUT, mode: "form", fields: [], schema: {} },
  { ...ABOUT, mode: "url", url: "https://example.com/" },
  { ...ABOUT, mode: "approval", params: {} },
];

const accept = { action: "accept" } as const;

Deno.test("a client is asked what it can show, and of the rest it is known that nobody was asked", () => {
  const answersOf = (form: boolean, url: boolean) => {
    const ask = withAbilities(() => accept, { form, url });
    return ask && QUESTIONS.map(ask);
  };
  assertEquals(answersOf(true, false), [accept, undefined, accept]);
  assertEquals(answersOf(false, true), [undefined, accept, undefined]);
  assertEquals(answersOf(false, false), undefined);
});
