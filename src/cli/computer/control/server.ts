/** How other processes of the same user ask a Computer that runs: words in, what is to be printed out, over a socket. */
import { settledWithin } from "../../../async/abortable.ts";
import type { Logger } from "../../../log.ts";
import { describeError } from "../../../text.ts";
import { ControlConversation, type RunWords } from "./conversation.ts";

/** How many processes are answered at a time; others wait for their turn. */
const MAX_CONVERSATIONS = 64;
/** How long whoever is being answered may take to read it when the Computer ends, in milliseconds. */
const FAREWELL_MS = 1_000;

/** Listens for other processes; one that does not behave harms nobody else. */
export class ControlServer implements AsyncDisposable {
  readonly #listener: Deno.UnixListener;
  readonly #path: string;
  readonly #run: RunWords;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #conversations = new Map<ControlConversation, Promise<void>>();
  readonly #listening: Promise<void>;

  private constructor(path: string, listener: Deno.UnixListener, options: { run: RunWords; log: Logger }) {
    this.#path = path;
    this.#listener = listener;
    this.#run = options.run;
    this.#log = options.log;
    this.#listening = this.#listen().catch((error) =>
      this.#log.error("commands from outside are heard no longer", { error: describeError(error) })
    );
  }

  /**
   * Listens at a path, in place of whatever was left there by a Computer that did not end as it should.
   *
   * @throws {TypeError} when a Computer listens there.
   */
  static async open(
    path: string,
    options: { readonly run: RunWords; readonly log: Logger },
  ): Promise<ControlServer> {
    const listener = await listenAt(path);
    await Deno.chmod(path, 0o600);
    return new ControlServer(path, listener, options);
  }

  /** Listens no longer; commands that run are aborted, and told so. Idempotent. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new DOMException("The Computer ends", "AbortError"));
    this.#listener.close();
    await settledWithin(Promise.all(this.#conversations.values()), FAREWELL_MS);
    for (const conversation of this.#conversations.keys()) conversation.end();
    await Promise.all([this.#listening, ...this.#conversations.values()]);
    await Deno.remove(this.#path).catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #listen(): Promise<void> {
    for await (const connection of this.#listener) {
      const conversation = new ControlConversation(connection);
      const held = conversation.hold(this.#run, this.#closing.signal)
        .catch((error) =>
          this.#log.debug("a command from outside was not answered", { error: describeError(error) })
        )
        .finally(() => this.#conversations.delete(conversation));
      this.#conversations.set(conversation, held);
      if (this.#conversations.size >= MAX_CONVERSATIONS) await Promise.race(this.#conversations.values());
    }
  }
}

/** Whether somebody listens at a path. */
export async function isListening(path: string): Promise<boolean> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return true;
  } catch {
    return false;
  }
}

async function listenAt(path: string): Promise<Deno.UnixListener> {
  try {
    return Deno.listen({ transport: "unix", path });
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
  }
  if (await isListening(path)) {
    throw new TypeError(
      "Cannot listen for commands: a Computer of this name runs already; give this one another --name",
    );
  }
  await Deno.remove(path).catch(() => {});
  return Deno.listen({ transport: "unix", path });
}
