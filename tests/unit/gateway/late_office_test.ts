import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import type { RemoteComputer } from "../../../src/agent/remote_computer.ts";
import type { Office } from "../../../src/agent/toolkit/office.ts";
import { GatewayCore } from "../../../src/gateway/gateway_core.ts";
import type { SMCPTool } from "../../../src/protocol/tools.ts";
import { KeptInMemory } from "../../fixtures/kept_by_gateway.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";
import { FakeOffice } from "./_fake_office.ts";

const TOOL: SMCPTool = {
  name: "search",
  description: "",
  params_schema: {},
  return_schema: null,
  meta: null,
};

/** Two Computers with the same tool, of which the second lists it when it is told to. */
class SlowOffice extends FakeOffice {
  readonly slow = Promise.withResolvers<SMCPTool[]>();

  override computer(name: string): RemoteComputer {
    const getTools = () => name === "slow" ? this.slow.promise : Promise.resolve([TOOL]);
    return { ...super.computer(name), name, getTools } as RemoteComputer;
  }
}

Deno.test("tools of an office that is reached late are named together, whoever answers first", async () => {
  using timers = new FakeTimers();
  const office = new SlowOffice(["quick", "slow"]);
  const agent = Promise.withResolvers<Office>();
  const memory = new KeptInMemory();
  await using gateway = new GatewayCore(agent.promise, { memory });
  let told = 0;
  gateway.onChange((change) => change.kind === "list" && change.list === "tools" && told++);
  timers.advance(3_000);
  await setImmediate();
  agent.resolve(office);
  await setImmediate();
  const before = told;
  office.slow.resolve([TOOL]);
  await setImmediate();
  assertEquals(memory.kept.names.map(({ name }) => name).sort(), ["quick__search", "slow__search"]);
  assertEquals(told > before, true);
});

Deno.test("a Computer that does not list its tools delays the names of others by the patience alone", async () => {
  using timers = new FakeTimers();
  const office = new SlowOffice(["quick", "slow"]);
  const agent = Promise.withResolvers<Office>();
  const memory = new KeptInMemory();
  await using _gateway = new GatewayCore(agent.promise, { memory });
  timers.advance(3_000);
  await setImmediate();
  agent.resolve(office);
  await setImmediate();
  assertEquals(memory.kept.names, []);
  timers.advance(3_000);
  await setImmediate();
  assertEquals(memory.kept.names.map(({ name }) => name), ["search"]);
});

Deno.test("clients are told of all lists when the office is back: what changed meanwhile was missed", async () => {
  using _timers = new FakeTimers();
  const office = new FakeOffice(["laptop"]);
  await using gateway = new GatewayCore(office, {});
  await setImmediate();
  const told = new Set<string>();
  gateway.onChange((change) => change.kind === "list" && told.add(change.list));
  office.emit("reconnected");
  await setImmediate();
  assertEquals([...told].sort(), ["prompts", "resources", "tools"]);
});
