// What the operator of a Server sees and does, on the page in a real browser beside a real Server.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { TestMachine } from "../fixtures/joining_server.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { eventually, within } from "../fixtures/within.ts";
import { inEach, inFull } from "./_console_page.ts";
import { ADA, HOSTILE, LAPTOP, OperatorPage } from "./_operator_page.ts";

function test(
  name: string,
  work: (page: OperatorPage) => Promise<void>,
  { when = inFull, args = [] }: { readonly when?: typeof inFull; readonly args?: readonly string[] } = {},
): void {
  Deno.test({
    name,
    ignore: when.ignore || Deno.build.os === "windows",
    async fn() {
      await using page = await OperatorPage.open(...args);
      await work(page);
    },
  });
}

const TOOLS = { agent: "ada", computer: "laptop", req_id: "1" };

test(
  "the overview shows who is there, changed options without secrets, and follows joins",
  async (page) => {
    const before = await page.browser.textWith("0 Agents");
    assertStringIncludes(before, "--max-payload");
    assertStringIncludes(before, "secrets are not shown");
    assertEquals(before.includes("s3cret"), false);
    await using _ada = await page.join(ADA);
    await page.browser.textWith("1 Agent, 0 Computers");
  },
  { args: ["--metrics-port", "0", "--metrics-token", "s3cret", "--max-payload", "32MiB"] },
);

Deno.test({
  name: "a token that has expired and a changed file that is not in use are shown",
  ignore: inFull.ignore || Deno.build.os === "windows",
  async fn() {
    using folder = new TempFolder();
    const file = `${folder.path}/tokens`;
    Deno.writeTextFileSync(file, "s3cret name=ada expires=2020-01-01\n", { mode: 0o600 });
    await using page = await OperatorPage.open("--token-file", file);
    await page.show("clients");
    await page.browser.textWith("expired 2020-01-01");
    Deno.writeTextFileSync(file, "s3cret nme=ada\n");
    await page.show("overview");
    await page.browser.textWith(`A changed file is not in use: Cannot read token file "${file}": line 1`);
  },
});

test("the overview draws calls, latencies and refusals", async (page) => {
  await using ada = await page.join(ADA);
  await using laptop = await page.join(LAPTOP);
  laptop.serve("client:get_tools", () => [{ tools: [], req_id: "1" }]);
  await ada.request("client:get_tools", TOOLS);
  const chart = () =>
    page.browser.evaluate(`document.querySelector("svg[aria-label^='Time to the answer']")?.ariaLabel`);
  await eventually(chart, (label) => / p95 (?!0 )[\d.]+ m?s/.test(String(label)), "a figure in the chart");
});

test("an office shows its members and how they are connected, with texts of others as text", async (page) => {
  await using _ada = await page.join(ADA);
  await using _laptop = await page.join(LAPTOP);
  await page.show("offices/lab");
  const text = await page.browser.textWith("laptop");
  for (const words of ["ada", "agent, protocol 0.2.0", "127.0.0.1, websocket", HOSTILE]) {
    assertStringIncludes(text, words);
  }
  assertEquals(await page.browser.evaluate("document.querySelectorAll('main img').length"), 0);
});

test("`End` tells the client the reason, and the member leaves the page", async (page) => {
  await using ada = await page.join(ADA);
  await using _laptop = await page.join(LAPTOP);
  const heard = ada.next("notify:connection_closing");
  await page.show("offices/lab");
  await page.browser.click('[aria-label="End the connection of ada"]');
  await page.browser.find("dialog[open]");
  await page.fill("Reason", "maintenance");
  await page.confirm();
  assertEquals(Object(await heard).message, "maintenance");
  await page.textOf(".notice", (text) => text === "ada was disconnected");
  await within(ada.disconnected, "the end of the connection");
  await page.browser.textWith("Members 1");
}, { when: inEach });

test("an office shows live what its members send, and nothing of its content", async (page) => {
  await using ada = await page.join(ADA);
  await using laptop = await page.join(LAPTOP);
  laptop.serve("client:get_tools", () => [{ tools: [], req_id: "1", note: "payload" }]);
  await page.show("offices/lab/events");
  const send = async () => {
    await ada.request("client:get_tools", { ...TOOLS, note: "payload" });
    return String(await page.browser.evaluate("document.body.innerText"));
  };
  const text = await eventually(send, (text) => text.includes("client:get_tools"), "an event on the page");
  assertStringIncludes(text, "answered");
  assertEquals(text.includes("payload"), false);
});

test("the audit trail is shown, filtered and saved", async (page) => {
  await using _ada = await page.join(ADA);
  await using _laptop = await page.join(LAPTOP);
  await page.show("audit");
  await page.browser.textWith("Audit 5");
  await page.browser.evaluate(
    `URL.createObjectURL = (blob) => (blob.text().then((text) => globalThis.saved = text), "")`,
  );
  await page.browser.type("input[type=search]", "laptop");
  assertStringIncludes(await page.browser.textWith("Audit 1 of 5"), "joined office");
  await page.press("Save as JSONL");
  const saved = await eventually(
    () => page.browser.evaluate("globalThis.saved"),
    (text) => text !== undefined,
    "a file",
  );
  assertEquals(String(saved).trim().split("\n").map((line) => JSON.parse(line).name), ["laptop"]);
});

test(
  "tokens are shown by name, and never by value",
  async (page) => {
    await page.show("clients");
    const text = await page.browser.textWith("token-1");
    assertStringIncludes(text, "all offices");
    assertEquals(text.includes("s3cret"), false);
  },
  { args: ["--token", "s3cret"] },
);

Deno.test({
  name: "a machine that waits is approved by its code, and revoked",
  ignore: inFull.ignore || Deno.build.os === "windows",
  async fn() {
    using folder = new TempFolder();
    const file = `${folder.path}/machines.json`;
    await using page = await OperatorPage.open("--token", "s3cret", "--machines", file);
    const machine = await TestMachine.make();
    const body = JSON.stringify(await machine.asking(page.url));
    const { code } = await (await fetch(`${page.url}/machines/join`, { method: "POST", body })).json();
    await page.show("machines");
    const waiting = await page.browser.textWith("Wanted name");
    assertEquals(waiting.includes(code), false);
    assertMatch(waiting, /Since\s[^]*\d\d:\d\d:\d\d/);
    await page.fill("Code", code);
    await page.fill("Offices", "lab, den");
    await page.browser.evaluate(
      `document.querySelector("form select option[value=agent]").selected = true;
      document.querySelector("form select").dispatchEvent(new Event("change", { bubbles: true }))`,
    );
    await page.press("Approve");
    await page.textOf(".notice", (text) => text === "laptop has joined");
    assertStringIncludes(await page.browser.textWith(machine.id), "lab, den; computer, agent");
    await page.browser.click('[aria-label="Rename laptop"]');
    await page.browser.find("dialog[open] input");
    await page.browser.evaluate("document.querySelector('dialog input').select()");
    await page.browser.insert("desk");
    await page.browser.press("Enter");
    await page.browser.click('[aria-label="Revoke desk"]');
    await page.confirm();
    await page.browser.textWith("No machine has joined by code");
  },
});

test("`Drain` ends the Server after it was confirmed", async (page) => {
  await using ada = await page.join(ADA);
  const heard = ada.next("notify:connection_closing");
  await page.press("Drain");
  await page.browser.textWith("Drain this Server?");
  await page.confirm();
  assertEquals(Object(await heard).code, "server_closing");
  assertEquals(await page.desk.ended(), 0);
});

test("while the Server is away, the head says so and `Drain` is off", async (page) => {
  await page.browser.textWith("Drain");
  await page.desk.run("console", "--stop");
  await page.textOf(".where", (text) => text.includes("not connected"));
  assertEquals(
    await page.browser.evaluate("document.querySelector('main .danger').ariaDisabled"),
    "true",
  );
  assertEquals(String(await page.browser.evaluate("document.body.innerText")).includes("TypeError"), false);
});

test("the members of an office that nobody is in any more are not asked for", async (page) => {
  const ada = await page.join(ADA);
  await page.show("offices/lab");
  await page.browser.textWith("Members 1");
  await page.browser.evaluate(`{
    const { fetch } = globalThis;
    globalThis.refused = 0;
    globalThis.fetch = async (...words) => {
      const response = await fetch(...words);
      if (response.status === 502) globalThis.refused++;
      return response;
    };
  }`);
  await ada[Symbol.asyncDispose]();
  await page.browser.textWith("No offices");
  await using _laptop = await page.join({ ...LAPTOP, office_id: "den" });
  await page.textOf(".list", (text) => text.includes("den"));
  await page.browser.textWith("Members 1");
  const refused = Number(await page.browser.evaluate("globalThis.refused"));
  assertEquals(refused <= 1, true, `${refused} requests were refused`);
}, { when: inEach });

test("a page whose Server was started anew says how to get its link", async (page) => {
  await page.desk.run("console", "--stop");
  await page.browser.textWith("does not answer");
  await page.browser.evaluate("sessionStorage.clear()");
  const { stdout } = await page.desk.run("console", "--no-open");
  await page.browser.goTo(new URL(stdout.trim()).origin);
  assertStringIncludes(await page.browser.textWith("This page needs its link"), "a2c-smcp server console");
});
