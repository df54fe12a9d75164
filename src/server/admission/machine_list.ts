/** The file of machines that have joined by code, as text. Pure. */
import { contentProblem } from "../../files/watched_files.ts";
import { isRecord, isTexts, parseJson } from "../../json/json.ts";
import { machineIdOf, type MachineKey, readMachineKey } from "../../jwt/proof.ts";
import { nameProblem } from "../../protocol/names.ts";
import { type GrantedRole, isGrantedRole } from "./provider.ts";

const VERSION = 1;
/** The most machines of a file. */
export const MAX_MACHINES = 5_000;
export const MAX_LIST_BYTES = 8 * 1024 * 1024;

/** A machine that an operator has approved. */
export interface Machine {
  /** Follows from its key; it outlives renames. */
  readonly id: string;
  readonly key: MachineKey;
  /** Its name as a Computer. */
  readonly name: string;
  /** Its name before the last rename, which it may still have. */
  readonly formerName?: string | undefined;
  readonly offices: readonly string[];
  readonly roles: readonly GrantedRole[];
  /** The URL of the Server by which it has joined: its proofs are for this one. */
  readonly audience: string;
  /** What it says that it runs on. */
  readonly system: string;
  /** In milliseconds since 1970. */
  readonly since: number;
  readonly lastSeen: number;
}

export function writeMachineList(machines: readonly Machine[]): string {
  return `${JSON.stringify({ version: VERSION, machines }, undefined, 2)}\n`;
}

/** @throws {FileContentError} for anything that {@linkcode writeMachineList} did not write. */
export function readMachineList(text: string): readonly Machine[] {
  const value = parseJson(text);
  const { version, machines } = isRecord(value) ? value : {};
  if (typeof version === "number" && version > VERSION) {
    throw contentProblem(
      `it is of version ${version}, and this program reads version ${VERSION}: use the release that wrote it`,
    );
  }
  if (version !== VERSION || !Array.isArray(machines) || machines.length > MAX_MACHINES) {
    throw contentProblem(`it is not a list of at most ${MAX_MACHINES} machines, of version ${VERSION}`);
  }
  const read = machines.map(readMachine);
  if (new Set(read.map(({ id }) => id)).size < read.length) throw contentProblem("a machine is in it twice");
  return read;
}

function readMachine(value: unknown, index: number): Machine {
  const { id, name, formerName, offices, roles, audience, system, since, lastSeen, ...rest } = isRecord(value)
    ? value
    : {};
  const key = readMachineKey(rest["key"]);
  if (
    key === undefined || id !== machineIdOf(key) || !isName(name) ||
    (formerName !== undefined && !isName(formerName)) || !isTexts(offices) ||
    !Array.isArray(roles) || !roles.every(isGrantedRole) || typeof audience !== "string" ||
    typeof system !== "string" || typeof since !== "number" || typeof lastSeen !== "number"
  ) throw contentProblem(`machine ${index + 1} is malformed`);
  return { id, key, name, formerName, offices, roles, audience, system, since, lastSeen };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && nameProblem(value) === undefined;
}
