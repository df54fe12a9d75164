/** Whether the Computers of an office would answer now, and the ids of their machines (`docs/protocol/extensions.md#presence`). */
import { timeText } from "../text/text.ts";
import type { AgentCallData } from "./call.ts";

/** How the id of a machine begins, so that it is never the name of a Computer. */
export const MACHINE_PREFIX = "machine:";

/** `server:list_presence`. */
export interface ListPresenceReq extends AgentCallData {
  /** The id of the office. */
  office_id: string;
  /** Whether silent Computers are sent a ping first; `false` by default. */
  probe?: boolean;
}

/** One Computer, as the Server knows it. */
export interface ComputerPresence {
  /** The name of the Computer. */
  computer: string;
  /** The id of its machine; absent for a Computer that tells none. */
  machine?: string;
  /** When the Server last read anything of it, in RFC 3339; absent when that is not known. */
  last_read?: string;
  /** Since when it answers no ping, in RFC 3339; absent for one that is awake, or of which that is not known. */
  asleep_since?: string;
}

/** The answer to `server:list_presence`. */
export interface ListPresenceRet {
  /** The Computers of the office, and those that fell asleep in it. */
  computers: ComputerPresence[];
  /** The id of the request. */
  req_id: string;
}

/** Since when a Computer sleeps, in words. */
export function sleepText(since: string): string {
  return `asleep since ${timeText(since)}`;
}
