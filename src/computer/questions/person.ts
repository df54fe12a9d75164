/** Asks the person at the Computer: a bounded time, in which the time of the call stands still. */
import { abortable } from "../../async/abortable.ts";
import { MAX_TIMER_MS } from "../../async/backoff.ts";
import { Deadline } from "../../async/deadline.ts";
import type { ToolResultMeta } from "../../protocol/tools.ts";
import type { OfficeAgent } from "../office/office_agent.ts";
import type { RunningCall } from "../shared/running_call.ts";
import { type AgentChannel, type AgentQuestion, unansweredIn } from "./agent_channel.ts";

/**
 * How long somebody is asked before the Agent is told to wait, in milliseconds. A rule of the host program answers at
 * once: with a wait, the call would take two more requests, the last of which repeats it.
 */
const WAIT_AFTER_MS = 100;

export interface AskReason {
  readonly server: string;
  /** What the person is asked for: `a confirmation`, `an answer`. */
  readonly what: string;
  readonly meta?: ToolResultMeta;
}

/** What the callback of the host program is told beside the question. */
export interface AskedBy {
  /** The name of the office's Agent as the Server states it; `undefined` for a call by this Computer's own program. */
  readonly agent: string | undefined;
  readonly timeLeftMs: number;
  /** Aborted when the call ends or nobody waits for an answer any more. */
  readonly signal: AbortSignal;
}

export interface PersonContext {
  readonly agent: Pick<OfficeAgent, "known">;
  /** The way to the Agent, which may have to wait meanwhile. */
  readonly channel: AgentChannel;
}

export class PersonAtComputer {
  /** How many questions of MCP servers are put to the person now. */
  openQuestions = 0;
  readonly #context: PersonContext;

  constructor(context: PersonContext) {
    this.#context = context;
  }

  /**
   * Lets `put` ask the person while the call's time stands still, if the Agent can wait.
   *
   * @param options `signal`: ends the question
   * @throws {NobodyAnswered} when the person's time is over. The signal's reason, and that of `put`.
   */
  async ask<T>(
    call: RunningCall,
    { signal: ended, ...reason }: AskReason & { readonly signal: AbortSignal },
    put: (by: () => AskedBy) => Promise<T>,
  ): Promise<T> {
    const { agent, channel } = this.#context;
    using pause = pauseFor(call, channel, reason);
    const { isPaused, timeoutMs } = pause;
    using deadline = new Deadline(timeoutMs, { reason: () => new NobodyAnswered(timeoutMs), signal: ended });
    const { signal } = deadline;
    const name = call.isLocal ? undefined : await abortable(agent.known(), signal);
    const by = () => ({ agent: name, timeLeftMs: isPaused ? timeoutMs : call.clock.leftMs, signal });
    return await abortable(put(by), signal);
  }
}

/** The time for one person. Dispose of it when they have answered: the call then goes on. */
interface Pause extends Disposable {
  readonly isPaused: boolean;
  /** How long they may take, in milliseconds. While the call's own time runs on, that ends first. */
  readonly timeoutMs: number;
}

function pauseFor(call: RunningCall, channel: AgentChannel, { server, what, meta }: AskReason): Pause {
  const { timeoutMs } = channel;
  if (call.isLocal) {
    call.clock.pause();
    return { isPaused: true, timeoutMs, [Symbol.dispose]: () => call.clock.resume() };
  }
  if (!channel.takes("wait")) return { isPaused: false, timeoutMs: MAX_TIMER_MS, [Symbol.dispose]() {} };
  const question: AgentQuestion = {
    mode: "wait",
    server,
    message: `The person at the Computer is asked for ${what}`,
    members: {},
    sentence:
      `Tool "${call.request.tool_name}" has not finished: the person at the Computer is asked for ${what}`,
    ...(meta === undefined ? {} : { meta }),
  };
  let waiting: Disposable | undefined;
  const timer = setTimeout(() => {
    // The Agent may have gone meanwhile.
    if (channel.takes("wait")) waiting = channel.wait(call, question);
  }, WAIT_AFTER_MS);
  return {
    isPaused: true,
    timeoutMs,
    [Symbol.dispose]() {
      clearTimeout(timer);
      waiting?.[Symbol.dispose]();
    },
  };
}

/** The person did not answer in time. The message is the end of a sentence for the model. */
export class NobodyAnswered extends Error {
  override readonly name = "NobodyAnswered";

  constructor(timeoutMs: number) {
    super(unansweredIn(timeoutMs));
  }
}
