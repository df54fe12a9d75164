/** What a tool of gateway or toolkit knows of its call. */
import type { LocalToolOf } from "../../local_tools/local_tool.ts";
import type { CallProgress } from "../../protocol/progress.ts";
import type { AccessRights } from "../../protocol/rights.ts";
import type { OnQuestion } from "../questions.ts";

export interface ToolContext {
  readonly client?: object | string | undefined;
  /** What the client calls itself; Computers are told it. */
  readonly clientName?: string | undefined;
  /** Whether the person at the Computer is asked before the tool runs, whatever its configuration allows. */
  readonly ask?: boolean | undefined;
  /** What the client of a gateway may do. */
  readonly rights?: AccessRights | undefined;
  readonly signal: AbortSignal;
  /** Called with the progress; `undefined` when the client does not want to know. */
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
  /** Asks the user of the client; `undefined` when the client cannot. */
  readonly onQuestion?: OnQuestion | undefined;
}

/** A tool that gateway and toolkit answer themselves, beside those of the Computers. */
export type LocalTool = LocalToolOf<ToolContext>;
