/** A client for the examples that check themselves, and stdio for those that serve. */
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/inMemory"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/server/stdio"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
import process from "node:process";

/** Serves MCP on stdio until standard input is closed. */
export async function serveStdio(server: McpServer): Promise<void> {
  process.stdin.once("end", () => Deno.exit(0));
  await server.connect(new StdioServerTransport());
}

/** A client that keeps the notifications that it receives. */
export class CheckingClient implements AsyncDisposable {
  readonly client: Client = new Client({ name: "check", version: "1.0.0" });
  readonly #told = new Map<string, PromiseWithResolvers<unknown>>();

  /** Connects a client to a server in this process. */
  static async beside(server: McpServer): Promise<CheckingClient> {
    const [left, right] = InMemoryTransport.createLinkedPair();
    await server.connect(left);
    return await CheckingClient.connect(right);
  }

  /** Connects a client by a transport. */
  static async connect(transport: Transport): Promise<CheckingClient> {
    const checking = new CheckingClient();
    checking.client.fallbackNotificationHandler = ({ method, params }) => {
      checking.#told.get(method)?.resolve(params ?? {});
      checking.#told.delete(method);
      return Promise.resolve();
    };
    await checking.client.connect(transport);
    return checking;
  }

  /** Resolves to the parameters of the next notification of this method. */
  next(method: string): Promise<unknown> {
    const waiter = Promise.withResolvers<unknown>();
    this.#told.set(method, waiter);
    return waiter.promise;
  }

  /** The text of a resource. */
  async text(uri: string): Promise<string> {
    const [content] = (await this.client.readResource({ uri })).contents;
    return content !== undefined && "text" in content ? content.text : "";
  }

  /** The JSON of a resource. */
  async json(uri: string): Promise<Record<string, unknown>> {
    return JSON.parse(await this.text(uri));
  }

  /** The completions for a parameter of a template. */
  async complete(
    uri: string,
    argument: { readonly name: string; readonly value: string; readonly chosen?: Record<string, string> },
  ): Promise<string[]> {
    const { name, value, chosen } = argument;
    const { completion } = await this.client.complete({
      ref: { type: "ref/resource", uri },
      argument: { name, value },
      ...(chosen === undefined ? {} : { context: { arguments: chosen } }),
    });
    return completion.values;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}
