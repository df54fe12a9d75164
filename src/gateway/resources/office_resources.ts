/** The resources and templates of all Computers, as clients list them. */
import { forEachBounded } from "../../async/limiter.ts";
import type { RemoteComputer } from "../../agent/remote_computer.ts";
import { isNotServed } from "../../agent/requests.ts";
import type { Json } from "../../local_tools/mcp.ts";
import type { OfficeView } from "../../agent/toolkit/office_view.ts";
import { mcpServerOf, toOwnMeta } from "../../agent/toolkit/tool_definition.ts";
import { UnsupportedRequestError } from "../../protocol/errors.ts";
import type { ResourceTemplateInfo } from "../../protocol/resource_templates.ts";
import type { ResourceInfo } from "../../protocol/resources.ts";
import type { Logger } from "../../log.ts";
import { ComputerCache, toListEntries } from "../computer_cache.ts";
import type { ResourceAddress, ResourceUris } from "./uris.ts";

/** The most resources of one Computer that are listed, and the most pages and characters of their JSON. */
const MAX_RESOURCES = 10_000;
const MAX_PAGES = 1_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;
const CONCURRENCY = 8;

export type ClientTemplate = Json & { readonly uriTemplate: string };

export interface ClientList {
  readonly resources: readonly Json[];
  readonly templates: readonly ClientTemplate[];
}

/** What was listed: a resource or a template, and where. `uri` of a template is its `uri_template`. */
interface Listed<Info> extends ResourceAddress {
  readonly info: Info;
}

interface Entry {
  readonly computer: string;
  readonly resources: readonly Listed<ResourceInfo>[];
  readonly templates: readonly Listed<ResourceTemplateInfo>[];
  /** The same for clients, made at the first use. */
  translated?: Translated;
}

interface Translated extends ClientList {
  readonly isStale: boolean;
  /** The templates on their Computer, by the template for clients. */
  readonly origins: ReadonlyMap<string, ResourceAddress>;
}

export class OfficeResources {
  readonly #view: OfficeView;
  readonly #uris: ResourceUris;
  readonly #cache: ComputerCache<Entry>;

  /** @param parts `onLate`: called when a Computer that was late has been listed. */
  constructor(
    { view, uris, logger, onLate }: {
      readonly view: OfficeView;
      readonly uris: ResourceUris;
      readonly logger: Logger;
      readonly onLate: (computer: string) => void;
    },
  ) {
    this.#view = view;
    this.#uris = uris;
    this.#cache = new ComputerCache({
      view,
      what: "resources",
      fetch: async (remote) => {
        const lists = [listResources(remote, logger), listTemplates(remote, logger)] as const;
        const [resources, templates] = await Promise.all(lists);
        return { computer: remote.name, resources, templates };
      },
      changes: ["tools", "windows", "documents", "resources"],
      onLate,
      logger,
    });
  }

  /**
   * The resources and templates of these Computers. One that does not answer in time has what it listed before.
   *
   * @throws {ProtocolError} when there are none, and a Computer refuses to list.
   */
  async list(computers: readonly string[]): Promise<ClientList> {
    const entries = await this.#cache.insist(computers);
    const untranslated = entries.filter(({ translated }) => translated === undefined);
    this.#uris.claim(untranslated.flatMap(({ resources, templates }) => [...resources, ...templates]));
    const lists = entries.map((entry) => this.#translate(entry));
    return {
      resources: lists.flatMap(({ resources }) => resources),
      templates: lists.flatMap(({ templates }) => templates),
    };
  }

  /** Where a template that was listed for clients comes from. */
  originOf(uriTemplate: string): ResourceAddress | undefined {
    for (const { translated } of this.#cache.kept) {
      const origin = translated?.origins.get(uriTemplate);
      if (origin !== undefined) return origin;
    }
    return undefined;
  }

  /** An address keeps its URI for clients, so that a translation lasts as long as its entry. */
  #translate(entry: Entry): Translated {
    const isStale = !this.#view.isReachable(entry.computer);
    if (entry.translated?.isStale === isStale) return entry.translated;
    const resources = entry.resources.map((listed) => this.#toResource(listed));
    const templates = entry.templates.map((listed) => this.#toTemplate(listed));
    const origins = new Map(
      entry.templates.map((listed, index) => [templates[index]?.uriTemplate ?? listed.uri, listed]),
    );
    return entry.translated = { resources, templates, isStale, origins };
  }

  #toResource({ info, ...address }: Listed<ResourceInfo>): Json {
    const { uri, ...rest } = info;
    return { uri: this.#uris.toClient(uri, address), ...this.#toCommon(rest, address) };
  }

  #toTemplate({ info, ...address }: Listed<ResourceTemplateInfo>): ClientTemplate {
    const { uri_template, ...rest } = info;
    return { uriTemplate: this.#uris.toClient(uri_template, address), ...this.#toCommon(rest, address) };
  }

  /** MCP demands a name. */
  #toCommon(
    { name, mime_type: mimeType, annotations, _meta, ...rest }: Omit<ResourceInfo, "uri">,
    address: ResourceAddress,
  ): Json {
    const isStale = !this.#view.isReachable(address.computer);
    return {
      ...rest,
      name: name ?? address.uri,
      ...(mimeType === undefined ? {} : { mimeType }),
      ...(annotations === undefined || annotations === null ? {} : { annotations }),
      _meta: { ..._meta, ...toOwnMeta({ ...address, isStale }) },
    };
  }
}

/** The resources of each MCP server; of a Computer that cannot list them, its windows and documents. */
async function listResources(remote: RemoteComputer, logger: Logger): Promise<Listed<ResourceInfo>[]> {
  const lists = new Map<string, Listed<ResourceInfo>[]>();
  const allowance = new Allowance();
  let isUnsupported = false;
  const servers = await listServers(remote);
  await forEachBounded(servers, CONCURRENCY, async (mcpServer) => {
    try {
      lists.set(mcpServer, await listServer(remote, { mcpServer, allowance, logger }));
    } catch (error) {
      isUnsupported ||= error instanceof UnsupportedRequestError;
    }
  });
  if (isUnsupported) return await listViews(remote, logger);
  const all = servers.flatMap((mcpServer) => lists.get(mcpServer) ?? []);
  return all.slice(0, MAX_RESOURCES);
}

/** The MCP servers that may have resources. */
async function listServers(remote: RemoteComputer): Promise<string[]> {
  try {
    const servers = await remote.getMcpServers();
    return servers
      .filter(({ capabilities }) => capabilities?.["resources"] !== undefined)
      .map(({ mcp_server }) => mcp_server);
  } catch (error) {
    if (!isNotServed(error)) throw error;
    return Object.keys((await remote.getConfig()).servers);
  }
}

/** What all MCP servers of one Computer may list together. */
class Allowance {
  #pages = MAX_PAGES;
  #resources = MAX_RESOURCES;
  #characters = MAX_CHARACTERS;

  /** Takes a page before it is asked for; `false` when nothing more may be listed. */
  takePage(): boolean {
    return this.#resources > 0 && this.#characters > 0 && this.#pages-- > 0;
  }

  take(resources: readonly unknown[]): void {
    this.#resources -= resources.length;
    this.#characters -= lengthOf(resources);
  }
}

async function listServer(
  remote: RemoteComputer,
  { mcpServer, allowance, logger }: {
    readonly mcpServer: string;
    readonly allowance: Allowance;
    readonly logger: Logger;
  },
): Promise<Listed<ResourceInfo>[]> {
  const { name: computer } = remote;
  const listed: Listed<ResourceInfo>[] = [];
  let cursor: string | undefined;
  while (allowance.takePage()) {
    const page = await remote.getResources(mcpServer, { cursor });
    allowance.take(page.resources);
    const infos = toListEntries("resource", page.resources.filter(isReadable), { computer, logger });
    for (const info of infos) listed.push({ computer, mcpServer, uri: info.uri, info });
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  return listed;
}

/** The characters of the JSON; the most for what cannot be written. */
function lengthOf(value: unknown): number {
  try {
    return JSON.stringify(value).length;
  } catch {
    return MAX_CHARACTERS;
  }
}

async function listViews(remote: RemoteComputer, logger: Logger): Promise<Listed<ResourceInfo>[]> {
  const { name: computer } = remote;
  const [windows, finder] = await Promise.all([
    remote.getWindows(),
    remote.getFinder({ limit: 100 }).catch(() => ({ documents: [] })),
  ]);
  const views = [
    ...windows.map(({ uri, title, mcpServer }) => {
      const info = { uri, mime_type: "text/plain", ...(title === undefined ? {} : { name: title, title }) };
      return { mcpServer, info };
    }),
    ...finder.documents.map(({ uri, title, summary }) => {
      const info = { uri, name: title, title, description: summary, mime_type: "application/json" };
      return { mcpServer: undefined, info };
    }),
  ];
  return views.flatMap(({ mcpServer, info }) =>
    toListEntries("resource", [info].filter(isReadable), { computer, logger })
      .map((info): Listed<ResourceInfo> => ({ computer, mcpServer, uri: info.uri, info }))
  );
}

/** Clients in other languages refuse a whole list for one URI that is none. */
function isReadable({ uri }: ResourceInfo): boolean {
  return URL.canParse(uri);
}

async function listTemplates(
  remote: RemoteComputer,
  logger: Logger,
): Promise<Listed<ResourceTemplateInfo>[]> {
  try {
    const { resourceTemplates } = await remote.getResourceTemplates();
    const about = { computer: remote.name, logger };
    return toListEntries("template", resourceTemplates.slice(0, MAX_RESOURCES), about).map((info) => {
      return { computer: remote.name, mcpServer: mcpServerOf(info._meta), uri: info.uri_template, info };
    });
  } catch (error) {
    if (isNotServed(error)) return [];
    throw error;
  }
}
