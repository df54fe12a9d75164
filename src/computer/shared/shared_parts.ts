/** What the parts of a Computer share that speak with its MCP servers, and what requests of its own program have. */
import type { ComputerLimits } from "../../config/limits.ts";
import type { Logger } from "../../log.ts";
import type { Fleet } from "../../mcp/supervision/fleet.ts";
import type { WarnOnce } from "../../mcp/warn_once.ts";
import type { UpdateKind } from "../office/office_link.ts";
import { DEFAULT_TIMEOUT_SECONDS } from "../../protocol/call.ts";
import type { OfficeRules } from "./office_rules.ts";

export interface SharedParts {
  readonly fleet: Fleet;
  readonly rules: OfficeRules;
  readonly limits: ComputerLimits;
  readonly log: Logger;
  readonly warnOnce: WarnOnce;
  /** The name of a server in the configuration, by the name by which the office knows it. */
  readonly writtenNameOf: (server: string) => string;
  /** A text without known secrets. */
  readonly redact: (text: string) => string;
  /** An Agent would see a difference. */
  readonly onChange: (kind: UpdateKind) => void;
}

/** Time-out and cancellation of one request by the Computer's own program. */
export interface LocalRequestOptions {
  /** How long it may take, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Aborts the request; a tool call is also cancelled at its MCP server. */
  readonly signal?: AbortSignal | undefined;
}

export function toMilliseconds({ timeoutMs = DEFAULT_TIMEOUT_SECONDS * 1000 }: LocalRequestOptions): number {
  return timeoutMs;
}

export function toSeconds(options: LocalRequestOptions): number {
  return toMilliseconds(options) / 1000;
}
