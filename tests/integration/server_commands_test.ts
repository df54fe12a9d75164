// The commands for a Server that runs, from the outside: one process serves, others ask it.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { eventually, within } from "../fixtures/within.ts";
import { ServerDesk } from "./_server_desk.ts";
import { type Membership, RawPeer } from "./_socket.ts";

const ADA: Membership = { role: "agent", name: "ada", office_id: "lab" };
const LAPTOP: Membership = { role: "computer", name: "laptop", office_id: "lab" };
const TOOLS = { agent: "ada", computer: "laptop", req_id: "1" };
const CALL = { ...TOOLS, tool_name: "work", params: {}, timeout: 30 };

function test(name: string, work: (desk: ServerDesk) => Promise<void>): void {
  Deno.test({
    name,
    async fn() {
      await using desk = new ServerDesk();
      await work(desk);
    },
  });
}

test("overview tells whether the Server is ready, its members, memory and changed options", async (desk) => {
  const url = await desk.serve("--token", "s3cret", "--max-payload", "32MiB");
  await using _ada = await RawPeer.join(url, ADA, { auth: { token: "s3cret" } });
  const overview = await desk.json("overview");
  assertEquals([overview.ready, overview.offices, overview.shared], [true, 1, false]);
  assertEquals(overview.members, { agent: 1, computer: 0, observer: 0, none: 0 });
  assertEquals(overview.options, [
    { name: "--port", value: "0", default: "3000" },
    { name: "--token", value: "(set; secrets are not shown)", default: null },
    { name: "--max-payload", value: "32MiB", default: "16MiB" },
  ]);
  assert(overview.memory.rss > 0 && overview.memory.max_message_bytes === 512 * 1024 * 1024);
  assertStringIncludes((await desk.run("overview")).stdout, "ready    yes");
});

test("overview tells the calls, the errors and the refusals, also those before somebody looked", async (desk) => {
  const url = await desk.serve("--token", "s3cret");
  const auth = { token: "s3cret" };
  await using ada = await RawPeer.join(url, ADA, { auth });
  await using laptop = await RawPeer.join(url, LAPTOP, { auth });
  laptop.serve("client:get_tools", () => [{ tools: [], req_id: "1" }]);
  await ada.request("client:get_tools", TOOLS);
  await ada.request("client:get_tools", { ...TOOLS, computer: "gone" });
  await ada.request("client:get_desktop", { ...TOOLS, computer: "gone" });
  await RawPeer.connect(url).catch(() => {});
  const look = async () => {
    const { last15m } = await desk.json("overview");
    // One sample, or two on a machine that took long.
    return {
      served: last15m.find((sample: { calls_per_s: number }) => sample.calls_per_s > 0),
      errors: last15m.flatMap((sample: { errors: object }) => Object.entries(sample.errors)),
      refusals: last15m.map((sample: { refusals: unknown }) => sample.refusals),
    };
  };
  const isWhole = ({ served, refusals }: Awaited<ReturnType<typeof look>>) =>
    served !== undefined && JSON.stringify(refusals).includes("credentials");
  const { served, errors, refusals } = await eventually(look, isWhole, "the samples");
  assert(served.calls_per_s <= 3);
  assert(served.p50_ms > 0 && served.p95_ms >= served.p50_ms);
  assertEquals(Object.assign({}, ...refusals), { credentials: 1 });
  const counted = errors.map(([code, count]: [string, number]) => code === "404" ? count : NaN);
  assertEquals(counted.reduce((sum: number, count: number) => sum + count), 2);
});

test("offices and members tell who is there, how they are connected, and what waits", async (desk) => {
  const url = await desk.serve();
  await using ada = await RawPeer.join(url, ADA, { headers: { "user-agent": "ada-client/1.0" } });
  await using laptop = await RawPeer.join(url, LAPTOP, { transports: ["polling"] });
  const unanswered = laptop.nextRequest("client:get_tools");
  ada.socket.emit("client:get_tools", TOOLS, () => {});
  await unanswered;
  assertEquals(await desk.json("offices"), [
    { office: "lab", members: 2, agent: "ada", computers: 1, observers: 0 },
  ]);
  const [agent, computer] = await desk.json("members", "lab");
  assertEquals([agent.sid, agent.client, agent.transport], [ada.id, "ada-client/1.0", "websocket"]);
  assertEquals([agent.principal, agent.version, agent.address], ["anonymous", "0.2.0", "127.0.0.1"]);
  assertEquals([computer.name, computer.transport, computer.waits.requests], ["laptop", "polling", 1]);
  assert(Date.now() - Date.parse(agent.last_seen) < 60_000 && Date.parse(agent.since) > 0);
  const unknown = await desk.run("members", "lap");
  assertEquals(unknown.code, 1);
  assertStringIncludes(unknown.stderr, 'Office "lap" has no members now (offices with members: lab)');
});

test("members tells who would not answer, and since when", async (desk) => {
  const url = await desk.serve();
  await using _ada = await RawPeer.join(url, ADA);
  await using laptop = await RawPeer.join(url, LAPTOP);
  // It reads nothing any more, and its connection stays open.
  Object.assign(laptop.socket.io.engine.transport, { onData() {} });
  const [agent, computer] = await desk.json("members", "lab");
  assertEquals([agent.asleep_since, computer.asleep_since], [undefined, computer.last_seen]);
  assertMatch((await desk.run("members", "lab")).stdout, /ada +online[^]*laptop +asleep since /);
});

test("a heartbeat tells the round trip of a member", async (desk) => {
  const url = await desk.serve("--ping-interval", "50ms");
  await using _ada = await RawPeer.join(url, ADA);
  const [{ round_trip_ms }] = await eventually(
    () => desk.json("members", "lab"),
    ([agent]) => agent.round_trip_ms !== undefined,
    "a heartbeat",
  );
  assert(round_trip_ms > 0 && round_trip_ms < 10_000);
});

test("members tells on which Computer tool calls are slow, whatever else it answers", async (desk) => {
  const url = await desk.serve();
  await using ada = await RawPeer.join(url, ADA);
  await using laptop = await RawPeer.join(url, LAPTOP);
  await using desktop = await RawPeer.join(url, { ...LAPTOP, name: "desktop" });
  const asked = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  desktop.serve("client:tool_call", async () => {
    asked.resolve();
    await end.promise;
    return [{ content: [] }];
  });
  const slowAnswer = ada.request("client:tool_call", { ...CALL, computer: "desktop", req_id: "2" });
  await within(asked.promise, "the request to the slow one");
  laptop.serve("client:get_tools", () => [{ tools: [], req_id: "1" }]);
  await ada.request("client:get_tools", TOOLS);
  const [, listed] = await desk.json("members", "lab");
  assertEquals([listed.name, listed.answer_p50_ms], ["laptop", undefined]);
  laptop.serve("client:tool_call", () => [{ content: [] }]);
  await ada.request("client:tool_call", CALL);
  end.resolve();
  await slowAnswer;
  const [agent, fast, other] = await desk.json("members", "lab");
  assertEquals([agent.answer_p50_ms, fast.name, other.name], [undefined, "laptop", "desktop"]);
  assert(fast.answer_p50_ms >= 0 && fast.answer_p95_ms <= other.answer_p50_ms, JSON.stringify(other));
  assertStringIncludes((await desk.run("members", "lab")).stdout, "tool calls: p50 ");
});

test("events tells what a member sends when it has ended, and nothing of its content", async (desk) => {
  const url = await desk.serve();
  await using ada = await RawPeer.join(url, ADA);
  await using laptop = await RawPeer.join(url, LAPTOP);
  await using other = await RawPeer.join(url, { ...ADA, office_id: "other" });
  laptop.serve("client:get_tools", () => [{ tools: [], req_id: "1", note: "payload" }]);
  await using events = desk.start("events", "lab", "--json");
  const send = async () => {
    await ada.request("client:get_tools", { ...TOOLS, note: "payload" });
    await other.request("client:get_tools", TOOLS);
    return events.stdout.text;
  };
  await eventually(send, (text) => text.includes("\n"), "an event");
  const [event] = events.stdout.text.split("\n").map((line) => JSON.parse(line || "null"));
  const { event: name, from, to, outcome, code, office: _office } = event;
  assertEquals([name, from, to, outcome, code], ["client:get_tools", "ada", "laptop", "answered", null]);
  assert(event.ms > 0 && event.bytes > 20 && event.answer_bytes > 20);
  assertEquals([events.stdout.text.includes("payload"), events.stdout.text.includes("other")], [
    false,
    false,
  ]);
});

test("events tells refusals and failed calls with their code", async (desk) => {
  const url = await desk.serve();
  await using ada = await RawPeer.join(url, ADA);
  await using laptop = await RawPeer.join(url, LAPTOP);
  laptop.serve("client:tool_call", () => [{ content: [], isError: true, meta: { error_code: 4001 } }]);
  await using events = desk.start("events", "lab");
  const send = async () => {
    await ada.request("client:get_tools", { ...TOOLS, computer: "gone" });
    await ada.request("client:tool_call", CALL);
    return events.stdout.text;
  };
  const text = await eventually(send, (text) => text.includes("4001\n"), "both events");
  assertMatch(text, /client:get_tools {2}ada -> gone .* error 404/);
  assertMatch(text, /client:tool_call {2}ada -> laptop .* computer_error 4001/);
});

test("end closes a connection, and tells its client and the audit trail why", async (desk) => {
  const url = await desk.serve();
  await using ada = await RawPeer.join(url, ADA);
  const heard = ada.next("notify:connection_closing");
  assertEquals(await desk.json("end", "--member", ada.id, "--reason", "maintenance"), { ended: 1 });
  const { code, message, reconnect } = Object(await heard);
  assertEquals([code, message, reconnect], ["ended_by_operator", "maintenance", false]);
  await within(ada.disconnected, "the end of the connection");
  const lines = await desk.json("audit");
  const dismissed = lines.find(({ action }: { action: string }) => action === "dismiss");
  assertEquals([dismissed.reason, dismissed.name, dismissed.via], ["maintenance", "ada", "command"]);
  const again = await desk.run("end", "--member", ada.id, "--reason", "maintenance");
  assertEquals([again.code, again.stderr.includes("No connection")], [1, true]);
});

test("end closes all connections of a principal, which may return if the operator lets them", async (desk) => {
  const url = await desk.serve("--token", "s3cret", "--token", "0ther");
  await using one = await RawPeer.join(url, ADA, { auth: { token: "s3cret" } });
  await using two = await RawPeer.join(url, LAPTOP, { auth: { token: "s3cret" } });
  await using other = await RawPeer.join(url, { ...LAPTOP, name: "desk" }, { auth: { token: "0ther" } });
  const heard = one.next("notify:connection_closing");
  const args = ["end", "--principal", "token-1", "--reason", "new token", "--may-return"];
  assertEquals(await desk.json(...args), { ended: 2 });
  assertEquals(Object(await heard).reconnect, true);
  await within(Promise.all([one.disconnected, two.disconnected]), "the ends of the connections");
  assertEquals((await desk.json("members", "lab")).map(({ sid }: { sid: string }) => sid), [other.id]);
});

test("tokens tells names and limits, and no token", async (desk) => {
  const file = await Deno.makeTempFile();
  const lines = "s3cret name=ada offices=lab roles=agent expires=2999-01-01\n0ther\n";
  await Deno.writeTextFile(file, `${lines}ended name=bob expires=2020-01-01\n`);
  await desk.serve("--token-file", file);
  const { stdout } = await desk.run("tokens", "--json");
  assertEquals(stdout.includes("s3cret") || stdout.includes("0ther"), false);
  const [ada, other, bob] = JSON.parse(stdout);
  assertEquals([ada.expired, other.expired, bob.expired], [false, false, true]);
  assertMatch((await desk.run("tokens")).stdout, /ada.* until 2999-[^]*bob.* expired 2020-/);
  assertEquals([ada.name, ada.kind, ada.offices, ada.roles], ["ada", "member", ["lab"], ["agent"]]);
  assertStringIncludes(ada.expires, "2999-");
  assertEquals([other.offices, other.roles, other.expires], [null, null, null]);
  // A file that is not taken is a failure, so that a script that edits it learns of it; the tokens in use are listed.
  await Deno.writeTextFile(file, "s3cret name=ada offices=lab, den\n");
  const faulty = await eventually(
    () => desk.run("tokens", "--json"),
    ({ code }) => code !== 0,
    "the refusal of the changed file",
  );
  assertEquals([faulty.code, JSON.parse(faulty.stdout).length], [1, 3]);
  assertStringIncludes(JSON.parse(faulty.stderr).error.message, "line 1");
  await Deno.remove(file);
});

test("overview tells of a changed file that is not in use, until it is mended", async (desk) => {
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, "s3cret\n");
  await desk.serve("--token-file", file);
  const refused = async () => (await desk.json("overview")).refused_files;
  assertEquals(await refused(), []);
  await Deno.writeTextFile(file, "s3cret office=lab\n");
  const [problem] = await eventually(refused, ({ length }) => length > 0, "the refusal of the changed file");
  assertStringIncludes(problem, `"${file}": line 1`);
  assertMatch((await desk.run("overview")).stdout, /files +refused: Cannot read token file/);
  await Deno.writeTextFile(file, "n3w\n");
  await eventually(refused, ({ length }) => length === 0, "the new tokens");
  await Deno.remove(file);
});

test("drain ends the Server as SIGTERM does", async (desk) => {
  const url = await desk.serve();
  await using ada = await RawPeer.join(url, ADA);
  const heard = ada.next("notify:connection_closing");
  assertEquals(await desk.json("drain"), { draining: true });
  assertEquals(Object(await heard).code, "server_closing");
  assertEquals(await desk.ended(), 0);
});

test("a command chooses one of several Servers by its port, and says what runs", async (desk) => {
  const none = await desk.run("offices");
  assertEquals([none.code, none.stderr.includes("Cannot find a running Server")], [3, true]);
  const [first, second] = [await desk.serve(), await desk.serve()];
  await using _ada = await RawPeer.join(second, ADA);
  const unclear = await desk.run("offices");
  assertEquals(unclear.code, 2);
  for (const url of [first, second]) assertStringIncludes(unclear.stderr, new URL(url).port);
  assertEquals((await desk.json("offices", "--port", new URL(second).port)).length, 1);
  assertEquals(await desk.json("offices", "--port", new URL(first).port), []);
});
