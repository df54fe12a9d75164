import { assertEquals } from "@std/assert";
import { BoundedNotifications } from "../../../src/mcp/notifications.ts";
import { LogBook } from "../../fixtures/log_book.ts";

function throttle(maxPerSecond: number) {
  const heard: string[] = [];
  const log = new LogBook();
  const listener = {
    onToolsChanged: () => void heard.push("tools"),
    onPromptsChanged: () => void heard.push("prompts"),
    onResourcesChanged: () => void heard.push("resources"),
    onResourceUpdated: (uri: string) => void heard.push(uri),
    onNotificationsLost: () => void heard.push("lost"),
  };
  const throttled = new BoundedNotifications({ listener, maxPerSecond, log });
  const warned = () => log.until(({ message }) => message.includes("too many notifications"));
  return { throttled, heard, warned, log, [Symbol.dispose]: () => throttled[Symbol.dispose]() };
}

Deno.test("notifications up to the limit are passed on at once, and the others once each a second later", async () => {
  using all = throttle(2);
  const { throttled, heard, warned } = all;
  for (let count = 0; count < 1_000; count++) throttled.onResourceUpdated("a");
  throttled.onResourceUpdated("b");
  throttled.onToolsChanged();
  assertEquals(heard, ["a", "a"]);
  assertEquals((await warned()).fields["held"], 1_000);
  assertEquals(heard, ["a", "a", "tools", "a", "b"]);
});

Deno.test("more delayed URIs than the limit become one report of lost notifications", async () => {
  using all = throttle(0);
  const { throttled, heard, warned } = all;
  for (let count = 0; count < 1_001; count++) throttled.onResourceUpdated(`window://h/${count}`);
  await warned();
  assertEquals(heard, ["lost"]);
});

Deno.test("delayed notifications are dropped when the session ends, and no timer is left", () => {
  using all = throttle(0);
  all.throttled.onToolsChanged();
  all.throttled[Symbol.dispose]();
  all.throttled.onToolsChanged();
  assertEquals(all.heard, []);
});
