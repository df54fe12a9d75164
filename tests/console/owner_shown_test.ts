// What the owner's page shows of a Computer in states that are made up.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { eventually } from "../fixtures/within.ts";
import { inEach } from "./_console_page.ts";
import { OwnerPage, QUIET, waitingCall } from "./_owner_page.ts";

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

Deno.test({
  name: "what a running call has done stands apart from its time",
  ...inEach,
  async fn() {
    const { id, server, tool, name, since, is_local } = waitingCall("c1");
    const running = { id, server, tool, name, since, is_local, progress: { progress: 25, total: 60 } };
    await using owner = await OwnerPage.open({
      "calls list": { paused: false, waiting: [], running: [running] },
    });
    await owner.show("now/c1");
    assertMatch(await owner.textOf(".detail", (text) => text.includes("25 / 60")), / s · 25 \/ 60/);
  },
});

Deno.test({
  name: "a problem of the config has its place, and without an edit there is nothing to undo",
  ...inEach,
  async fn() {
    const problem = { message: "unknown member", path: "servers[0]", line: 5, column: 98 };
    const config = { file: "/home/ada/mcp.json", servers: [], failures: [], warnings: [] };
    await using owner = await OwnerPage.open({ "config check": { ...config, problems: [problem] } });
    await owner.show("configuration");
    await owner.textOf(".findings", (text) => text.includes("error line 5:98 servers[0]"));
    const undo = `[...document.querySelectorAll("button")]
      .find(({ innerText }) => innerText === "Undo the last edit").ariaDisabled`;
    assertEquals(await owner.browser.evaluate(undo), "true");
    const status = { ...Object(QUIET["status"]), can_undo: true };
    owner.console.script["status"] = status;
    owner.console.feed.publish("config", {});
    await eventually(() => owner.browser.evaluate(undo), (isOff) => isOff === "false", "an edit to undo");
  },
});

Deno.test({
  name: "a server of the command line says so, and is neither edited nor removed",
  ...inEach,
  async fn() {
    const server = { restarts: 0, tools: 0, since: new Date().toISOString(), status: "failed" };
    const told = { last_error: "it ended", stderr_tail: "no such disk", comes_from: "--documents" };
    const servers = [{ ...server, ...told, name: "documents" }];
    await using owner = await OwnerPage.open({
      status: { ...Object(QUIET["status"]), servers },
      "config check": { file: "", servers, problems: [], failures: [], warnings: [] },
      "auth status": { servers: [] },
      "input list": { inputs: [] },
      "server logs": { log: [] },
    });
    await owner.show("servers/documents");
    const detail = await owner.textOf(".detail", (text) => text.includes("comes from --documents"));
    assertStringIncludes(detail, "no such disk");
    assertEquals(detail.includes("Edit"), false);
    await owner.show("configuration/documents");
    const shown = await owner.textOf("main", (text) => text.includes("comes from --documents"));
    assertEquals(shown.includes("Remove"), false);
  },
});
