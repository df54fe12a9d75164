/** How many TCP connections the clients of each credential have, so that nobody keeps all others from the hub. */
import type { Duplex } from "node:stream";

export class ClientConnections {
  readonly #max: number;
  /** Behind a proxy, a connection serves one client after the other. */
  readonly #owners = new WeakMap<Duplex, string>();
  readonly #counts = new Map<string, number>();

  /** @param max The most connections of one credential. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Counts a connection for the credential that uses it now; `false` when it has too many already. */
  take(socket: Duplex, credential: string): boolean {
    const owner = this.#owners.get(socket);
    if (owner === credential) return true;
    const count = this.#counts.get(credential) ?? 0;
    if (count >= this.#max) return false;
    if (owner === undefined) socket.once("close", () => this.#leave(socket));
    else this.#leave(socket);
    this.#owners.set(socket, credential);
    this.#counts.set(credential, count + 1);
    return true;
  }

  #leave(socket: Duplex): void {
    const owner = this.#owners.get(socket) ?? "";
    const left = (this.#counts.get(owner) ?? 1) - 1;
    if (left === 0) this.#counts.delete(owner);
    else this.#counts.set(owner, left);
  }
}
