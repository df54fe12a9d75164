import { assertEquals } from "@std/assert";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { countBody } from "../../../src/server/http.ts";
import { IncompleteMessage } from "../../../src/server/message_shares.ts";
import { MemoryBudget } from "../../../src/server/memory_budget.ts";

/** A message that counts in `memory` alone. */
function openMessage(memory: MemoryBudget): IncompleteMessage {
  const owner = { incompleteBytes: 0 };
  return new IncompleteMessage({ memory, maxShareBytes: Infinity, ownerOf: () => owner }, "s");
}

Deno.test("countBody() takes nothing from a reader that comes later, counts what it gets, and frees it with the answer", async () => {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const memory = new MemoryBudget(1_000_000);
  countBody(request, { response, message: openMessage(memory) });
  request.push("40{}");
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(memory.usedBytes, 0);

  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => body += chunk);
  const ended = new Promise((resolve) => request.once("end", resolve));
  request.push("é");
  request.push(null);
  await ended;
  assertEquals(body, "40{}é");
  assertEquals(memory.usedBytes, 6);

  response.emit("close");
  assertEquals(memory.usedBytes, 0);
});

Deno.test("a message without room takes no room of others, also before its connection has ended", async () => {
  const memory = new MemoryBudget(200_000);
  for (const size of [150_000, 150_000]) {
    const request = new IncomingMessage(new Socket());
    countBody(request, { response: new ServerResponse(request), message: openMessage(memory) });
    const read = new Promise((resolve) => request.once("data", resolve));
    request.push(new Uint8Array(size));
    await read;
  }
  assertEquals(memory.usedBytes, 150_000);
});
