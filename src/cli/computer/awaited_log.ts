/** The log of a prompt while a command waits for an MCP server: what the answer tells is not told twice. */
import type { LogFields, Logger } from "../../log.ts";

/** A logger that writes warnings of awaited MCP servers as information. */
export class AwaitedLog implements Logger {
  readonly #log: Logger;
  readonly #awaited: string[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Until the result is disposed of, somebody at the prompt waits for an answer about this server. */
  await(server: string): Disposable {
    this.#awaited.push(server);
    return { [Symbol.dispose]: () => void this.#awaited.splice(this.#awaited.indexOf(server), 1) };
  }

  debug(message: string, fields?: LogFields): void {
    this.#log.debug(message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log.info(message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    const { module, server } = fields ?? {};
    const isAwaited = module === "mcp" && this.#awaited.some((name) => name === server);
    if (isAwaited) this.#log.info(message, fields);
    else this.#log.warn(message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#log.error(message, fields);
  }
}
