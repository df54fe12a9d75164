/** What an Agent tells its listeners: what changed in the office, refreshed views, and how its link fares. */
import type { GetComputerConfigRet } from "../protocol/config.ts";
import type { Desktop } from "../protocol/desktop.ts";
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import type { Role } from "../protocol/office.ts";
import type { ResourceUpdate } from "../protocol/resource_updates.ts";
import type { SMCPTool } from "../protocol/tools.ts";

/** Somebody came or went. */
export interface OfficeMember {
  /** The office's id. */
  readonly office: string;
  /** What it is. */
  readonly role: Role;
  /** Its name, as the Server knows it from its join. */
  readonly name: string;
}

/** Something of this Computer changed. */
export interface ComputerChange {
  /** The Computer's name. */
  readonly computer: string;
}

/** What of a Computer an Agent can keep fresh. */
export type ComputerViewName = "tools" | "config" | "desktop" | "finder" | "resources";

/**
 * The events of an Agent by name. An Agent that has a listener for one of the `…Refreshed` events fetches that view
 * anew whenever a Computer says that it changed, when a Computer comes, and after the connection was lost
 * (`docs/protocol/desktop.md#update-events`, `docs/protocol/finder.md#update-events`). A listener for `resourcesUpdated` makes it ask what changed in the same way.
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
  /** `notify:update_resources`: what was subscribed to, or a list of resources, changed; an extension of ours. */
  updateResources: ComputerChange;
  /** `notify:tool_call_cancel`: who cancelled which call. */
  cancelToolCall: { readonly agent: string; readonly reqId: string };
  /** Any other `notify:` event, of a newer peer; `body` as it came. */
  notification: { readonly event: string; readonly body: unknown };

  /** The Computer's tools, fetched anew. */
  toolsRefreshed: { readonly computer: string; readonly tools: readonly SMCPTool[] };
  /** The Computer's configuration, fetched anew. */
  configRefreshed: { readonly computer: string; readonly config: GetComputerConfigRet };
  /** The Computer's Desktop, fetched anew: all its windows. */
  desktopRefreshed: { readonly computer: string; readonly desktops: readonly Desktop[] };
  /** The Computer's Finder catalogue, fetched anew: its first 20 documents, and how many there are. */
  finderRefreshed: {
    readonly computer: string;
    readonly documents: readonly DPEDocumentSummary[];
    readonly totalCount: number;
  };
  /**
   * What changed of the resources that were subscribed to, and of the lists of resources, since the last such event. An
   * update without a `uri` is of the list of its MCP server.
   */
  resourcesUpdated: { readonly computer: string; readonly updates: readonly ResourceUpdate[] };
  /** A view could not be fetched anew; the next change tries again. */
  refreshFailed: { readonly computer: string; readonly view: ComputerViewName; readonly error: unknown };

  /** The connection is gone; the Agent is already trying to come back. Requests wait meanwhile. */
  disconnected: { readonly reason: string };
  /** Connected and in the office again. Whatever happened meanwhile was missed: views with a listener are refreshed. */
  reconnected: { readonly office: string | undefined };
  /** The Agent cannot come back: protocol version, credentials or the join refused for good. */
  failed: { readonly error: Error };
}

/** The name of an event. */
export type AgentEventName = keyof AgentEvents;

/** An event with its name as `type`. */
export type AgentEventOf<Name extends AgentEventName> = { readonly type: Name } & AgentEvents[Name];

/** Any event, told apart by `type`. */
export type AgentEvent = { [Name in AgentEventName]: AgentEventOf<Name> }[AgentEventName];

/** What is called with each event of one name. One that throws or rejects is logged and disturbs nobody. */
export type AgentListener<Name extends AgentEventName> = (event: AgentEventOf<Name>) => void | Promise<void>;

/** The events that tell what happened, without those that make the Agent fetch a view. */
export const AGENT_NEWS: readonly AgentEventName[] = [
  "enterOffice",
  "leaveOffice",
  "updateConfig",
  "updateToolList",
  "updateDesktop",
  "updateFinder",
  "updateResources",
  "cancelToolCall",
  "notification",
  "disconnected",
  "reconnected",
  "failed",
];
