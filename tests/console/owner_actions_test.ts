// Each action of the owner's page, in a real browser, at a Computer that runs.

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Chromium } from "../fixtures/chromium.ts";
import { ProtectedServer } from "../fixtures/protected_server.ts";
import { eventually } from "../fixtures/within.ts";
import { inEach, inFull } from "./_console_page.ts";
import { programServer, RealOwner, SHELL } from "./_real_owner.ts";

const isPosix = Deno.build.os !== "windows";
/** The actions that each run tries; the full run tries all. */
const SMOKE = /Allow once|lacks an input|form from its schema|pasted server/;

function testOwner(
  name: string,
  config: Readonly<Record<string, unknown>>,
  work: (owner: RealOwner) => Promise<void>,
): void {
  Deno.test({
    name,
    ignore: !isPosix || (SMOKE.test(name) ? inEach : inFull).ignore,
    async fn() {
      await using owner = await RealOwner.open(config);
      await work(owner);
    },
  });
}

const WITH_SHELL = { servers: { shell: SHELL } };

testOwner(
  "a call of the Agent runs after `Allow once`, and the next one asks again",
  WITH_SHELL,
  async (owner) => {
    const first = owner.call("run", { path: "/tmp/first" });
    const shown = await owner.browser.textWith("/tmp/first");
    assertStringIncludes(shown, "Agent ada wants to run run of shell");
    assertEquals(shown.includes("Page 1 of"), false, "arguments of one page are shown by their names");
    await owner.press("Allow once");
    assertEquals((await first).isError, false);
    const second = owner.call("run", { path: "/tmp/second" });
    await owner.browser.textWith("/tmp/second");
    await owner.press("Deny");
    assertEquals((await second).isError, true);
  },
);

testOwner("`Always allow` lets the next calls run unasked, until `Ask again`", WITH_SHELL, async (owner) => {
  const first = owner.call("run", { path: "/tmp/first" });
  await owner.browser.textWith("/tmp/first");
  await owner.press("Always allow");
  await first;
  assertEquals((await owner.call("run", { path: "/tmp/second" })).isError, false);
  await owner.show("sees/tools/shell%2Frun");
  await owner.browser.textWith("always allowed");
  await owner.press("Ask again");
  await owner.textOf(".list", (text) => !text.includes("always allowed"));
  const third = owner.call("run", { path: "/tmp/third" });
  await owner.show("now");
  await owner.browser.textWith("/tmp/third");
  await owner.press("Deny");
  assertEquals((await third).isError, true);
});

const ASKING = { servers: { shop: programServer("tests/fixtures/asking_server.ts") } };
const QUESTION = {
  mode: "form",
  message: "Which size?",
  requestedSchema: {
    type: "object",
    required: ["size"],
    properties: { size: { type: "string", title: "Size" }, gift: { type: "boolean", title: "As a gift" } },
  },
};

testOwner("a question of an MCP server is answered in its form", ASKING, async (owner) => {
  const call = owner.call("ask", { questions: [QUESTION] });
  await owner.browser.textWith("Which size?");
  await owner.fill("Size", "large");
  await owner.press("Answer");
  assertStringIncludes(JSON.stringify((await call).content), "large");
});

testOwner("a field whose value is refused says why, and the question still waits", ASKING, async (owner) => {
  const { requestedSchema: { properties }, ...question } = QUESTION;
  const size = { ...properties.size, minLength: 3 };
  const call = owner.call("ask", {
    questions: [{ ...question, requestedSchema: { type: "object", properties: { size } } }],
  });
  await owner.browser.textWith("Which size?");
  await owner.fill("Size", "xl");
  await owner.press("Answer");
  await owner.textOf(".field", (text) => /Size.*must have at least 3 characters/s.test(text));
  await owner.fill("Size", "xl");
  await owner.press("Answer");
  assertStringIncludes(JSON.stringify((await call).content), "xlxl");
});

testOwner("a question is declined", ASKING, async (owner) => {
  const call = owner.call("ask", { questions: [QUESTION] });
  await owner.browser.textWith("Which size?");
  await owner.press("Decline");
  assertStringIncludes(JSON.stringify((await call).content), "decline");
});

testOwner(
  "a call that runs shows its progress, and is cancelled",
  { servers: { slow: programServer("tests/fixtures/progress_server.ts") } },
  async (owner) => {
    const call = owner.call("work", {
      waits: true,
      reports: [{ progress: 3, total: 8, message: "third of eight" }],
    });
    await owner.browser.textWith("Running");
    await owner.browser.click("[aria-label=Running] .option");
    assertStringIncludes(await owner.browser.textWith("third of eight"), "3 / 8");
    await owner.press("Cancel");
    assertEquals((await call).isError, true);
  },
);

testOwner(
  "`Pause` refuses new calls and reads of the Agent until `Resume`, and reads are listed",
  WITH_SHELL,
  async (owner) => {
    await owner.press("Pause");
    await owner.browser.textWith("Paused: Agents get nothing");
    await assertRejects(() => owner.agent.computer("laptop").getDesktop());
    assertEquals((await owner.call("run")).isError, true);
    await owner.press("Resume");
    await owner.textOf("main", (text) => !text.includes("Paused: Agents get nothing"));
    await owner.agent.computer("laptop").getFinder();
    await owner.browser.textWith("read 1 time");
    const call = owner.call("run", { path: "/tmp/later" });
    await owner.browser.textWith("/tmp/later");
    await owner.press("Allow once");
    assertEquals((await call).isError, false);
  },
);

testOwner("a server is stopped, started and restarted, and its log is shown", WITH_SHELL, async (owner) => {
  await owner.show("servers/shell");
  await owner.browser.textWith("state running");
  await owner.press("Stop");
  await owner.browser.textWith("state stopped");
  await owner.press("Start");
  await owner.press("Restart");
  await owner.textOf(".facts", (text) => /Restarts\s+[1-9]/.test(text));
});

const MISSING = {
  inputs: [{ id: "key", type: "promptString", description: "The key", password: true }],
  servers: {
    shell: {
      ...SHELL,
      server_parameters: { ...SHELL.server_parameters as object, env: { KEY: "${input:key}" } },
    },
  },
};

testOwner("a server that lacks an input says so, and starts when it is set", MISSING, async (owner) => {
  await owner.show("servers/shell");
  await owner.browser.textWith("no value");
  await owner.fill("Input key", "s3cret");
  await owner.press("Set");
  await owner.textOf(".who", (text) => text.includes("running"));
});

testOwner("a tool runs by a form from its schema", {
  servers: { workspace: programServer("examples/workspace/server.ts", ["examples/documents"]) },
}, async (owner) => {
  await owner.show("sees/tools/workspace%2Fcount_words");
  await owner.fill("document", "runbook.md");
  await owner.press("Run");
  assertStringIncludes(await owner.textOf(".result"), "115 words");
});

testOwner("the Desktop, the Finder and a page of a document are shown, with their changes", {
  servers: { workspace: programServer("examples/workspace/server.ts", ["examples/documents"]) },
}, async (owner) => {
  await owner.show("sees/desktop");
  await owner.browser.textWith("3 documents, the newest is");
  await owner.show(`sees/finder/${encodeURIComponent("dpe://com.example.workspace/quarterly-report.md")}`);
  await owner.press("Next");
  assertStringIncludes(await owner.browser.textWith("1,380"), "East is driven by a single customer");
});

testOwner("the history shows calls with masked arguments, and filters them", WITH_SHELL, async (owner) => {
  const call = owner.call("run", { path: "/tmp/first", password: "hunter2" });
  await owner.browser.textWith("/tmp/first");
  await owner.press("Deny");
  await call;
  await owner.show("history");
  const shown = await owner.browser.textWith("Arguments, masked");
  assertStringIncludes(shown, "***");
  assertEquals(shown.includes("hunter2"), false);
  await owner.browser.type("input[type=search]", "nosuchtool");
  await owner.browser.textWith("Nothing matches");
});

testOwner(
  "a tool is hidden from the Agent, shown again, and runs unasked from then on",
  WITH_SHELL,
  async (owner) => {
    const names = async () => (await owner.agent.computer("laptop").getTools()).map(({ name }) => name);
    await owner.show("sees/tools/shell%2Frun");
    await owner.press("Hide from the Agent");
    await eventually(names, (list) => !list.includes("run"), "the tool to be hidden");
    await owner.press("Show to the Agent");
    await eventually(names, (list) => list.includes("run"), "the tool");
    await owner.press("Run without asking");
    await owner.browser.textWith("runs at once");
    assertEquals((await owner.call("run")).isError, false);
    await owner.press("Ask each time");
    await owner.press("Run without asking");
  },
);

testOwner("what the filter of the history shows is exported as JSONL", WITH_SHELL, async (owner) => {
  const call = owner.call("run", { path: "/tmp/first" });
  await owner.browser.textWith("/tmp/first");
  await owner.press("Allow once");
  await call;
  await owner.show("history");
  await owner.browser.textWith("History 1");
  await owner.browser.evaluate(
    `URL.createObjectURL = (blob) => { globalThis.saved = blob; return "#/history"; }; undefined`,
  );
  await owner.press("Save as JSONL");
  const [line = "", ...rest] = String(await owner.browser.run("saved.text()")).split("\n");
  assertEquals([JSON.parse(line).tool, JSON.parse(line).outcome, rest], ["run", "ok", [""]]);
});

Deno.test({
  name: "the owner signs in at an MCP server from its page, in the browser",
  ignore: !isPosix || inFull.ignore,
  async fn() {
    await using server = await ProtectedServer.open();
    await using owner = await RealOwner.open(server.config());
    await owner.show("servers/guarded");
    await owner.textOf(".who", (text) => text.includes("needs sign-in"));
    await owner.press("Sign in");
    await owner.browser.find("a.primary[href]");
    const page = String(await owner.browser.evaluate("document.querySelector('a.primary[href]').href"));
    await using browser = await Chromium.open();
    await browser.goTo(page);
    await browser.type("input[name=login]", "ada");
    await browser.type("input[name=password]", "secret");
    await browser.click("button[type=submit]");
    await browser.textWith("Continue");
    await browser.click("button[type=submit]");
    await browser.textWith("You are signed in");
    await owner.textOf(".who", (text) => text.includes("running"));
    await owner.press("Sign out");
  },
});

testOwner(
  "a problem of the configuration is shown with its line; a pasted server is added, and the edit undone",
  {
    servers: { shell: SHELL, broken: { type: "stdio", server_parameters: { command: "nosuchprogram-x" } } },
  },
  async (owner) => {
    await owner.show("configuration");
    assertStringIncludes(await owner.browser.textWith("nosuchprogram-x"), "line ");
    const { command, args } = SHELL.server_parameters as { command: string; args: string[] };
    const inputs = [{ id: "color", type: "promptString", default: "red" }];
    const pasted = { command, args, env: { COLOR: "${input:color}" } };
    await owner.fill("Entry, as JSON", JSON.stringify({ servers: { pasted }, inputs }));
    await owner.press("Add and start");
    await owner.show("servers/pasted");
    await owner.textOf(".who", (text) => text.includes("running"));
    await owner.show("configuration");
    await owner.press("Undo the last edit");
    await owner.show("servers");
    await owner.textOf(".list", (text) => !text.includes("pasted"));
  },
);

testOwner("the entry of a server is edited and removed", WITH_SHELL, async (owner) => {
  const names = async () => (await owner.agent.computer("laptop").getTools()).map(({ name }) => name);
  await owner.show("servers/shell");
  await owner.browser.click(".detail a.button");
  await owner.browser.textWith("Save and restart");
  await owner.browser.evaluate(`{
    const field = document.querySelector("textarea");
    field.value = JSON.stringify({ ...JSON.parse(field.value), forbidden_tools: ["run"] });
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }`);
  await owner.press("Save and restart");
  await eventually(names, (list) => !list.includes("run"), "the tool to be forbidden");
  await owner.press("Remove");
  await owner.browser.click("dialog .danger");
  await owner.textOf(".tabs", (text) => !text.includes("shell"));
  await owner.press("Undo the last edit");
  await owner.textOf(".tabs", (text) => text.includes("shell"));
});
