import { assertEquals } from "@std/assert";
import { ComputerFacts } from "../../../src/agent/computer_facts.ts";
import { Listeners } from "../../../src/agent/listeners.ts";
import { silentLogger } from "../../../src/log.ts";
import { RequestTimeoutError } from "../../../src/link/errors.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";
import { within } from "../../fixtures/within.ts";

/** What an Agent knows of Computers, and a Computer whose answers to `client:open_input` a test gives. */
function setUp() {
  const answers: PromiseWithResolvers<unknown>[] = [];
  const laptop = {
    computer: "laptop",
    ask<T>(): Promise<T> {
      const answer = Promise.withResolvers<unknown>();
      answers.push(answer);
      return answer.promise as Promise<T>;
    },
  };
  return { facts: new ComputerFacts(new Listeners(silentLogger)), answers, laptop };
}

/** Lets what waits for promises run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

// proves: question-unknown
Deno.test("a Computer that does not answer holds up one call for five seconds, and no further one", async () => {
  const { facts, answers, laptop } = setUp();
  {
    using timers = new FakeTimers();
    const opening = facts.openChannel(laptop);
    let isOver = false;
    opening.then(() => isOver = true);
    timers.advance(4_999);
    await settle();
    assertEquals(isOver, false);
    timers.advance(1);
    assertEquals(await opening, false);
    assertEquals(timers.waiting, 0);
  }
  assertEquals(await within(facts.openChannel(laptop), "the answer of before"), false);
  answers[0]?.reject(new RequestTimeoutError("No answer"));
  await settle();
  assertEquals([await facts.openChannel(laptop), answers.length, facts.of("laptop").isChannelOpen], [
    false,
    1,
    undefined,
  ]);
});

Deno.test("an answer that comes later than a call waits for it opens the channel", async () => {
  const { facts, answers, laptop } = setUp();
  using timers = new FakeTimers();
  const opening = facts.openChannel(laptop);
  timers.advance(5_000);
  assertEquals(await opening, false);
  answers[0]?.resolve({ modes: ["form"] });
  await settle();
  assertEquals(facts.of("laptop").isChannelOpen, true);
});
