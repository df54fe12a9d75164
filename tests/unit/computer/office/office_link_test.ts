import { assertEquals } from "@std/assert";
import { Announcer } from "../../../../src/computer/office/office_link.ts";
import { within } from "../../../fixtures/within.ts";

Deno.test("each kind of change is its own event, a burst of one kind few of them", () => {
  const events: string[] = [];
  const announcer = new Announcer((event) => void events.push(event));
  for (let i = 0; i < 10; i++) announcer.announce("desktop");
  announcer.announceAll();
  announcer.close();
  assertEquals(events, [
    "server:update_desktop",
    "server:update_config",
    "server:update_tool_list",
    "server:update_finder",
    "server:update_resources",
    "server:update_prompts",
  ]);
});

Deno.test("the last change of a burst is announced, too", async () => {
  const second = Promise.withResolvers<void>();
  let count = 0;
  const announcer = new Announcer(() => {
    if (++count === 2) second.resolve();
  });
  announcer.announce("finder");
  announcer.announce("finder");
  await within(second.promise, "the second event");
  announcer.close();
});

Deno.test("an announcer that is closed says nothing and leaves no timer", () => {
  const events: string[] = [];
  const announcer = new Announcer((event) => void events.push(event));
  announcer.close();
  announcer.announceAll();
  announcer.close();
  assertEquals(events, []);
});
