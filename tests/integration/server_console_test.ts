// The console of a Server, as a program sees it: its link, its API and its events.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { eventually, within } from "../fixtures/within.ts";
import { ConsoleClient } from "./_console.ts";
import { ServerDesk } from "./_server_desk.ts";
import { type Membership, RawPeer } from "./_socket.ts";

const ADA: Membership = { role: "agent", name: "ada", office_id: "lab" };
const LAPTOP: Membership = { role: "computer", name: "laptop", office_id: "lab" };
const TOOLS = { agent: "ada", computer: "laptop", req_id: "1" };
const LINK = /^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/m;

function test(
  name: string,
  work: (
    console: ConsoleClient,
    server: { readonly url: string; readonly desk: ServerDesk },
  ) => Promise<void>,
): void {
  Deno.test({
    name,
    ignore: Deno.build.os === "windows",
    async fn() {
      await using desk = new ServerDesk();
      const url = await desk.serve();
      await work(new ConsoleClient((await desk.run("console", "--no-open")).stdout.trim()), { url, desk });
    },
  });
}

test("`server console` prints the same link until the console is closed", async (console, { desk }) => {
  assertEquals(await desk.json("console", "--no-open"), {
    url: `${console.origin}/#${console.token}`,
    opened: false,
  });
  assertEquals(await desk.json("console", "--stop"), { closed: true });
  const { stdout } = await desk.run("console", "--no-open");
  assertMatch(stdout, LINK);
  assertEquals(stdout.includes(console.token), false);
});

Deno.test({
  name: "`server --console` prints the link of the operator's page at the start",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using desk = new ServerDesk();
    const url = await desk.serve("--console");
    const link = await eventually(() => desk.stdout, (text) => LINK.test(text), "the link");
    const console = new ConsoleClient(LINK.exec(link)?.[0] ?? "");
    assertEquals((await console.get("/api/overview")).body.url, url);
    assertStringIncludes(await (await fetch(`${console.origin}/`)).text(), "operator.js");
  },
});

test("the API tells what the commands tell, and changes nothing by GET", async (console, { url }) => {
  await using ada = await RawPeer.join(url, ADA);
  assertEquals((await console.get("/api/members?argument=lab")).body[0].sid, ada.id);
  assertEquals((await console.get("/api/drain")).status, 405);
  const options = { principal: "anonymous", reason: "maintenance" };
  assertEquals((await console.post("/api/end", { options })).body, { ended: 1 });
  await within(ada.disconnected, "the end of the connection");
  assertEquals((await console.post("/api/end", { options: { member: "x" } })).status, 400);
  const names = (await console.get("/api")).body.map(({ command }: { command: string }) => command);
  assertEquals([names.includes("events"), names.includes("end")], [false, true]);
});

test("the stream tells that the audit trail has a new line", async (console, { url }) => {
  await using events = await console.follow();
  await using _ada = await RawPeer.join(url, ADA);
  await events.nextOf("audit");
  const { body } = await console.get("/api/audit?lines=1");
  assertEquals([body[0].action, body[0].office], ["join", "lab"]);
});

test("the stream tells the events of an office after they were asked for", async (console, { url }) => {
  await using ada = await RawPeer.join(url, ADA);
  await using laptop = await RawPeer.join(url, LAPTOP);
  laptop.serve("client:get_tools", () => [{ tools: [], req_id: "1" }]);
  await using events = await console.follow();
  assertEquals((await console.post("/api/watch", { arguments: ["lab"] })).body.office, "lab");
  await ada.request("client:get_tools", TOOLS);
  const { data } = await events.nextOf("relayed");
  const { office, event, from, to, outcome } = Object(data).seen;
  assertEquals([office, event, from, to, outcome], ["lab", "client:get_tools", "ada", "laptop", "answered"]);
});
