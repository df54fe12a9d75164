/** Attacker: an Agent. It asks for so much, or with such long texts, that answering would hold the Computer up */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { SmcpError } from "../../src/protocol/errors.ts";
import { ComputerOffice } from "../integration/_computer_office.ts";

Deno.test("too many keywords, and texts that are too long, are refused with the field", async () => {
  await using office = await ComputerOffice.open({ servers: {} });
  const { laptop } = office;
  const refusals: [field: string, ask: () => Promise<unknown>][] = [
    ["keywords", () => laptop.getFinder({ keywords: Array.from({ length: 10_000 }, (_, i) => `k${i}`) })],
    ["keywords", () => laptop.getFinder({ keywords: ["x".repeat(257)] })],
    ["file_type", () => laptop.getFinder({ fileType: "x".repeat(257) })],
    ["window", () => laptop.getDesktop({ window: `window://w/${"x".repeat(100_000)}` })],
  ];
  for (const [field, ask] of refusals) {
    const { code, details, message } = await assertRejects(ask, SmcpError);
    assertEquals([code, details?.["field"]], [400, field]);
    assert(message.length < 400, message.slice(0, 400));
  }
  const tooLong = laptop.getDesktop({ window: `window://w/${"x".repeat(1_000_000)}` });
  const { code, message } = await assertRejects(() => tooLong, SmcpError);
  assertEquals([code, message], [400, "Not told: the request has more than 131072 characters"]);
});
