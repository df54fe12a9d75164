/** Serves the methods of MCP for resources. */
import {
  type HandlerResultTypeMap,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from "@modelcontextprotocol/server";
import { pageOf } from "../paging.ts";
import { describeError } from "../../text/text.ts";
import type { Json } from "../../local_tools/mcp.ts";
import type { OfficeSkills } from "../skills/office_skills.ts";
import type { ScopedResources } from "./scoped_resources.ts";
import { A2C_SKILL } from "./uris.ts";
import { Follower, type ResourceSubscriptions } from "./subscriptions.ts";

const PAGE_SIZE = 500;

export interface ResourceHandlerParts {
  /** The client's name, as Computers are told it. */
  readonly clientName: () => string | undefined;
  readonly resources: ScopedResources;
  readonly skills: OfficeSkills;
  readonly computers: () => readonly string[];
  readonly subscriptions: ResourceSubscriptions;
  /** Resolves when the Computers of the office are known, or have taken too long. */
  readonly ready: () => Promise<void>;
  /** Calls the listener when a resource that somebody follows has changed, until the returned function is called. */
  readonly onResourceUpdated: (listener: (uri: string) => void) => () => void;
  /** Whether the client speaks MCP of 2025, and so says by requests what it subscribes to. */
  readonly isLegacy: boolean;
}

export function serveResources(server: Server, parts: ResourceHandlerParts): void {
  const { resources, ready } = parts;
  server.setRequestHandler("resources/list", async ({ params }) => {
    await ready();
    const keyOf = ({ uri }: Json) => String(uri);
    const { page, next } = pageOf((await resources.list()).resources, {
      size: PAGE_SIZE,
      cursor: params?.cursor,
      keyOf,
    });
    return { resources: page, ...next } as HandlerResultTypeMap["resources/list"];
  });
  server.setRequestHandler("resources/templates/list", async ({ params }) => {
    await ready();
    const keyOf = ({ uriTemplate }: Json) => String(uriTemplate);
    const { page, next } = pageOf((await resources.list()).templates, {
      size: PAGE_SIZE,
      cursor: params?.cursor,
      keyOf,
    });
    return { resourceTemplates: page, ...next } as HandlerResultTypeMap["resources/templates/list"];
  });
  server.setRequestHandler("resources/read", async ({ params: { uri } }, { mcpReq: { signal } }) => {
    await ready();
    const reading = { signal, client: parts.clientName() };
    const read = uri.startsWith(A2C_SKILL)
      ? parts.skills.read(uri, { ...reading, computers: parts.computers() })
      : resources.read(uri, reading);
    return await read as HandlerResultTypeMap["resources/read"];
  });
}

/**
 * Tells the client of changes. One of 2025 subscribes by requests; one of 2026 listens by streams, by which the SDK
 * chooses what it is told.
 *
 * @return A function that ends it.
 */
export function tellUpdates(server: Server, parts: ResourceHandlerParts): () => void {
  if (parts.isLegacy) return serveSubscriptions(server, parts);
  return parts.onResourceUpdated((uri) => sendUpdated(server, uri));
}

function serveSubscriptions(server: Server, parts: ResourceHandlerParts): () => void {
  const { resources, subscriptions, ready } = parts;
  /** By URI, from the moment of the request: it may end before the subscription is made. */
  const held = new Map<string, Promise<() => void>>();
  const follower = new Follower();
  const release = (uri: string) => {
    // A subscription that was refused is told to whoever asked for it.
    held.get(uri)?.then((end) => end(), () => undefined);
    held.delete(uri);
  };
  const follow = async (uri: string) => {
    await ready();
    const address = await resources.find(uri);
    if (address === undefined) throw new ResourceNotFoundError(uri);
    return await subscriptions.follow(uri, address, { follower }).catch((error) => {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, describeError(error));
    });
  };
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    const following = follow(uri);
    release(uri);
    held.set(uri, following);
    try {
      await following;
    } catch (error) {
      if (held.get(uri) === following) held.delete(uri);
      throw error;
    }
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    release(uri);
    return {};
  });
  const unfollow = parts.onResourceUpdated((uri) => {
    if (held.has(uri)) sendUpdated(server, uri);
  });
  return () => {
    unfollow();
    for (const uri of [...held.keys()]) release(uri);
  };
}

/** A client that is gone needs no news. */
function sendUpdated(server: Server, uri: string): void {
  if (server.transport !== undefined) server.sendResourceUpdated({ uri }).catch(() => undefined);
}
