import { assertEquals } from "@std/assert";
import type { ComputerEvent } from "../../src/computer/shared/computer_events.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { eventually } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";

const SERVERS = {
  servers: { shop: scripted({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }) },
};

/** An office whose Computer is followed. */
async function followed(
  work: (office: ComputerOffice, events: ComputerEvent[]) => Promise<void>,
): Promise<void> {
  await using office = await ComputerOffice.open(SERVERS);
  const events: ComputerEvent[] = [];
  using _following = office.computer.follow((event) => events.push(event));
  await work(office, events);
}

function untilTold(events: ComputerEvent[], isWanted: (event: ComputerEvent) => boolean, what: string) {
  return eventually(() => events.some(isWanted), (isThere) => isThere, what);
}

Deno.test("who follows a Computer hears of a call when it begins and when it has ended", async () => {
  await followed(async (office, events) => {
    await office.laptop.callTool("echo", { n: 1 }, { reqId: "r1" });
    const told = events.flatMap((event) => {
      if (event.type === "running") return [["running", event.call.id, event.call.reqId, event.call.tool]];
      if (event.type !== "ended") return [];
      return [[
        "ended",
        event.record.callId,
        event.record.reqId,
        event.record.arguments,
        event.record.outcome,
      ]];
    });
    assertEquals(told, [["running", "c1", "r1", "echo"], ["ended", "c1", "r1", '{"n":1}', "ok"]]);
    assertEquals(office.computer.calls.running, []);
  });
});

Deno.test("who follows a Computer hears of its servers, their logs, its views and its connection", async () => {
  await followed(async (office, events) => {
    await office.computer.stopServer("shop");
    const isStopped = (event: ComputerEvent) => event.type === "server" && event.status === "stopped";
    await untilTold(events, isStopped, "the stopped server");
    await untilTold(events, (event) => event.type === "view" && event.view === "tools", "other tools");
    await untilTold(events, (event) => event.type === "log" && event.server === "shop", "a line of the log");
    assertEquals(office.computer.connection?.agent, "ada");
    await office.agent.close();
    await untilTold(events, ({ type }) => type === "connection", "an office without its Agent");
    await eventually(() => office.computer.connection?.agent, (agent) => agent === undefined, "no Agent");
    events.length = 0;
    const { since } = office.computer.connection ?? {};
    office.cut();
    await untilTold(events, ({ type }) => type === "connection", "a lost connection");
    await eventually(
      () => office.computer.connection?.isConnected,
      (isBack) => isBack === true,
      "its return",
    );
    assertEquals((since ?? 0) < (office.computer.connection?.since ?? 0), true);
  });
});

Deno.test("a listener that throws skips no other, and one that was disposed of hears nothing", async () => {
  await followed((office, events) => {
    const gone = office.computer.follow(() => events.push({ type: "paused", isPaused: false }));
    gone[Symbol.dispose]();
    using _failing = office.computer.follow(() => {
      throw new Error("no");
    });
    const later: ComputerEvent[] = [];
    using _later = office.computer.follow((event) => later.push(event));
    office.computer.calls.pause();
    office.computer.calls.pause();
    assertEquals([events, later], [[{ type: "paused", isPaused: true }], [{
      type: "paused",
      isPaused: true,
    }]]);
    return Promise.resolve();
  });
});
