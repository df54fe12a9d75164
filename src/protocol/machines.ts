/** Join by code: what a machine and a Server say to each other over HTTP. See `docs/protocol/extensions.md#join-by-code`. */
import { isRecord, isTexts } from "../json/json.ts";

/** Where a machine asks to join; a browser is told there how an operator approves it. */
export const MACHINE_JOIN_PATH = "/machines/join";
/** Where a machine asks whether it was approved, and for what. */
export const MACHINE_STATE_PATH = "/machines/state";
/** The field of the Socket.IO `auth` object with the proof that a machine has its key. */
export const PROOF_FIELD = "proof";

/** The answer to a machine that asks to join. */
export interface JoinStarted {
  /** Its secret: it asks with it whether it was approved. */
  readonly handle: string;
  /** What its operator types. */
  readonly code: string;
  readonly link: string;
  /** In seconds. */
  readonly expires_in: number;
  /** How long to wait between two questions, in seconds. */
  readonly interval: number;
}

/** What an operator has approved. */
export interface JoinedMachine {
  readonly id: string;
  readonly name: string;
  readonly offices: readonly string[];
  readonly roles: readonly string[];
}

/** A person copies it into a command line. */
const CODE = /^[A-Z0-9-]{1,20}$/;
const MAX_SECONDS = 3_600;

/** Returns `undefined` for anything else. */
export function parseJoinStarted(value: unknown): JoinStarted | undefined {
  const { handle, code, link: shown, expires_in, interval } = isRecord(value) ? value : {};
  if (typeof handle !== "string" || typeof code !== "string" || !CODE.test(code)) return undefined;
  const link = typeof shown === "string" ? URL.parse(shown)?.href : undefined;
  if (link === undefined || !isDuration(expires_in) || !isDuration(interval)) return undefined;
  return { handle, code, link, expires_in, interval };
}

function isDuration(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= MAX_SECONDS;
}

/** Returns `undefined` for anything else, such as the answer to a machine that still waits. */
export function parseJoinedMachine(value: unknown): JoinedMachine | undefined {
  const { id, name, offices, roles } = isRecord(value) ? value : {};
  const isMachine = typeof id === "string" && typeof name === "string" && isTexts(offices) && isTexts(roles);
  return isMachine ? { id, name, offices, roles } : undefined;
}
