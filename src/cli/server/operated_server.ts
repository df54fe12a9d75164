/** A Server that runs in this process, as its commands need it. */
import type { Command } from "commander";
import type { Logger } from "../../log.ts";
import type { Insight } from "../../server/observe/insight.ts";
import type { CommandAnswer } from "../answers/answer.ts";
import type { ProgramConsole } from "../console.ts";
import type { Conversation } from "../control/conversation.ts";
import type { Actor } from "../control/server.ts";
import type { OperatedMachines } from "./machines.ts";
import type { AuditTrail } from "./audit_file.ts";
import type { ShownTokens } from "./credentials.ts";
import type { OfficeWatches } from "./office_watches.ts";
import type { ChangedOption } from "./options.ts";

export interface OperatedServer {
  readonly url: string;
  /** The URL by which its clients reach it, as far as that is known. */
  readonly publicUrl: string;
  readonly insight: Insight;
  readonly trail: AuditTrail;
  /** Whether other processes serve its offices as well. */
  readonly isShared: boolean;
  /** Whether it serves MCP clients, too. */
  readonly isHub: boolean;
  /** Declares the commands of the program around the Server. */
  readonly addCommands?: AddCommands | undefined;
  /** The options that differ from their defaults. */
  readonly options: readonly ChangedOption[];
  /** What the stream of the console tells of offices. */
  readonly watches: OfficeWatches;
  /** `undefined` until it can be opened. */
  console: ProgramConsole | undefined;
  readonly tokens: () => Promise<readonly ShownTokens[]>;
  /** The machines that join by code; or why the Server takes none. */
  readonly machines: OperatedMachines | string;
  readonly logger: Logger;
  /** Who runs a command, for its lines of the audit trail. */
  readonly actor?: Actor;
  /** Starts the end of the process, as SIGTERM does. */
  readonly drain: () => void;
}

/** Declares commands for whoever types them, which show their answers by `show`. */
export type AddCommands = (
  program: Command,
  typed: {
    readonly actor: Actor;
    readonly show: (answer: CommandAnswer, options: { readonly json: boolean }) => void;
  },
) => void;

export interface ServerCommandContext {
  readonly server: OperatedServer;
  /** Aborted when whoever has typed the command no longer waits for it. */
  readonly signal: AbortSignal;
  readonly conversation: Conversation;
}

/** Who `end` is about, and what they are told. */
export interface EndFlags {
  readonly member?: string;
  readonly principal?: string;
  readonly reason: string;
  readonly mayReturn: boolean;
}
