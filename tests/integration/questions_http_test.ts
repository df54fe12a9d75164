// Questions of a server over HTTP, in both revisions of MCP: in the stream of a call (2025), and in rounds (2026-07-28).

import { assert, assertEquals } from "@std/assert";
import type { AgentQuestion } from "../../src/agent/questions.ts";
import type { Answer } from "../../src/protocol/questions.ts";
import { KIOSK_PAY_URL } from "../fixtures/kiosk.ts";
import { KioskHttp } from "../fixtures/kiosk_http.ts";
import { ComputerOffice } from "./_computer_office.ts";

for (const serves of ["2025", "2026"] as const) {
  // proves: question-answer, question-who
  Deno.test(`the Agent's user answers the questions of a server over HTTP that speaks MCP of ${serves}`, async () => {
    await using http = new KioskHttp({ serves });
    await using office = await ComputerOffice.open({ servers: { kiosk: http.config() } });
    const asked: AgentQuestion[] = [];
    const call = async (tool: string, answer: Answer) => {
      const onQuestion = (question: AgentQuestion) => (asked.push(question), answer);
      const { content } = await office.laptop.callTool(tool, {}, { onQuestion });
      return content.map(({ text }) => text);
    };
    const order = { size: "large", cups: 2, sugar: true };
    assertEquals(await call("order", { action: "accept", content: order }), [
      `ordered ${JSON.stringify(order)}`,
    ]);
    assertEquals(await call("order", { action: "decline" }), ["order: decline"]);
    assertEquals(await call("pay", { action: "accept" }), ["pay: accept"]);
    assertEquals(asked.map(({ mode }) => mode), ["form", "form", "url"]);
    const page = asked.at(-1);
    assert(page?.mode === "url");
    assertEquals(page.url, KIOSK_PAY_URL);
  });
}
