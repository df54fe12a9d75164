/** A file with one line of JSON for each call of a client. */
import { describeFileError } from "../../../files.ts";
import type { Activity } from "../../../gateway/tool_handlers.ts";
import { escapeUnseen } from "../../../text/safe_text.ts";
import { shorten } from "../../../text.ts";
import { UsageError } from "../../outcome.ts";

/** The most characters of the names in an entry, which a client chooses. */
const MAX_NAME_LENGTH = 256;

/** Appends calls to a file. Arguments are left out unless they are wanted: they may hold secrets. */
export class ActivityLog implements Disposable {
  readonly #file: Deno.FsFile;
  readonly #hasArguments: boolean;

  private constructor(file: Deno.FsFile, hasArguments: boolean) {
    this.#file = file;
    this.#hasArguments = hasArguments;
  }

  /** @throws {UsageError} when the file cannot be written. */
  static open(path: string, { hasArguments }: { readonly hasArguments: boolean }): ActivityLog {
    try {
      return new ActivityLog(Deno.openSync(path, { append: true, create: true, mode: 0o600 }), hasArguments);
    } catch (cause) {
      throw new UsageError(`Cannot write the activity log "${path}": ${describeFileError(cause)}`, { cause });
    }
  }

  write({ client, computer, tool, durationMs, outcome, args }: Activity): void {
    const entry = {
      time: new Date().toISOString(),
      client: shorten(client, MAX_NAME_LENGTH),
      computer,
      tool: shorten(tool, MAX_NAME_LENGTH),
      duration_ms: Math.round(durationMs),
      outcome,
      ...(this.#hasArguments ? { arguments: args } : {}),
    };
    // A line is written whole, so that several gateways can share a file; the system may take a long one in pieces.
    let rest = new TextEncoder().encode(`${escapeUnseen(JSON.stringify(entry))}\n`);
    while (rest.length > 0) rest = rest.subarray(this.#file.writeSync(rest));
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}
