import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { OfficeView } from "../../../../src/agent/toolkit/office_view.ts";
import { FakeTimers } from "../../../fixtures/fake_timers.ts";
import { FakeOffice } from "../../gateway/_fake_office.ts";

Deno.test("OfficeView asks again who is in the office when the Server did not answer", async () => {
  using timers = new FakeTimers();
  using view = new OfficeView();
  const office = new FakeOffice(["laptop"]);
  const answer = office.members;
  office.members = () => Promise.reject(new Error("no answer"));
  await view.follow(office);
  assertEquals(view.computers, []);
  office.members = answer;
  timers.advance(2_000);
  await setImmediate();
  assertEquals(view.computers.map(({ name }) => name), ["laptop"]);
});

Deno.test("OfficeView lists the tools of a Computer behind many that do not answer", async () => {
  using timers = new FakeTimers();
  using view = new OfficeView();
  const silent = Array.from({ length: 20 }, (_, index) => `a${String(index).padStart(2, "0")}`);
  const office = new FakeOffice([...silent, "laptop"]);
  const quick = office.computer("laptop");
  office.computer = (name) =>
    name === "laptop" ? quick : { ...quick, getTools: () => new Promise(() => undefined) } as typeof quick;
  void view.follow(office);
  const isListed = () => view.computers.find(({ name }) => name === "laptop")?.tools !== undefined;
  for (let round = 0; round < 2; round++) {
    await setImmediate();
    assertEquals(isListed(), false);
    timers.advance(2_000);
  }
  await setImmediate();
  assertEquals(isListed(), true);
});

Deno.test("OfficeView keeps Computers that leave while the Server ends the connection, until the Agent is back", async () => {
  using view = new OfficeView();
  const office = new FakeOffice(["laptop", "desk"]);
  await view.follow(office);
  // The Server has said farewell: all members are about to leave.
  office.isConnected = false;
  office.emit("leaveOffice", { role: "computer", name: "laptop" });
  assertEquals(view.computers.map(({ name }) => name), ["desk", "laptop"]);
  office.isConnected = true;
  office.members = () => Promise.resolve(["desk"]);
  office.emit("reconnected");
  await setImmediate();
  assertEquals(view.computers.map(({ name }) => name), ["desk"]);
});
