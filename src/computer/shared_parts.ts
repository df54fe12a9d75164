/** What the parts of a Computer that speak with its MCP servers share. */
import type { ComputerLimits } from "../config/limits.ts";
import type { Logger } from "../log.ts";
import type { Fleet } from "../mcp/supervision/fleet.ts";
import type { WarnOnce } from "../mcp/warn_once.ts";
import type { UpdateKind } from "./office/office_link.ts";
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
