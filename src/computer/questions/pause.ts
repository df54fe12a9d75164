/** The time of a call while the person at the Computer is asked. */
import { MAX_TIMER_MS } from "../../async/backoff.ts";
import type { ToolResultMeta } from "../../protocol/tools.ts";
import type { RunningCall } from "../tools/running_call.ts";
import type { AgentChannel, AgentQuestion } from "./agent_channel.ts";

/**
 * How long somebody is asked before the Agent is told to wait, in milliseconds. A rule of the host program answers at
 * once: with a wait, the call would take two more requests, the last of which repeats it.
 */
const WAIT_AFTER_MS = 100;

export interface WaitReason {
  readonly server: string;
  /** What the person is asked for: `a confirmation`, `an answer`. */
  readonly what: string;
  readonly meta?: ToolResultMeta;
}

/** The time for one person. Dispose of it when they have answered: the call then goes on. */
export interface Pause extends Disposable {
  readonly isPaused: boolean;
  /** How long they may take, in milliseconds. While the call's own time runs on, that ends first. */
  readonly timeoutMs: number;
}

/**
 * Lets the time of a call stand still while the person at the Computer is asked. For a call of the office that takes an
 * Agent that can wait; else the call's time runs on.
 */
export function pauseFor(call: RunningCall, channel: AgentChannel, reason: WaitReason): Pause {
  const { timeoutMs } = channel;
  if (call.isLocal) {
    call.clock.pause();
    return { isPaused: true, timeoutMs, [Symbol.dispose]: () => call.clock.resume() };
  }
  if (!channel.takes("wait")) return { isPaused: false, timeoutMs: MAX_TIMER_MS, [Symbol.dispose]() {} };
  const { server, what, meta } = reason;
  const message = `The person at the Computer is asked for ${what}`;
  const question: AgentQuestion = {
    mode: "wait",
    server,
    message,
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
