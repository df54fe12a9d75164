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
