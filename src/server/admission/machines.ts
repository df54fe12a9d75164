/** Machines that have joined by code: who they are, what they may do, and their admission by proofs of their keys. */
import { holdLock } from "../../files/files.ts";
import { contentProblem, FileContentError, WatchedFiles } from "../../files/watched_files.ts";
import {
  isMachineId,
  machineIdOf,
  proofProblem,
  SeenProofs,
  subjectOf,
  WRONG_PROOF,
} from "../../jwt/proof.ts";
import type { Logger } from "../../log.ts";
import { skeletonOf } from "../../protocol/look_alikes.ts";
import { PROOF_FIELD } from "../../protocol/machines.ts";
import { MACHINE_PREFIX } from "../../protocol/presence.ts";
import { describeError } from "../../text/text.ts";
import {
  type Machine,
  MAX_LIST_BYTES,
  MAX_MACHINES,
  readMachineList,
  writeMachineList,
} from "./machine_list.ts";
import {
  type AuthDecision,
  type AuthProvider,
  type AuthRefusal,
  type Credentials,
  CredentialsEndedError,
} from "./provider.ts";

const DAY_MS = 86_400_000;
/** A machine that was not here for longer has to join again, in milliseconds. */
const MAX_AWAY_MS = 30 * DAY_MS;
/** How long a connection may go on without a new proof, in milliseconds. */
const ADMISSION_MS = DAY_MS;
/** When machines were seen is written down so often, in milliseconds, and at the end. */
const SEEN_INTERVAL_MS = 10 * 60_000;

export interface MachinesOptions {
  readonly logger: Logger;
  /** Milliseconds since 1970; the clock of this machine by default. */
  readonly nowMs?: (() => number) | undefined;
  /** The time between two looks at the file, in milliseconds; 1,000 by default. */
  readonly checkIntervalMs?: number | undefined;
}

/** What an operator has approved. */
export type NewMachine = Pick<Machine, "key" | "name" | "offices" | "roles" | "audience" | "system">;

/** A machine while the Server runs. */
export interface KnownMachine {
  machine: Machine;
  /** Aborted when it is revoked, or may do something else. */
  readonly ending: AbortController;
  readonly seen: SeenProofs;
}

/** A machine cannot be added or changed; the message says why. */
export class MachineError extends Error {
  override readonly name = "MachineError";
  readonly code = "MACHINE";
}

export class Machines implements AuthProvider, AsyncDisposable {
  readonly #options: MachinesOptions;
  readonly #now: () => number;
  readonly #known = new Map<string, KnownMachine>();
  /** Those that were revoked while the file could not be changed, which has them still. */
  readonly #unwritten = new Map<string, Machine>();
  #files: WatchedFiles | undefined;
  #lock: Disposable | undefined;
  #hasSeen = false;
  #writtenAtMs = 0;

  private constructor(options: MachinesOptions) {
    this.#options = options;
    this.#now = options.nowMs ?? Date.now;
  }

  /**
   * Reads the file, and again after each change; it is made with the first machine. One that is damaged admits nobody.
   *
   * @throws {FileContentError} when another Server uses it: each would know proofs that the other has seen as new ones.
   */
  static async open(path: string, options: MachinesOptions): Promise<Machines> {
    const machines = new Machines(options);
    const what = `Cannot use file of machines "${path}"`;
    try {
      machines.#lock = holdLock(`${path}.lock`);
    } catch (cause) {
      throw contentProblem(`${what}: its folder cannot be written (${describeError(cause)}); ${INSTEAD}`, {
        cause,
      });
    }
    if (machines.#lock === undefined) throw contentProblem(`${what}: ${IN_USE}`);
    machines.#files = await WatchedFiles.open({
      kind: "file of machines",
      files: [path],
      ownText: writeMachineList([]),
      maxBytes: MAX_LIST_BYTES,
      logger: options.logger,
      intervalMs: options.checkIntervalMs,
      use: ([text = ""]) => machines.#use(readMachineList(text)),
    });
    return machines;
  }

  /** Why the file cannot be used; `undefined` while it can. */
  get problem(): string | undefined {
    return this.#files?.problem;
  }

  list(): readonly Machine[] {
    return [...this.#known.values()].map(({ machine }) => machine);
  }

  /** The machines that were revoked, but stand in the file. The next change of the file removes them. */
  get unwritten(): readonly Machine[] {
    return [...this.#unwritten.values()];
  }

  async authenticate({ auth }: Pick<Credentials, "auth">): Promise<AuthDecision> {
    const checked = await this.check(auth[PROOF_FIELD]);
    if ("refused" in checked) return checked;
    const { machine: { id, name, formerName = name, offices, roles }, ending: { signal } } = checked;
    const grant = { offices, roles, names: [...new Set([name, formerName])] };
    return { principal: MACHINE_PREFIX + id, grant, expiresAtMs: this.#now() + ADMISSION_MS, signal };
  }

  /** The machine that has signed a proof over its id. */
  async check(proof: unknown): Promise<KnownMachine | AuthRefusal> {
    const id = await subjectOf(proof) ?? "";
    const known = this.#known.get(id);
    // It may be in the file: the machine tries again.
    const isOut = this.#unwritten.has(id);
    if (known === undefined && !isOut && this.problem !== undefined) throw new FileContentError(this.problem);
    if (known === undefined || typeof proof !== "string") {
      // Whoever it is claims the id, so that an operator can tell a machine that was revoked.
      return { refused: `${WRONG_PROOF}: ${AGAIN}`, ...isMachineId(id) && { log: { machine: id } } };
    }
    const { machine: { key, audience, name, lastSeen }, seen } = known;
    const nowMs = this.#now();
    const problem = await proofProblem(proof, { audience, subject: id, nowMs, key, seen });
    const log = { machine: id, name };
    if (problem !== undefined) {
      return { refused: problem === WRONG_PROOF ? `${problem}: ${AGAIN}` : problem, log };
    }
    if (nowMs - lastSeen > MAX_AWAY_MS) {
      return { refused: `this machine was away for more than 30 days: ${AGAIN}`, log };
    }
    this.#see(known, nowMs);
    return known;
  }

  find(id: string): Machine | undefined {
    return this.#known.get(id)?.machine;
  }

  /**
   * Adds a machine; one with the same key is replaced.
   *
   * @throws {MachineError} when another machine has the name in one of its offices, and for a file that cannot be used.
   */
  async add(added: NewMachine): Promise<void> {
    const id = machineIdOf(added.key);
    const now = this.#now();
    await this.#change(id, (before) => {
      return { ...added, id, formerName: before?.formerName, since: before?.since ?? now, lastSeen: now };
    });
  }

  /** Changes what a machine may do, or its name; the old name stays its own until the next rename, also to the same one. */
  async change(id: string, changed: Partial<Pick<Machine, "name" | "offices" | "roles">>): Promise<void> {
    await this.#change(id, (before) => {
      if (before === undefined) throw new MachineError(`Cannot change machine "${id}": it was revoked`);
      const formerName = changed.name === undefined
        ? before.formerName
        : changed.name === before.name
        ? undefined
        : before.name;
      return { ...before, ...changed, formerName };
    });
  }

  /**
   * Removes a machine; its connections end at once.
   *
   * @throws {MachineError} for a file that cannot be changed: then it is out as long as this object is in use.
   */
  async revoke(id: string): Promise<void> {
    await this.#change(id, () => undefined).catch((cause) => {
      const known = this.#known.get(id);
      if (known !== undefined) this.#unwritten.set(id, known.machine);
      this.#known.delete(id);
      known?.ending.abort(REVOCATION);
      const text = `${
        describeError(cause)
      }. The machine is out while this Server runs: mend that, and revoke it again`;
      throw new MachineError(text, { cause });
    });
  }

  /** Notes when something of these machines was read last, and writes that down now and then. */
  noteSeen(
    machines: Iterable<{ readonly principal: string; readonly lastRead: Date }>,
  ): void {
    for (const { principal, lastRead } of machines) {
      const known = this.#known.get(principal.slice(MACHINE_PREFIX.length));
      if (known !== undefined) this.#see(known, lastRead.getTime());
    }
    if (this.#hasSeen && this.#now() - this.#writtenAtMs > SEEN_INTERVAL_MS) void this.#writeSeen();
  }

  /** Keeps when machines were seen, and lets go of the file. Idempotent. */
  async close(): Promise<void> {
    await this.#files?.close();
    if (this.#hasSeen) await this.#writeSeen();
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #see(known: KnownMachine, atMs: number): void {
    if (atMs <= known.machine.lastSeen) return;
    known.machine = { ...known.machine, lastSeen: atMs };
    this.#hasSeen = true;
  }

  /** What a file has of a machine may be older than what is known here. */
  #withLastSeen(machine: Machine): Machine {
    return { ...machine, lastSeen: Math.max(machine.lastSeen, this.find(machine.id)?.lastSeen ?? 0) };
  }

  async #writeSeen(): Promise<void> {
    await this.#change("", () => undefined).catch((error) =>
      this.#options.logger.error("cannot write when machines were seen", { error: describeError(error) })
    );
  }

  /** Changes, adds or removes the machine of an id in the file. */
  async #change(id: string, change: (before: Machine | undefined) => Machine | undefined): Promise<void> {
    let machines: readonly Machine[] = [];
    const toText = () => {
      const changed = change(this.find(id));
      const others = this.list().filter((each) => each.id !== id);
      if (changed !== undefined) requireOwnName(changed, others);
      machines = changed === undefined ? others : [...others, changed];
      if (machines.length <= MAX_MACHINES) return writeMachineList(machines);
      throw new MachineError(`Cannot add a machine: there are ${MAX_MACHINES} already; revoke others first`);
    };
    await this.#files?.edit(toText).catch((cause) => {
      if (cause instanceof MachineError) throw cause;
      throw new MachineError(`Cannot change the machines: ${describeError(cause)}`, { cause });
    });
    if (this.#unwritten.delete(id)) this.#use(machines);
    this.#hasSeen = false;
    this.#writtenAtMs = this.#now();
  }

  /** Uses a list, and ends the connections of machines that are no longer in it as they were. */
  #use(machines: readonly Machine[]): void {
    const listed = new Map(machines.map((machine) => [machine.id, this.#withLastSeen(machine)]));
    for (const id of [...this.#unwritten.keys()]) if (!listed.delete(id)) this.#unwritten.delete(id);
    for (const [id, { machine, ending, seen }] of [...this.#known]) {
      const now = listed.get(id);
      if (now !== undefined && rightsOf(now) === rightsOf(machine)) continue;
      if (now === undefined) this.#known.delete(id);
      else this.#known.set(id, { machine: now, ending: new AbortController(), seen });
      ending.abort(now === undefined ? REVOCATION : CHANGE);
    }
    for (const [id, machine] of listed) {
      const known = this.#known.get(id);
      if (known !== undefined) known.machine = machine;
      else this.#known.set(id, { machine, ending: new AbortController(), seen: new SeenProofs() });
    }
  }
}

const IN_USE = "another Server uses it; end that one, or give this one another --port or --machines FILE";
const INSTEAD = "give --machines FILE, or --machines none to take no machines";
const AGAIN = "join again with `a2c-smcp computer join URL`";
const REVOCATION = new CredentialsEndedError("This machine was revoked", { kind: "revoked" });
const CHANGE = new CredentialsEndedError("The permissions of this machine have changed", { kind: "changed" });

function rightsOf({ offices, roles, audience }: Machine): string {
  return JSON.stringify([offices.toSorted(), roles.toSorted(), audience]);
}

/** @throws {MachineError} when another machine has the name in one of the offices, and for one that no Computer may have. */
function requireOwnName(machine: Machine, others: readonly Machine[]): void {
  if (machine.name.startsWith(MACHINE_PREFIX)) {
    const why = `names that begin with "${MACHINE_PREFIX}" are ids; choose another`;
    throw new MachineError(`Cannot use the name "${machine.name}": ${why}`);
  }
  const { name, formerName = name } = machine;
  for (const own of new Set([name, formerName])) {
    const holder = others.find((each) =>
      looksOf(each).includes(skeletonOf(own)) &&
      each.offices.some((office) => machine.offices.includes(office))
    );
    if (holder === undefined) continue;
    const holding = skeletonOf(holder.name) === skeletonOf(own)
      ? "has it, or a similar one,"
      : "has kept it from before it was renamed,";
    const what = own === name
      ? "choose another, or revoke that machine first"
      : `this machine has kept it from before, too: rename it to "${name}" once more to give it up`;
    throw new MachineError(
      `Cannot use the name "${own}": machine "${holder.id}" ${holding} in one of these offices; ${what}`,
    );
  }
}

function looksOf({ name, formerName = name }: Machine): readonly string[] {
  return [name, formerName].map(skeletonOf);
}

/** Asks `others` about every client that is no machine, and admits none of them under the principal of one. */
export function besideMachines(machines: Machines, others: AuthProvider | undefined): AuthProvider {
  return {
    async authenticate(credentials, context) {
      if (Object.hasOwn(credentials.auth, PROOF_FIELD)) return await machines.authenticate(credentials);
      if (others === undefined) return { refused: "no proof of a machine" };
      const decision = await others.authenticate(credentials, context);
      if ("refused" in decision || !decision.principal.startsWith(MACHINE_PREFIX)) return decision;
      const { principal } = decision;
      return {
        refused: `a name that begins with "${MACHINE_PREFIX}" is that of a machine`,
        log: { principal },
      };
    },
    unready: () => others?.unready?.(),
  };
}
