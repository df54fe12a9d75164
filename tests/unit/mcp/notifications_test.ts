import { assertEquals } from "@std/assert";
import { CalmListener } from "../../../src/mcp/notifications.ts";
import { LogBook } from "../../fixtures/log_book.ts";

function calm(maxPerSecond: number) {
  const heard: string[] = [];
  const log = new LogBook();
  const listener = {
    onToolsChanged: () => void heard.push("tools"),
    onResourcesChanged: () => void heard.push("resources"),
    onResourceUpdated: (uri: string) => void heard.push(uri),
    onNotificationsLost: () => void heard.push("lost"),
  };
  const calmed = new CalmListener({ listener, maxPerSecond, log });
  const warned = log.until(({ message }) => message.includes("more changes than are heard"));
  return { calmed, heard, warned, log, [Symbol.dispose]: () => calmed[Symbol.dispose]() };
}

Deno.test("notifications up to the bound are heard at once, the others once each when the second is over", async () => {
  using all = calm(2);
  const { calmed, heard, warned } = all;
  for (let count = 0; count < 1_000; count++) calmed.onResourceUpdated("a");
  calmed.onResourceUpdated("b");
  calmed.onToolsChanged();
  assertEquals(heard, ["a", "a"]);
  assertEquals((await warned).fields["held"], 1_000);
  assertEquals(heard, ["a", "a", "tools", "a", "b"]);
});

Deno.test("of more URIs than are remembered it is told that notifications were lost", async () => {
  using all = calm(0);
  const { calmed, heard, warned } = all;
  for (let count = 0; count < 1_001; count++) calmed.onResourceUpdated(`window://h/${count}`);
  await warned;
  assertEquals(heard, ["lost"]);
});

Deno.test("what is held back when the session ends is not heard, and no timer stays", () => {
  using all = calm(0);
  all.calmed.onToolsChanged();
  all.calmed[Symbol.dispose]();
  all.calmed.onToolsChanged();
  assertEquals(all.heard, []);
});
