/** All tools of a Computer by the name under which they are called. */
import type { McpTool } from "../../mcp/entries.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import {
  A2C_TOOL_META,
  type Attributes,
  type AttributeValue,
  MCP_TOOL_ANNOTATION,
  MCP_TOOL_EXECUTION,
  MCP_TOOL_ICONS,
  MCP_TOOL_TITLE,
  type SMCPTool,
  type ToolMeta,
} from "../../protocol/tools.ts";
import { buildExposedName } from "../../protocol/bundle_id.ts";
import type { SharedParts } from "../shared/shared_parts.ts";
import type { ApprovedTools, ChangedTool } from "./approved_tools.ts";
import { ToolListing } from "./listing.ts";
import type { OfficeRules } from "../shared/office_rules.ts";
import { type NamedTool, nameTools, type ServerTools } from "./names.ts";
import {
  aliasOf,
  declaredTagsOf,
  isForbidden,
  toolMetaOf,
  vrlScriptOf,
  withDeclaredTags,
} from "./settings.ts";

export type ToolRules = Pick<OfficeRules, "hasBundleIds" | "readsDeclaredTags">;

export interface ToolRoute extends NamedTool {
  readonly meta: ToolMeta | undefined;
  /** Whether it runs without a confirmation, if it has not changed. */
  readonly isAutoApplied: boolean;
  /** What has changed since the tool was allowed. */
  readonly changed?: ChangedTool | undefined;
  /** The VRL script for the results of the server. */
  readonly vrl: string | undefined;
}

export interface ToolView {
  /** As an Agent sees them, in order of precedence. */
  readonly tools: readonly SMCPTool[];
  readonly routes: ReadonlyMap<string, ToolRoute>;
  /** Names of tools that exist and must not be called. */
  readonly forbidden: ReadonlySet<string>;
  /** Tools that have changed since they were allowed, and are neither listed nor called; each says what has changed. */
  readonly setAside: ReadonlyMap<string, ToolRoute & { readonly changed: ChangedTool }>;
  readonly warnings: readonly string[];
}

interface Member {
  readonly listing: ToolListing;
  /** False while the server is failed or stopped. */
  isListed: boolean;
}

export class ToolDirectory {
  readonly #context: DirectoryContext;
  readonly #members = new Map<SupervisedServer, Member>();
  readonly #show: ShowTool;
  /** The tools now; {@linkcode ToolDirectory.update} replaces it. */
  view: ToolView = viewTools([]);

  constructor(context: DirectoryContext) {
    this.#context = context;
    this.#show = rememberShown(context.rules);
  }

  /** The tools as an Agent sees them, each with its MCP server. */
  get withServers(): readonly SMCPTool[] {
    return this.view.tools.map((tool) => {
      const server = this.view.routes.get(tool.name)?.server.name;
      return server === undefined ? tool : { ...tool, server };
    });
  }

  get namesByServer(): ReadonlyMap<string, readonly string[]> {
    const routes = Map.groupBy(this.view.routes.values(), ({ server }) => server.name);
    return new Map([...routes].map(([server, tools]) => [server, tools.map(({ name }) => name)]));
  }

  /** The servers that run, and have not yet listed their tools. */
  get awaited(): readonly string[] {
    return [...this.#members].flatMap(([server, { listing }]) => listing.isAwaited ? [server.name] : []);
  }

  /** All tools of the servers that run, in order of precedence: also those that an Agent does not see. */
  get all(): OwnerTool[] {
    const { view: { routes, setAside } } = this;
    const seen = new Map([...routes.values(), ...setAside.values()].map((route) => [route.tool, route]));
    return this.#context.fleet.servers.flatMap((server): OwnerTool[] => {
      const { listing, isListed = false } = this.#members.get(server) ?? {};
      if (!isListed) return [];
      return (listing?.tools ?? []).flatMap((tool) => {
        const route = seen.get(tool) ?? this.#hiddenRoute(server, tool);
        return route === undefined ? [] : toOwnerTool(route, { isHidden: !seen.has(tool), show: this.#show });
      });
    });
  }

  /** The route that a hidden tool would have; `undefined` for a tool that is left out for its name. */
  #hiddenRoute(server: SupervisedServer, tool: McpTool): ToolRoute | undefined {
    const { config, name: serverName } = server;
    const called = aliasOf(config, tool.name) ?? tool.name;
    const name = this.#context.rules.hasBundleIds ? buildExposedName(serverName, called) : called;
    const spellings = [tool.name, called, name];
    if (!isForbidden(config, tool.name, spellings)) return undefined;
    return { name, spellings, tool, server, ...metaOf({ server, tool }, this.#context), vrl: undefined };
  }

  /** An Agent asks for the tools: outdated lists of servers that announce no changes are read again in the background. */
  revalidate(): void {
    for (const { listing } of this.#members.values()) listing.list.revalidate();
  }

  /** Adds a server of the fleet; its tools appear when its first session has listed them. */
  add(server: SupervisedServer): void {
    const listing = new ToolListing(server, { ...this.#context, onChange: () => this.update() });
    this.#members.set(server, { listing, isListed: false });
  }

  /** Removes a server; its tools leave with the next {@linkcode ToolDirectory.update}. */
  remove(server: SupervisedServer): void {
    this.#members.get(server)?.listing.list.onStopped();
    this.#members.delete(server);
  }

  /** A new session of the server runs. */
  onRunning(server: SupervisedServer): void {
    this.#members.get(server)?.listing.onRunning();
    this.#list(server, { isListed: true });
  }

  /** The server is failed or stopped: its tools leave until it runs again. */
  onStopped(server: SupervisedServer): void {
    this.#members.get(server)?.listing.list.onStopped();
    this.#list(server, { isListed: false });
  }

  /** `notifications/tools/list_changed`. */
  onChanged(server: SupervisedServer): void {
    this.#members.get(server)?.listing.list.onChanged();
  }

  /** Names and lists all tools again; calls `onChange` when an Agent would see a difference. */
  update(): void {
    const before = this.view.tools;
    const servers = this.#context.fleet.servers.map((server) => {
      const { listing, isListed = false } = this.#members.get(server) ?? {};
      return { server, tools: listing?.tools ?? [], isListed };
    });
    const { rules, approved, autoApply } = this.#context;
    // A tool could change into one that only reads.
    const isAnyAllowed = autoApply === "reads";
    const changeOf: ChangeOf = (route) =>
      approved.changeOf(route, { isAutoApplied: isAnyAllowed || route.isAutoApplied });
    this.view = viewTools(servers, { rules, show: this.#show, changeOf, autoApply });
    for (const warning of this.view.warnings) this.#context.warnOnce.warn(warning);
    if (!isSameList(before, this.view.tools)) this.#context.onChange("tools");
  }

  /** The route of a tool by its server and its own name, also of one that is set aside. */
  routeOf({ server, tool }: Pick<OwnerTool, "server" | "tool">): ToolRoute | undefined {
    const { routes, setAside } = this.view;
    return [...routes.values(), ...setAside.values()].find((route) =>
      route.server.name === server && route.tool.name === tool
    );
  }

  /** Resolves when no list of this server is on its way. */
  async settled(server: SupervisedServer): Promise<void> {
    await this.#members.get(server)?.listing.list.settled();
  }

  #list(server: SupervisedServer, { isListed }: { readonly isListed: boolean }): void {
    const member = this.#members.get(server);
    if (member === undefined || member.isListed === isListed) return;
    member.isListed = isListed;
    this.update();
  }
}

/** A tool that is shown as before is the same object as before: see {@linkcode rememberShown}. */
function isSameList(before: readonly SMCPTool[], after: readonly SMCPTool[]): boolean {
  return before.length === after.length && before.every((tool, index) => tool === after[index]);
}

/** The tools that run without a confirmation where the configuration sets no `auto_apply`; by default none. */
interface Unasked {
  readonly autoApply?: "all" | "reads" | undefined;
}

/** What decides whether a tool is still what a person has allowed. */
export interface Approving {
  readonly approved: ApprovedTools;
}

type DirectoryContext = SharedParts & Approving & Unasked;

/** A tool as the owner of the Computer sees it. */
export interface OwnerTool {
  /** As an Agent sees it, or would see it, with its MCP server. */
  readonly shown: SMCPTool;
  /** The own name of the tool. */
  readonly tool: string;
  /** The MCP server by which the office knows it. */
  readonly server: string;
  /** The names by which a list of hidden tools may mean it. */
  readonly spellings: readonly string[];
  /** Whether it runs without a confirmation, if it has not changed. */
  readonly isAutoApplied: boolean;
  /** Whether the configuration hides it from the Agent. */
  readonly isHidden: boolean;
  /** What has changed since it was allowed; `undefined` when nothing has. It is set aside if `isBlocked`. */
  readonly changed: ChangedTool | undefined;
}

function toOwnerTool(
  route: ToolRoute,
  { isHidden, show }: { readonly isHidden: boolean; readonly show: ShowTool },
): OwnerTool {
  const { tool, server, spellings, isAutoApplied, changed } = route;
  return {
    shown: { ...show(route), server: server.name },
    tool: tool.name,
    server: server.name,
    spellings,
    isAutoApplied,
    isHidden,
    changed,
  };
}

type ShowTool = (route: ToolRoute) => SMCPTool;
type ChangeOf = (route: ToolRoute) => ChangedTool | undefined;

/** Lists the tools of all servers, given in order of precedence; by default as protocol 0.2 does. */
export function viewTools(
  servers: readonly ServerTools[],
  options: Unasked & {
    readonly rules?: ToolRules;
    readonly show?: ShowTool;
    readonly changeOf?: ChangeOf;
  } = {},
): ToolView {
  const {
    rules = { hasBundleIds: false, readsDeclaredTags: false },
    show = (route) => toSmcpTool(route, rules),
  } = options;
  const { changeOf = () => undefined } = options;
  const { named, forbidden, warnings: naming } = nameTools(servers, rules);
  const warnings = [...naming, ...(rules.readsDeclaredTags ? declarationWarnings(servers) : [])];
  const tools: SMCPTool[] = [];
  const routes = new Map<string, ToolRoute>();
  const setAside = new Map<string, ToolRoute & { readonly changed: ChangedTool }>();
  for (const each of named) {
    const route = { ...each, ...metaOf(each, options), vrl: vrlScriptOf(each.server.config) };
    const changed = changeOf(route);
    if (changed?.isBlocked === true) {
      setAside.set(each.name, { ...route, changed });
      continue;
    }
    tools.push(show(route));
    routes.set(each.name, changed === undefined ? route : { ...route, changed });
  }
  return { tools, routes, forbidden, setAside, warnings };
}

function metaOf(
  { server, tool }: Pick<ToolRoute, "server" | "tool">,
  { autoApply }: Unasked,
): Pick<ToolRoute, "meta" | "isAutoApplied"> {
  const meta = toolMetaOf(server.config, tool.name);
  const isUnasked = autoApply === "all" ||
    autoApply === "reads" && tool.annotations?.["readOnlyHint"] === true;
  return { meta, isAutoApplied: meta?.auto_apply ?? isUnasked };
}

/** One warning for each server that declares metadata of tools in another form than expected. */
function declarationWarnings(servers: readonly ServerTools[]): string[] {
  return servers.filter(({ isListed }) => isListed).flatMap(({ server: { name }, tools }) => {
    const invalid = tools.filter(({ meta }) => declaredTagsOf(meta) === "invalid");
    if (invalid.length === 0) return [];
    const [first] = invalid;
    const others = invalid.length === 1 ? "" : ` and of ${invalid.length - 1} others`;
    return [
      `server "${name}": "${A2C_TOOL_META}" of tool "${first?.name}"${others} is ignored: it must be an object whose ` +
      '"tags" are a list of texts',
    ];
  });
}

/** {@linkcode toSmcpTool}, which gives the same object for a tool that is listed, named and configured as before. */
function rememberShown(rules: ToolRules): ShowTool {
  const remembered = new WeakMap<McpTool, { readonly key: string; readonly shown: SMCPTool }>();
  return (route) => {
    const { name, tool, server, meta } = route;
    const key = JSON.stringify([name, server.name, meta]);
    const last = remembered.get(tool);
    if (last?.key === key) return last.shown;
    const shown = toSmcpTool(route, rules);
    remembered.set(tool, { key, shown });
    return shown;
  };
}

function toSmcpTool({ name, tool, server, meta: configured }: ToolRoute, rules: ToolRules): SMCPTool {
  const meta = rules.readsDeclaredTags ? withDeclaredTags(configured, declaredTagsOf(tool.meta)) : configured;
  const { title, description, inputSchema, outputSchema, annotations, icons, execution } = tool;
  const attributes = flatten(tool.meta);
  if (annotations !== undefined) attributes[MCP_TOOL_ANNOTATION] = JSON.stringify(annotations);
  if (title !== undefined) attributes[MCP_TOOL_TITLE] = title;
  if (icons !== undefined) attributes[MCP_TOOL_ICONS] = JSON.stringify(icons);
  if (execution !== undefined) attributes[MCP_TOOL_EXECUTION] = JSON.stringify(execution);
  // Only the Computer writes this key: an MCP server must not forge it.
  delete attributes[A2C_TOOL_META];
  if (meta !== undefined) attributes[A2C_TOOL_META] = JSON.stringify(meta);
  return {
    name,
    ...(rules.hasBundleIds ? { bundle_id: server.name } : {}),
    description,
    params_schema: inputSchema,
    return_schema: outputSchema,
    meta: attributes,
  };
}

/** Nested values become JSON strings. Nulls are left out: some peers cannot read them. */
function flatten(meta: Readonly<Record<string, unknown>>): Attributes {
  const flat: [string, AttributeValue][] = [];
  for (const [key, value] of Object.entries(meta)) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      flat.push([key, value]);
    } else if (value !== null && value !== undefined) flat.push([key, JSON.stringify(value)]);
  }
  return Object.fromEntries(flat);
}
