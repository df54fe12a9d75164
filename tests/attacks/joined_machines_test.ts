/** Attacker: a stranger, or a machine that has joined by code, who wants the place of another machine */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { JoiningServer, TestMachine } from "../fixtures/joining_server.ts";
import { eventually, within } from "../fixtures/within.ts";
import { RawPeer } from "../integration/_socket.ts";

const seat = { role: "computer", name: "laptop", office_id: "lab" } as const;

/** Why the Server refuses a connection. */
async function refusalOf(url: string, auth: Readonly<Record<string, unknown>>): Promise<string> {
  return await RawPeer.connect(url, { auth }).then(
    async (peer) => {
      await peer[Symbol.asyncDispose]();
      return "admitted";
    },
    (error) => error.message,
  );
}

Deno.test("an id and a proof that were stolen are of no use without the key", async () => {
  await using server = await JoiningServer.open();
  const [machine, thief] = [await TestMachine.make(), await TestMachine.make()];
  const id = await server.approve(machine);
  await server.approve(thief, { name: "other" });
  const used = await machine.auth(server);
  assertEquals(await refusalOf(server.url, used), "admitted");
  assertStringIncludes(await refusalOf(server.url, used), "used before");
  assertStringIncludes(await refusalOf(server.url, { machine: id }), "no token");
  assertStringIncludes(await refusalOf(server.url, { token: used.proof }), "wrong token");
  assertStringIncludes(await refusalOf(server.url, await thief.auth(server, id)), "not of its key");
  assertEquals((await thief.askState(server, id)).status, 401);
  // Nobody learns which ids there are.
  const stranger = await TestMachine.make();
  const [unknown, known] = [await stranger.auth(server), await stranger.auth(server, id)];
  assertEquals(await refusalOf(server.url, unknown), await refusalOf(server.url, known));
});

Deno.test("a proof counts now, for this Server and for what it was made for", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const id = await server.approve(machine);
  const refused = async (
    subject: string,
    target: { readonly audience?: string; readonly nowMs?: number },
  ) => {
    const proof = await machine.prove(subject, { audience: server.url, ...target });
    return await refusalOf(server.url, { proof });
  };
  assertStringIncludes(await refused(id, { audience: "https://evil.example" }), "another Server");
  assertStringIncludes(await refused(id, { nowMs: Date.now() - 120_000 }), "clock");
  assertStringIncludes(await refused(id, { nowMs: Date.now() + 120_000 }), "clock");
  assertStringIncludes(await refused("the handle of a join", {}), "not of its key");
  const unsigned = `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ sub: id }))}.`.replaceAll("=", "");
  for (const proof of [unsigned, "", "x".repeat(10_000), { sub: id }, null]) {
    assertStringIncludes(await refusalOf(server.url, { proof }), "not of its key");
  }
});

Deno.test("a machine gets neither the id nor the name of another one", async () => {
  await using server = await JoiningServer.open();
  const [victim, liar] = [await TestMachine.make(), await TestMachine.make()];
  await server.approve(victim);
  await server.approve(liar, { name: "liar" });
  // Names that look alike count as the same.
  for (const name of ["laptop", "Iaptop", "machine:x"]) {
    const error = await assertRejects(() => server.approve(liar, { name, offices: ["den", "lab"] }));
    assertMatch(String(error), /choose another/);
  }
  const auth = await liar.auth(server);
  await assertRejects(() => RawPeer.join(server.url, seat, { auth }), TypeError, '"liar"');
  // Another machine's public key proves nothing without its private one.
  const forged = { ...await liar.asking(server.url), key: victim.publicKey };
  assertEquals((await server.post("/machines/join", forged)).status, 401);
});

Deno.test("a code is told to nobody, is good once, and a guess at it tells nothing", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const { body: { code, handle } } = await machine.join(server);
  const [good, bad] = await Promise.all([code, "AAAA-AAAA"].map(async (each) => {
    const answer = await fetch(`${server.url}/machines/join?code=${each}`);
    return (await answer.text()).replaceAll(each, "CODE");
  }));
  assertEquals(good, bad);
  const hostile = await fetch(`${server.url}/machines/join?code=${encodeURIComponent("<script>x")}`);
  assert(!(await hostile.text()).includes("script"));
  // Whoever has read the code over somebody's shoulder gets no credential by it.
  const thief = await TestMachine.make();
  assertEquals((await thief.askState(server, code)).status, 401);
  assertEquals((await thief.askState(server, handle)).status, 401);
  const waiting = server.joins.findByCode(code.toLowerCase());
  assert(waiting !== undefined);
  assertEquals((await machine.askState(server, handle)).body.pending, true);
  assertEquals(await server.approve(machine), waiting.id);
  server.joins.endCode(waiting);
  assertEquals(server.joins.findByCode(code), undefined);
  assertEquals((await machine.askState(server, handle)).status, 200);
  server.aheadMs = 11 * 60_000;
  assertEquals((await machine.askState(server, handle)).status, 401);
});

Deno.test("a request to join cannot be replayed, and is not for another Server", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const asking = await machine.asking(server.url);
  assertEquals((await server.post("/machines/join", asking)).status, 200);
  assertEquals((await server.post("/machines/join", asking)).status, 401);
  // A Server in the middle, which passes on what it was sent.
  const elsewhere = await machine.asking("https://evil.example");
  const passed = await server.post("/machines/join", elsewhere);
  assertEquals(passed.status, 400);
  assertStringIncludes(passed.body.error, "evil.example");
  const renamed = await machine.asking(server.url, { audience: "https://evil.example" });
  assertEquals((await server.post("/machines/join", renamed)).status, 401);
});

Deno.test("a web page cannot ask to join", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const origin = { origin: "http://localhost:8000" };
  assertEquals((await machine.join(server, {}, origin)).status, 403);
  assertEquals((await machine.join(server, {}, { "sec-fetch-site": "cross-site" })).status, 403);
});

Deno.test("a revoked machine is out, and stays out", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const id = await server.approve(machine);
  await using peer = await RawPeer.join(server.url, seat, { auth: await machine.auth(server) });
  const told = peer.next("notify:connection_closing");
  await server.machines.revoke(id);
  assertEquals(Object(await told).code, "credentials_revoked");
  await within(peer.disconnected, "the end of the connection");
  assertStringIncludes(
    await refusalOf(server.url, await machine.auth(server)),
    "join again with `a2c-smcp computer join",
  );
  assertEquals((await machine.askState(server, id)).status, 401);
});

Deno.test("a file of machines that is damaged admits no machine, is not overwritten, and can be mended", async () => {
  await using donor = await JoiningServer.open();
  const machine = await TestMachine.make();
  await donor.approve(machine);
  const good = await Deno.readTextFile(donor.file);
  const twice = JSON.stringify({ version: 1, machines: Array(2).fill(JSON.parse(good).machines[0]) });
  for (const text of ["", good.slice(0, good.length / 2), good.replace('"P-256"', '"P-384"'), twice]) {
    await using server = await JoiningServer.open({}, text);
    assertMatch(server.machines.problem ?? "", /machines\.json/);
    await server.log.until(({ level }) => level === "error");
    assertStringIncludes(await refusalOf(server.url, await machine.auth(server)), "try again later");
    await using _member = await RawPeer.connect(server.url, { auth: { token: "s3cret" } });
    await assertRejects(() => server.approve(machine), Error, "Cannot change the machines");
    const asked = await (await TestMachine.make()).join(server);
    assertEquals([asked.status, asked.body.error.includes("machines.json")], [503, false]);
    assertEquals(await Deno.readTextFile(server.file), text);
    await Deno.writeTextFile(server.file, good.replaceAll(donor.url, server.url));
    await eventually(() => server.machines.problem, (problem) => problem === undefined, "the mended file");
    assertEquals(await refusalOf(server.url, await machine.auth(server)), "admitted");
  }
});

Deno.test("a flood of joins is refused, fills no memory, and keeps nobody else from joining", async () => {
  await using server = await JoiningServer.open();
  const flood = { "x-forwarded-for": "203.0.113.7" };
  const statuses: number[] = [];
  for (let index = 0; index < 15; index++) {
    statuses.push((await (await TestMachine.make()).join(server, {}, flood)).status);
  }
  assertEquals(statuses.filter((status) => status === 200).length, 10);
  assertEquals(new Set(statuses.slice(10)), new Set([429]));
  assertEquals(server.joins.waiting.length, 10);
  assertEquals((await server.post("/machines/join", "x".repeat(10_000))).status, 413);
  assertEquals((await server.post("/machines/join", "[[[[")).status, 400);
  const other = await (await TestMachine.make()).join(server, {}, { "x-forwarded-for": "198.51.100.1" });
  assertEquals(other.status, 200);
});

Deno.test("a machine that sends proof after proof uses up its own place alone", async () => {
  await using server = await JoiningServer.open();
  const [greedy, other] = [await TestMachine.make(), await TestMachine.make()];
  await server.approve(greedy);
  await server.approve(other, { name: "other" });
  const decide = async (machine: TestMachine) =>
    "principal" in await server.machines.authenticate({ auth: await machine.auth(server) });
  const decisions: boolean[] = [];
  for (let index = 0; index < 301; index++) decisions.push(await decide(greedy));
  assertEquals(decisions.indexOf(false), 300);
  assert(await decide(other));
});
