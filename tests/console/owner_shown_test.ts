// What the owner's page shows of a Computer in states that are made up.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { inEach } from "./_console_page.ts";
import { OwnerPage, QUIET } from "./_owner_page.ts";

Deno.test({
  name: "a server that starts after `Set` stays on the page, without its old error",
  ...inEach,
  async fn() {
    const server = { restarts: 0, tools: 0, since: new Date().toISOString(), status: "failed" };
    const servers = ["database", "tickets"].map((name) => ({ ...server, name, last_error: `no ${name}` }));
    const input = { id: "key", description: "", value_from: "missing", used_by: ["database"] };
    await using owner = await OwnerPage.open({
      status: { ...Object(QUIET["status"]), servers },
      "input list": { inputs: [input] },
      "input set": {},
      "auth status": { servers: [] },
      "server logs": { log: [] },
    });
    owner.console.script["input set"] = () => {
      const starting = { ...servers[0], status: "starting" };
      owner.console.script["status"] = { ...Object(QUIET["status"]), servers: [starting, servers[1]] };
      owner.console.feed.publish("servers", { name: "database", status: "starting" });
      return {};
    };
    await owner.show("servers");
    await owner.textOf(".detail", (text) => text.includes("no database"));
    await owner.fill("Input key", "hunter2");
    await owner.press("Set");
    const detail = await owner.textOf(".detail", (text) => text.includes("starting"));
    assertStringIncludes(detail, "database");
    assertEquals(detail.includes("no database"), false);
  },
});
