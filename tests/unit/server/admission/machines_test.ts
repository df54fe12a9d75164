import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { dirname } from "@std/path";
import { FileContentError } from "../../../../src/files/watched_files.ts";
import { readMachineList } from "../../../../src/server/admission/machine_list.ts";
import { Machines } from "../../../../src/server/admission/machines.ts";
import { JoiningServer, TestMachine } from "../../../fixtures/joining_server.ts";
import { isWindows } from "../../../fixtures/system.ts";
import { eventually, within } from "../../../fixtures/within.ts";
import { RawPeer } from "../../../integration/_socket.ts";

const DAY_MS = 86_400_000;
const seat = { role: "computer", name: "laptop", office_id: "lab" } as const;

async function decide(server: JoiningServer, machine: TestMachine) {
  return await server.machines.authenticate({ auth: await machine.auth(server) });
}

Deno.test("a connection needs a new proof each day, and a machine that was away for 30 days a new join", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const id = await server.approve(machine);
  const decision = await decide(server, machine);
  assert("principal" in decision);
  assertEquals(decision.principal, `machine:${id}`);
  assertEquals(Math.round(((decision.expiresAtMs ?? 0) - Date.now()) / DAY_MS), 1);
  for (const days of [29, 58]) {
    server.aheadMs = days * DAY_MS;
    assert("principal" in await decide(server, machine));
  }
  server.aheadMs = 89 * DAY_MS;
  const late = await decide(server, machine);
  assertStringIncludes("refused" in late ? late.refused : "", "away for more than 30 days");
  await server.approve(machine);
  assert("principal" in await decide(server, machine));
});

Deno.test("the log has the id that an unknown machine claims, if it has the form of one", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const decisions = [];
  for (const id of [machine.id, "x".repeat(5_000), `${machine.id}\n`]) {
    const { log } = {
      log: undefined,
      ...await server.machines.authenticate({ auth: await machine.auth(server, id) }),
    };
    decisions.push(log);
  }
  assertEquals(decisions, [{ machine: machine.id }, undefined, undefined]);
});

Deno.test("an open connection is renewed by a new proof, and not by the old one", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  await server.approve(machine);
  const auth = await machine.auth(server);
  const connect = () => RawPeer.join(server.url, seat, { auth });
  await using peer = await connect();
  const renewed = await peer.request("server:renew_credentials", { auth: await machine.auth(server) });
  assertEquals(renewed, [true, null]);
  const refused = await connect().then(() => "", String);
  assertStringIncludes(refused, "used before");
});

Deno.test("machines outlive the Server, with the times when they were seen, in a file for its owner alone", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const id = await server.approve(machine);
  const lastRead = new Date(Date.now() + 30_000);
  for (const principal of [`machine:${id}`, "machine:other"]) {
    server.machines.noteSeen([{ principal, lastRead }]);
  }
  await server.machines.close();
  await using again = await Machines.open(server.file, { logger: server.log });
  assertEquals(again.list(), server.machines.list());
  assert((again.find(id)?.lastSeen ?? 0) > Date.now() + 20_000);
  if (!isWindows) assertEquals((Deno.statSync(server.file).mode ?? 0) & 0o777, 0o600);
});

Deno.test("of two Servers on one file, the second is refused; it may start when the first one has ended", async () => {
  await using server = await JoiningServer.open();
  const open = () => Machines.open(server.file, { logger: server.log });
  await assertRejects(open, FileContentError, "another Server uses it");
  await server.machines.close();
  await using _second = await open();
});

Deno.test({
  name: "a file that every user can change or replace admits no machine until that is over",
  ignore: isWindows,
  async fn() {
    await using server = await JoiningServer.open();
    const machine = await TestMachine.make();
    await server.approve(machine);
    for (const place of [server.file, dirname(server.file)]) {
      const { mode } = Deno.statSync(place);
      Deno.chmodSync(place, (mode ?? 0) | 0o002);
      await assertRejects(() => server.approve(machine), Error, `run: chmod o-w ${place}`);
      Deno.chmodSync(place, mode ?? 0);
      await server.approve(machine);
    }
    await server.machines.close();
    Deno.chmodSync(server.file, 0o666);
    await using again = await Machines.open(server.file, { logger: server.log, checkIntervalMs: 10 });
    assertEquals(again.list(), []);
    assertStringIncludes(again.problem ?? "", "every user can change it");
    Deno.chmodSync(server.file, 0o600);
    await eventually(() => again.list().length, (count) => count === 1, "the machine of the mended file");
  },
});

Deno.test("when a machine was seen last does not go back to what its file says", async () => {
  await using server = await JoiningServer.open();
  const id = await server.approve(await TestMachine.make());
  const text = await Deno.readTextFile(server.file);
  const lastRead = new Date(Date.now() + 30_000);
  server.machines.noteSeen([{ principal: `machine:${id}`, lastRead }]);
  server.machines.noteSeen([{ principal: `machine:${id}`, lastRead: new Date() }]);
  await Deno.writeTextFile(server.file, text.replace("laptop", "desk"));
  const read = () => server.machines.find(id);
  const machine = await eventually(read, (found) => found?.name === "desk", "the changed file");
  assertEquals(machine?.lastSeen, lastRead.getTime());
});

Deno.test("a machine is out when it is revoked, also while the file of machines is damaged", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const id = await server.approve(machine);
  await using peer = await RawPeer.join(server.url, seat, { auth: await machine.auth(server) });
  await Deno.writeTextFile(server.file, "{");
  await assertRejects(() => server.machines.revoke(id), Error, "revoke it again");
  await within(peer.disconnected, "the end of the connection");
  await assertRejects(async () => await RawPeer.connect(server.url, { auth: await machine.auth(server) }));
  assertEquals(await Deno.readTextFile(server.file), "{");
});

Deno.test("a machine whose revocation could not be written stays out when the file is read again, until it joins anew", async () => {
  await using server = await JoiningServer.open();
  const [machine, other] = [await TestMachine.make(), await TestMachine.make()];
  const id = await server.approve(machine);
  const otherId = await server.approve(other, { name: "desk" });
  const before = await Deno.readTextFile(server.file);
  await Deno.writeTextFile(server.file, "{");
  await assertRejects(() => server.machines.revoke(id), Error, "out while this Server runs");
  const isOut = async () => "refused" in await decide(server, machine);
  assertEquals(await isOut(), true);
  assertEquals(server.machines.unwritten.map((each) => each.id), [id]);
  await Deno.writeTextFile(server.file, before);
  // It reads the file, and does what could not be done.
  await server.machines.change(otherId, { name: "shelf" });
  assertEquals(await isOut(), true);
  assertEquals(readMachineList(await Deno.readTextFile(server.file)).map((each) => each.id), [otherId]);
  assertEquals(server.machines.unwritten, []);
  await server.approve(machine);
  assertEquals(await isOut(), false);
});

Deno.test("a machine whose revocation could not be written may be approved again", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const id = await server.approve(machine);
  const before = await Deno.readTextFile(server.file);
  await Deno.writeTextFile(server.file, "{");
  await assertRejects(() => server.machines.revoke(id), Error, "revoke it again");
  await Deno.writeTextFile(server.file, before);
  await server.approve(machine);
  assertEquals("refused" in await decide(server, machine), false);
});

Deno.test("a file of machines of a newer version is named as such", () => {
  assertThrows(() => readMachineList('{"version":2,"machines":[]}'), Error, "it is of version 2");
});

Deno.test("a renamed machine may have its old name as well, until the next rename", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const id = await server.approve(machine);
  const names = async () => {
    const decision = await decide(server, machine);
    return "grant" in decision ? decision.grant?.names : decision;
  };
  assertEquals(await names(), ["laptop"]);
  await server.machines.change(id, { name: "desk" });
  assertEquals(await names(), ["desk", "laptop"]);
  await server.approve(await TestMachine.make(), { offices: ["den"] });
  const wider = () => server.machines.change(id, { offices: ["lab", "den"] });
  const refusal = await assertRejects(wider, Error, 'Cannot use the name "laptop"');
  assertStringIncludes(refusal.message, 'rename it to "desk" once more');
  await server.machines.change(id, { name: "desk" });
  assertEquals(await names(), ["desk"]);
  await wider();
  await server.machines.change(id, { name: "shelf" });
  assertEquals(await names(), ["shelf", "desk"]);
  const other = server.approve(await TestMachine.make(), { name: "desk" });
  await assertRejects(() => other, Error, "has kept it from before it was renamed");
});

Deno.test("a machine that is limited has to come back, and joins the office that is left", async () => {
  await using server = await JoiningServer.open();
  const machine = await TestMachine.make();
  const id = await server.approve(machine, { offices: ["lab", "den"] });
  await using peer = await RawPeer.join(server.url, seat, { auth: await machine.auth(server) });
  const told = peer.next("notify:connection_closing");
  await server.machines.change(id, { offices: ["den"] });
  assertEquals(Object(await told).code, "credentials_changed");
  await within(peer.disconnected, "the end of the connection");
  const again = async (office_id: string) =>
    await RawPeer.join(server.url, { ...seat, office_id }, { auth: await machine.auth(server) });
  assertStringIncludes(await again("lab").then(() => "", String), 'in office "lab"');
  await using _den = await again("den");
});
