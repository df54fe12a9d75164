/** Machines that wait until an operator approves them, each by a code and by a handle. */
import { randomBytes } from "node:crypto";
import { CODE_MS, makeCode, parseCode } from "../../http/codes.ts";
import { addressKey } from "../../http/proxies.ts";
import { machineIdOf, type MachineKey, SeenProofs } from "../../jwt/proof.ts";

/** The most machines that wait, and those of one address; a /64 network of IPv6 counts as one. */
const MAX_WAITING = 500;
const MAX_WAITING_PER_ADDRESS = 10;
const HANDLE_BYTES = 32;

/** What a machine says of itself. */
export interface AskingMachine {
  readonly key: MachineKey;
  /** The name that it wants. */
  readonly name: string;
  readonly system: string;
  /** The URL by which it has reached the Server. */
  readonly audience: string;
  readonly address: string | undefined;
}

export interface WaitingMachine extends AskingMachine {
  readonly id: string;
  readonly since: number;
  readonly handle: string;
  /** The proofs that this machine has shown. */
  readonly seen: SeenProofs;
  /** Good once, so that it is gone when an operator has approved the machine. */
  readonly code: string | undefined;
}

export class MachineJoins {
  /** By the id of the machine: one that asks again takes the place of its earlier join. */
  readonly #waiting = new Map<string, WaitingMachine>();
  readonly #now: () => number;

  constructor(nowMs: () => number = Date.now) {
    this.#now = nowMs;
  }

  /** Those that no operator has approved yet. */
  get waiting(): readonly WaitingMachine[] {
    return this.#all.filter(({ code }) => code !== undefined);
  }

  /** The proofs that the machine with this key has shown while it waits. */
  seenOf(key: MachineKey): SeenProofs {
    return this.#waiting.get(machineIdOf(key))?.seen ?? new SeenProofs();
  }

  /** Begins a join; `undefined` when too many machines wait. */
  begin(
    asking: AskingMachine,
    seen: SeenProofs,
  ): { readonly handle: string; readonly code: string } | undefined {
    const id = machineIdOf(asking.key);
    const others = this.#all.filter((each) => each.id !== id);
    const near = others.filter(({ address }) => addressKey(address) === addressKey(asking.address));
    if (others.length >= MAX_WAITING || near.length >= MAX_WAITING_PER_ADDRESS) return undefined;
    const handle = randomBytes(HANDLE_BYTES).toString("base64url");
    const code = makeCode();
    this.#waiting.set(id, { ...asking, id, since: this.#now(), handle, seen, code });
    return { handle, code };
  }

  /** The machine with this handle, approved or not. Whoever guesses one has no key for it. */
  find(handle: string): WaitingMachine | undefined {
    return this.#all.find((each) => each.handle === handle);
  }

  findByCode(typed: string): WaitingMachine | undefined {
    const code = parseCode(typed);
    return code === undefined ? undefined : this.#all.find((each) => each.code === code);
  }

  /** An operator has approved the machine, which may not know yet: its code is used up. */
  endCode(machine: WaitingMachine): void {
    this.#waiting.set(machine.id, { ...machine, code: undefined });
  }

  /** Forgets a join that no operator has approved: the machine has given up. */
  withdraw({ id, handle }: WaitingMachine): void {
    const { handle: last, code } = this.#waiting.get(id) ?? {};
    if (last === handle && code !== undefined) this.#waiting.delete(id);
  }

  get #all(): WaitingMachine[] {
    for (const { id, since } of this.#waiting.values()) {
      if (this.#now() - since >= CODE_MS) this.#waiting.delete(id);
    }
    return [...this.#waiting.values()];
  }
}
