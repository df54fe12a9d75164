import { assertEquals } from "@std/assert";
import { OfficeAgent } from "../../../../src/computer/office/office_agent.ts";
import { silentLogger } from "../../../../src/log.ts";
import { AGENT_RETURN_MS } from "../../../../src/protocol/call.ts";
import type { SessionInfo } from "../../../../src/protocol/office.ts";
import { FakeTimers } from "../../../fixtures/fake_timers.ts";

const ADA: SessionInfo = { sid: "1", name: "ada", role: "agent", office_id: "lab" };

/** An office that the Computer has joined, with what its parts are told. */
async function open() {
  const told: string[] = [];
  let members = [ADA];
  const agent = new OfficeAgent({ members: () => Promise.resolve(members), log: silentLogger });
  agent.follow({ endAgent: () => told.push("end"), giveUpAgent: () => told.push("give up") });
  const join = async (present: SessionInfo[]) => {
    members = present;
    agent.onJoined();
    await agent.known();
  };
  await join([ADA]);
  return { agent, told, join };
}

Deno.test("what an Agent has asked stays when the Computer comes back before it, and ends after a while", async () => {
  using clock = new FakeTimers();
  const { agent, told, join } = await open();
  agent.onLost();
  await join([]);
  clock.advance(AGENT_RETURN_MS - 1);
  assertEquals(told, []);
  clock.advance(1);
  assertEquals(told, ["end", "give up"]);
});

Deno.test("a second loss does not end what an Agent has that is there", async () => {
  using clock = new FakeTimers();
  const { agent, told, join } = await open();
  agent.onLost();
  await join([ADA]);
  clock.advance(AGENT_RETURN_MS - 1);
  agent.onLost();
  clock.advance(1);
  assertEquals(told, ["give up"]);
  agent.onLeft();
});
