/** A state file that is removed with its folder. */
import { join } from "@std/path";
import { StateFile } from "../../../src/hub/state_file.ts";
import { silentLogger } from "../../../src/log.ts";

export class TestState implements Disposable {
  readonly #folder = Deno.makeTempDirSync();
  readonly path = join(this.#folder, "hub.sqlite");
  readonly file = StateFile.open(this.path, { logger: silentLogger });
  /** What the hub takes for the time. */
  now = 1_800_000_000_000;
  readonly clock = () => this.now;

  [Symbol.dispose](): void {
    this.file[Symbol.dispose]();
    Deno.removeSync(this.#folder, { recursive: true });
  }
}

/** A grant for the office "lab". */
export const GRANT = {
  clientId: "client",
  client: "Claude",
  returnsTo: "claude.example",
  consentedBy: "ada",
  resource: "https://hub.example/mcp/o/lab",
  offices: ["lab"],
  rights: "call",
} as const;
