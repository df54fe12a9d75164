/** How a Computer is opened, and how its own program asks it. */
import type { Logger } from "../log.ts";
import type { ServerLimits } from "../mcp/limits.ts";
import { DEFAULT_TIMEOUT_SECONDS } from "../protocol/timeouts.ts";
import type { BlobLimits } from "./office/blob_store.ts";
import type { CallLimits, ListLimits, ReadLimits } from "./limits.ts";
import type { ResolveDpe } from "./resources/resolve_dpe.ts";
import type { InputSource } from "./inputs/sources.ts";
import type { Confirm } from "./tools/confirmation.ts";

/** Deadlines and bounds of a Computer; each has a default. */
export type ComputerLimits = ServerLimits & ReadLimits & CallLimits & BlobLimits & ListLimits;

/** How to open a Computer. */
export interface ComputerOptions {
  /** Its name in the office: 1–128 visible characters. */
  readonly name: string;
  /** The MCP servers and inputs, as {@linkcode parseConfig} takes them. */
  readonly config: unknown;
  /** Values of inputs by id; asked each time an MCP server starts. None by default. */
  readonly inputs?: InputSource | undefined;
  /** Asked before each call of a tool without `auto_apply`; without it such calls are answered 4005. */
  readonly confirm?: Confirm | undefined;
  /** Serves `client:get_dpe`; without it such requests are answered 4011. */
  readonly resolveDpe?: ResolveDpe | undefined;
  /** Deadlines and bounds that differ from the defaults. */
  readonly limits?: Partial<ComputerLimits> | undefined;
  /** Says nothing by default. */
  readonly logger?: Logger | undefined;
}

/** Time and cancellation of one request of the Computer's own program. */
export interface LocalRequestOptions {
  /** How long it may take, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Gives up when aborted; a tool call is cancelled at its MCP server. */
  readonly signal?: AbortSignal | undefined;
}

/** How long a request of the Computer's own program may take. */
export function toMilliseconds({ timeoutMs = DEFAULT_TIMEOUT_SECONDS * 1000 }: LocalRequestOptions): number {
  return timeoutMs;
}

/** The same as the wire has it. */
export function toSeconds(options: LocalRequestOptions): number {
  return toMilliseconds(options) / 1000;
}
