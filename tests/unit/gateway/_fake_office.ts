/** An office whose events and answers a test decides. */
import type { AgentEventName, AgentListener } from "../../../src/agent/events.ts";
import type { Unsubscribe } from "../../../src/agent/listeners.ts";
import type { RemoteComputer } from "../../../src/agent/remote_computer.ts";
import type { RemoteComputerOptions } from "../../../src/agent/remote_options.ts";
import type { Office } from "../../../src/agent/toolkit/office.ts";
import type { SessionInfo } from "../../../src/protocol/office.ts";

type AnyListener = (event: Readonly<Record<string, unknown>>) => void;

export class FakeOffice implements Office {
  readonly name = "ada";
  readonly office = "lab";
  isConnected = true;
  /** What `listOffice()` answers. */
  members: () => Promise<readonly string[]>;
  /** What each Computer can do. */
  readonly abilities: Partial<RemoteComputer>;
  readonly #listeners = new Map<string, Set<AnyListener>>();

  constructor(members: readonly string[], abilities: Partial<RemoteComputer> = {}) {
    this.members = () => Promise.resolve(members);
    this.abilities = { getTools: () => Promise.resolve([]), ...abilities };
  }

  computer(name: string, _options?: RemoteComputerOptions): RemoteComputer {
    return { name, ...this.abilities } as RemoteComputer;
  }

  async listOffice(): Promise<SessionInfo[]> {
    const names = await this.members();
    return names.map((name) => ({ role: "computer", name }) as SessionInfo);
  }

  on<Name extends AgentEventName>(type: Name, listener: AgentListener<Name>): Unsubscribe {
    const listeners = this.#listeners.get(type) ?? new Set();
    const call = listener as unknown as AnyListener;
    this.#listeners.set(type, listeners.add(call));
    const unsubscribe = () => void listeners.delete(call);
    return Object.assign(unsubscribe, { [Symbol.dispose]: unsubscribe });
  }

  /** Lets an event happen. */
  emit(type: AgentEventName, event: Readonly<Record<string, unknown>> = {}): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event);
  }
}
