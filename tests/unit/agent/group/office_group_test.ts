import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { OfficeGroup } from "../../../../src/agent/group/office_group.ts";
import { OfficeView } from "../../../../src/agent/toolkit/office_view.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { LogBook } from "../../../fixtures/log_book.ts";
import { FakeTimers } from "../../../fixtures/fake_timers.ts";
import { FakeOffice } from "../../gateway/_fake_office.ts";

/** Two offices, each with these Computers. */
function openTwo(computers: readonly string[] = ["laptop"]) {
  const [lab, shop] = [new FakeOffice(computers), new FakeOffice(computers)];
  const group = new OfficeGroup([{ label: "lab", agent: lab }, { label: "shop", agent: shop }]);
  return { lab, shop, group };
}

async function namesIn(group: OfficeGroup): Promise<string[]> {
  return (await group.listOffice()).map(({ name }) => name);
}

Deno.test("a group needs an office, and a label for each of two with the same name", () => {
  const office = new FakeOffice([]);
  assertThrows(() => new OfficeGroup([]), TypeError, "there is none");
  const twice = [{ label: "lab", agent: office }, { label: "lab", agent: office }];
  assertThrows(() => new OfficeGroup(twice), TypeError, "label");
});

Deno.test("a group asks the office of a Computer, by the Computer's name in it", async () => {
  const { lab, shop, group } = openTwo();
  const asked: string[] = [];
  for (const [label, office] of [["lab", lab], ["shop", shop]] as const) {
    const quick = office.computer.bind(office);
    office.computer = (name, options) => {
      asked.push(`${label} ${name} as ${options?.as}`);
      return quick(name);
    };
  }
  assertEquals(await namesIn(group), ["laptop@lab", "laptop@shop"]);
  group.computer("laptop@shop");
  assertEquals(asked, ["shop laptop as laptop@shop"]);
  assertEquals(group.officeOf("laptop@shop"), "shop");
  assertThrows(() => group.computer("laptop"), SmcpError, "no office of the group has it");
});

Deno.test("events of a group name the Computer as the group does", async () => {
  const { shop, group } = openTwo();
  await group.listOffice();
  const heard: string[] = [];
  using _tools = group.on("updateToolList", ({ computer }) => void heard.push(computer));
  using _entering = group.on("enterOffice", ({ name, office }) => void heard.push(`${name} into ${office}`));
  shop.emit("updateToolList", { computer: "laptop" });
  shop.emit("enterOffice", { role: "computer", name: "till", office: "shop" });
  assertEquals(heard, ["laptop@shop", "till into shop"]);
});

Deno.test("an office that is lost leaves the Computers of the others reachable, and is told", async () => {
  const { lab, shop, group } = openTwo(["laptop"]);
  using view = new OfficeView();
  await view.follow(group);
  shop.isConnected = false;
  shop.emit("leaveOffice", { role: "computer", name: "laptop" });
  shop.emit("disconnected", { reason: "gone" });
  assertEquals(view.problem, undefined);
  assertEquals(view.isReachable("laptop@lab"), true);
  assertEquals(view.isReachable("laptop@shop"), false);
  assertMatch(view.problemOf("laptop@shop") ?? "", /office "shop" cannot be reached/);
  assertMatch(view.officeProblems.join(), /^office "shop": the connection/);
  lab.isConnected = false;
  lab.emit("disconnected", { reason: "gone" });
  assertMatch(view.problem ?? "", /office "lab": .*; office "shop": /);
  shop.isConnected = true;
  shop.emit("reconnected");
  await setImmediate();
  assertEquals(view.isReachable("laptop@shop"), true);
  assertEquals(view.computers.map(({ name }) => name), ["laptop@lab", "laptop@shop"]);
});

Deno.test("an office that joins later brings its Computers, and takes no name", async () => {
  const lab = new FakeOffice(["laptop"]);
  const shop = Promise.withResolvers<FakeOffice>();
  let problem: string | undefined = "another Agent has the seat";
  const group = new OfficeGroup([
    { label: "lab", agent: lab },
    { label: "shop", agent: shop.promise, problem: () => problem, tried: Promise.resolve() },
  ]);
  using view = new OfficeView();
  await view.follow(group);
  assertEquals(view.computers.map(({ name }) => name), ["laptop"]);
  assertMatch(view.officeProblems.join(), /another Agent has the seat/);
  const late = new FakeOffice(["laptop", "till"]);
  problem = undefined;
  shop.resolve(late);
  await setImmediate();
  assertEquals(view.computers.map(({ name }) => name), ["laptop", "laptop@shop", "till"]);
  assertEquals(view.officeProblems, []);
  late.emit("updateToolList", { computer: "laptop" });
});

Deno.test("an office that does not list its members in time delays nobody, and is told later", async () => {
  using timers = new FakeTimers();
  const { shop, group } = openTwo();
  using view = new OfficeView();
  const late = Promise.withResolvers<readonly string[]>();
  shop.members = () => late.promise;
  const following = view.follow(group);
  await setImmediate();
  timers.advance(2_000);
  await following;
  assertEquals(view.computers.map(({ name }) => name), ["laptop"]);
  late.resolve(["laptop"]);
  await setImmediate();
  assertEquals(view.computers.map(({ name }) => name), ["laptop", "laptop@shop"]);
});

Deno.test("the first list of a group waits as long as it is told to, for an office to be joined and listed", async () => {
  using timers = new FakeTimers();
  const [lab, shop] = [new FakeOffice(["laptop"]), new FakeOffice(["laptop"])];
  const joined = Promise.withResolvers<FakeOffice>();
  const listed = Promise.withResolvers<readonly string[]>();
  shop.members = () => listed.promise;
  const offices = [{ label: "lab", agent: lab }, { label: "shop", agent: joined.promise }];
  const group = new OfficeGroup(offices, { patienceMs: 100_000 });
  const listing = namesIn(group);
  await setImmediate();
  timers.advance(50_000);
  joined.resolve(shop);
  await setImmediate();
  timers.advance(49_000);
  await setImmediate();
  listed.resolve(["laptop"]);
  assertEquals(await listing, ["laptop@lab", "laptop@shop"]);
});

Deno.test("an office that fails to list its members is asked again", async () => {
  using timers = new FakeTimers();
  const { shop, group } = openTwo();
  using view = new OfficeView();
  const answer = shop.members;
  shop.members = () => Promise.reject(new Error("no answer"));
  await view.follow(group);
  shop.members = answer;
  assertEquals(view.computers.map(({ name }) => name), ["laptop"]);
  timers.advance(2_000);
  await setImmediate();
  assertEquals(view.computers.map(({ name }) => name), ["laptop", "laptop@shop"]);
});

Deno.test("an office that cannot be joined at all is told, and the group ends with the last one", async () => {
  const lab = new FakeOffice(["laptop"]);
  const refused = Promise.reject(new Error("wrong token"));
  const group = new OfficeGroup([{ label: "lab", agent: lab }, { label: "shop", agent: refused }]);
  const errors: string[] = [];
  using _ = group.on("failed", ({ error }) => void errors.push(error.message));
  assertEquals(await namesIn(group), ["laptop"]);
  assertEquals(group.offices.map(({ problem }) => problem), [undefined, "wrong token"]);
  assertEquals(group.ended.aborted, false);
  lab.emit("failed", { error: new Error("over") });
  assertEquals(errors, ["over"]);
  assertEquals(group.ended.aborted, true);
  assertEquals(await namesIn(group), []);
});

Deno.test("the list of a group is given up with its signal", async () => {
  const { shop, group } = openTwo();
  shop.members = () => new Promise(() => undefined);
  const signal = AbortSignal.timeout(5);
  await assertRejects(() => group.listOffice({ signal }), DOMException);
});

Deno.test("a group that is closed hears nothing more", async () => {
  const { shop, group } = openTwo();
  await group.listOffice();
  const heard: string[] = [];
  using _ = group.on("enterOffice", ({ name }) => void heard.push(name));
  await group.close();
  shop.emit("enterOffice", { role: "computer", name: "till", office: "shop" });
  assertEquals(heard, []);
});

Deno.test("an office that its program has given up is no error in the log; one that fails is", async () => {
  const logger = new LogBook();
  const ending = new AbortController();
  const join = (label: string) => ({
    label,
    agent: Promise.withResolvers<FakeOffice>(),
    signal: ending.signal,
  });
  const [lab, shop] = [join("lab"), join("shop")];
  const offices = [lab, shop].map(({ agent, ...office }) => ({ ...office, agent: agent.promise }));
  await using _group = new OfficeGroup(offices, { logger });
  lab.agent.reject(new Error("refused"));
  await setImmediate();
  ending.abort();
  shop.agent.reject(ending.signal.reason);
  await setImmediate();
  assertEquals(logger.lines.map(({ level, fields: { office } }) => [level, office]), [["error", "lab"]]);
});
