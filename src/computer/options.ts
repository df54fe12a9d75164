/** The options of a Computer and of requests by its own program. */
import type { Logger } from "../log.ts";
import type { Progress } from "../mcp/call_options.ts";
import type { TokenStore } from "../mcp/auth/token_store.ts";
import type { ProtocolMinor } from "../protocol/version.ts";
import { type CallTimeouts, toCallTimes } from "../protocol/call.ts";
import type { ComputerLimits } from "../config/limits.ts";
import type { AnswerQuestion } from "./questions/question.ts";
import type { ResolveDpe } from "./resources/resolve_dpe.ts";
import type { InputSource } from "./inputs/sources.ts";
import type { ToolCallReq } from "../protocol/tools.ts";
import type { CallOptions } from "./tools/calls.ts";
import type { ApprovalStore } from "./tools/approved_tools.ts";
import type { Confirm } from "./tools/confirmation.ts";
import type { LocalRequestOptions } from "./shared/shared_parts.ts";
import type { UploadOptions } from "./uploads/uploads.ts";

/** How to open a Computer. */
export interface ComputerOptions {
  /** Its name in the office: 1–128 visible characters. */
  readonly name: string;
  /** The MCP servers and inputs, in any form that {@linkcode parseConfig} accepts. */
  readonly config: unknown;
  /**
   * The `MAJOR.MINOR` of the protocol to speak (`docs/protocol/versions.md`); by default the `protocol_version` of the
   * configuration, or `0.2`. A Computer keeps it until it is closed, because the names of its tools depend on it.
   */
  readonly protocolVersion?: ProtocolMinor | undefined;
  /** Returns the value of an input; called each time an MCP server starts. No values by default. */
  readonly inputs?: InputSource | undefined;
  /**
   * The tools that run without a confirmation where the configuration sets no `auto_apply`: `"all"`, or `"reads"`, those
   * whose MCP servers say that they modify nothing (`readOnlyHint`). None by default.
   */
  readonly autoApply?: "all" | "reads" | undefined;
  /** Called before each call of a tool that does not run without a confirmation; without it, such calls are answered 4005. */
  readonly confirm?: Confirm | undefined;
  /**
   * Answers the questions that MCP servers ask during calls. Without it, the Agent's user is asked where the Agent offers
   * that; else each question is declined.
   */
  readonly answerQuestion?: AnswerQuestion | undefined;
  /** Answers `client:get_dpe`; without it, such requests are answered 4011. */
  readonly resolveDpe?: ResolveDpe | undefined;
  /**
   * Folders of skills (`docs/skills.md`): each folder in them with a `SKILL.md` is a skill. They come before the `skills`
   * of the configuration. None by default.
   */
  readonly skills?: readonly string[] | undefined;
  /**
   * The folder for files that the Agent uploads (`docs/protocol/versions.md#uploads`), or that folder with limits; by default the
   * `uploads` of the configuration, else uploads are refused. Since protocol 0.4.
   */
  readonly uploads?: string | UploadOptions | undefined;
  /**
   * Keeps the sign-ins at MCP servers (OAuth), such as {@linkcode fileTokenStore}; in memory by default, so that they end
   * with the Computer.
   */
  readonly tokens?: TokenStore | undefined;
  /**
   * Keeps the tools of entries with `on_change` as they were allowed, over restarts; in memory by default, so that each
   * start allows them as they are then.
   */
  readonly approvals?: ApprovalStore | undefined;
  /** Limits that differ from the defaults, and from the `limits` of the configuration. */
  readonly limits?: Partial<ComputerLimits> | undefined;
  /** Receives log records; silent by default. */
  readonly logger?: Logger | undefined;
}

/** Time-out, cancellation, progress and questions of one tool call by the Computer's own program. */
export interface LocalCallOptions extends LocalRequestOptions, CallTimeouts {
  /** Skips the confirmation; false by default. */
  readonly isConfirmed?: boolean | undefined;
  /** Called with the progress that the MCP server reports, at most ten times a second, until the call ends. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Answers the questions of the MCP server, in place of the callback that the Computer was opened with. */
  readonly answerQuestion?: AnswerQuestion | undefined;
}

/** A tool call by the Computer's own program as a request, and how it runs. */
export function toLocalCall(
  call: {
    readonly computer: string;
    readonly tool: string;
    readonly params: Readonly<Record<string, unknown>>;
  },
  options: LocalCallOptions,
): CallOptions & { readonly request: ToolCallReq } {
  const { computer, tool: tool_name, params } = call;
  const { isConfirmed, answerQuestion, signal, onProgress } = options;
  const { timeoutMs, idleMs } = toCallTimes(options);
  const req_id = crypto.randomUUID();
  const timeout = timeoutMs / 1000;
  const request = { agent: computer, req_id, computer, tool_name, params: { ...params }, timeout };
  return { request, isLocal: true, isConfirmed, answerQuestion, signal, onProgress, idleMs };
}
