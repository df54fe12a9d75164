/** The events of an Agent: changes in the office, refreshed views, and the state of the connection. */
import type { GetComputerConfigRet } from "../protocol/config.ts";
import type { Desktop } from "../protocol/desktop.ts";
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import type { Farewell } from "../protocol/farewell.ts";
import type { Role } from "../protocol/office.ts";
import type { PromptInfo } from "../protocol/prompts.ts";
import type { ResourceUpdate } from "../protocol/resource_updates.ts";
import type { SkillRef } from "../protocol/skills.ts";
import type { SMCPTool } from "../protocol/tools.ts";

/** A member that joined or left an office. */
export interface OfficeMember {
  /** The office's id. */
  readonly office: string;
  /** `agent` or `computer`. */
  readonly role: Role;
  /** The name with which it joined. */
  readonly name: string;
}

/** A change on one Computer. */
export interface ComputerChange {
  /** The Computer's name. */
  readonly computer: string;
}

/** The views of a Computer that an Agent can keep up to date. */
export type ComputerViewName = "tools" | "config" | "desktop" | "finder" | "resources" | "prompts" | "skills";

/**
 * The events of an Agent by name. While one of the `…Refreshed` events has a listener, the Agent fetches that view
 * again after each change, when a Computer joins, and after a reconnection (`docs/protocol/desktop.md#update-events`,
 * `docs/protocol/finder.md#update-events`). While `resourcesUpdated` has a listener, it requests updates at the same
 * times.
 */
export interface AgentEvents {
  /** `notify:enter_office`. */
  enterOffice: OfficeMember;
  /** `notify:leave_office`; a lost connection is a leave. */
  leaveOffice: OfficeMember;
  /** `notify:update_config`. */
  updateConfig: ComputerChange;
  /** `notify:update_tool_list`. */
  updateToolList: ComputerChange;
  /** `notify:update_desktop`. */
  updateDesktop: ComputerChange;
  /** `notify:update_finder`. */
  updateFinder: ComputerChange;
  /** `notify:update_resources`: a subscribed resource or a list of resources changed (`docs/protocol/extensions.md#subscriptions`). */
  updateResources: ComputerChange;
  /** `notify:update_prompts` (`docs/protocol/extensions.md#changes-of-prompts`). */
  updatePrompts: ComputerChange;
  /**
   * `notify:update_progress`: a tool call of this Agent has made progress (`docs/protocol/progress.md`). While
   * it has a listener, the Agent asks for it with each call. `CallToolOptions.onProgress` also gets the texts.
   */
  updateProgress: {
    readonly computer: string;
    readonly reqId: string;
    readonly progress: number;
    readonly total?: number;
    readonly hasMessage: boolean;
  };
  /** `notify:tool_call_cancel`: the Agent that cancelled a tool call, and the id of the call. */
  cancelToolCall: { readonly agent: string; readonly reqId: string };
  /** Any other `notify:` event, such as `notify:update_skills` or one of a newer peer; `body` is unchanged. */
  notification: { readonly event: string; readonly body: unknown };

  /** All tools of the Computer, fetched again. */
  toolsRefreshed: { readonly computer: string; readonly tools: readonly SMCPTool[] };
  /** The Computer's configuration, fetched again. */
  configRefreshed: { readonly computer: string; readonly config: GetComputerConfigRet };
  /** All windows of the Computer's Desktop, fetched again. */
  desktopRefreshed: { readonly computer: string; readonly desktops: readonly Desktop[] };
  /** The first 20 documents of the Computer's Finder, fetched again, and the number of all documents. */
  finderRefreshed: {
    readonly computer: string;
    readonly documents: readonly DPEDocumentSummary[];
    readonly totalCount: number;
  };
  /**
   * The subscribed resources and the lists of resources that changed since the last such event. An update without a
   * `uri` means the list of its MCP server.
   */
  resourcesUpdated: { readonly computer: string; readonly updates: readonly ResourceUpdate[] };
  /** The prompts of all MCP servers of the Computer, fetched again. */
  promptsRefreshed: { readonly computer: string; readonly prompts: readonly PromptInfo[] };
  /** All skills of the Computer, fetched again. */
  skillsRefreshed: { readonly computer: string; readonly skills: readonly SkillRef[] };
  /** A view could not be fetched again. The Agent retries after the next change. */
  refreshFailed: { readonly computer: string; readonly view: ComputerViewName; readonly error: unknown };

  /**
   * The connection was lost; the Agent is reconnecting, and new requests wait. If the Server gave a reason before it
   * closed the connection, it is in `reason`, and `farewell` has all that it said. After a farewell with
   * `reconnect: false` the Agent does not reconnect, and `failed` follows.
   */
  disconnected: { readonly reason: string; readonly farewell?: Farewell | undefined };
  /** The Agent reconnected and rejoined its office. It missed events meanwhile; views with a listener are fetched again. */
  reconnected: { readonly office: string | undefined };
  /**
   * The Agent does not reconnect: the Server refused the protocol version, the credentials or the join, or ended the
   * connection for good. Final.
   */
  failed: { readonly error: Error };
}

/** The name of an event. */
export type AgentEventName = keyof AgentEvents;

/** An event with its name as `type`. */
export type AgentEventOf<Name extends AgentEventName> = { readonly type: Name } & AgentEvents[Name];

/** Any event; a union discriminated by `type`. */
export type AgentEvent = { [Name in AgentEventName]: AgentEventOf<Name> }[AgentEventName];

/** A callback for the events of one name. An error that it throws or rejects with is logged and has no other effect. */
export type AgentListener<Name extends AgentEventName> = (event: AgentEventOf<Name>) => void | Promise<void>;

/** All events but those whose listeners make the Agent fetch a view. */
export const AGENT_NEWS: readonly AgentEventName[] = [
  "enterOffice",
  "leaveOffice",
  "updateConfig",
  "updateToolList",
  "updateDesktop",
  "updateFinder",
  "updateResources",
  "updatePrompts",
  "updateProgress",
  "cancelToolCall",
  "notification",
  "disconnected",
  "reconnected",
  "failed",
];
