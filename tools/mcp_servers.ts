/**
 * Our MCP servers as catalogues and clients are told of them: the gateway to an office, and documents. `mcpName` of the npm
 * packages, `server.json` of the MCP registry and the bundles of a release are made from this.
 *
 * @module
 */

import manifest from "../deno.json" with { type: "json" };
import documents from "../packages/documents/deno.json" with { type: "json" };
import project from "../project.json" with { type: "json" };

/** The form of `server.json`; a copy of the schema is among the tests' vectors. */
export const SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/** What a person is asked for before the server starts. */
export interface Setting {
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isSecret?: boolean;
  readonly default?: string;
}

export interface McpServer {
  readonly name: "gateway" | "documents";
  readonly title: string;
  /** At most 100 characters. */
  readonly summary: string;
  readonly npmPackage: string;
}

export const GATEWAY: McpServer = {
  name: "gateway",
  title: "A2C-SMCP gateway",
  summary: "The tools, live windows and documents of other people's machines, as one MCP server",
  npmPackage: "a2c-smcp",
};

/** By the name of the option; in the environment it is `A2C_` and that name in capitals. */
export const GATEWAY_SETTINGS: Readonly<Record<"url" | "office" | "name" | "token", Setting>> = {
  url: {
    title: "Server",
    description: "The URL of the A2C-SMCP Server, such as https://hub.example.com",
    isRequired: true,
  },
  office: {
    title: "Office",
    description: "The office on the Server whose machines are used",
    isRequired: true,
  },
  name: {
    title: "Name",
    description: "How the owners of the machines see this client",
    isRequired: true,
    default: "assistant",
  },
  token: {
    title: "Token",
    description: "The token of the Server; empty where the Server needs none",
    isRequired: false,
    isSecret: true,
    default: "",
  },
};

export const DOCUMENTS: McpServer = {
  name: "documents",
  title: "A2C-SMCP documents",
  summary: "Finds and reads PDF, Office, mail, tables and texts of folders, by page and element",
  npmPackage: documents.name,
};

export const FOLDERS: Setting = {
  title: "Folders",
  description: "The folders whose files are found and read, with everything below them",
  isRequired: true,
};

/** The name in the MCP registry, which checks that the npm package bears it, too. */
export function mcpName({ name }: McpServer): string {
  const [, owner] = /^https:\/\/github\.com\/([^/]+)\//.exec(project.repository) ?? [];
  if (owner === undefined) throw new TypeError(`Cannot name "${name}": ${project.repository} has no owner`);
  return `io.github.${owner}/${name}`;
}

/** What is published to the MCP registry, by file name. */
export function toServerFiles(): ReadonlyMap<string, string> {
  const described = [
    [GATEWAY, gatewayWords()],
    [DOCUMENTS, {
      packageArguments: [{ type: "positional", valueHint: "folder", isRepeated: true, ...folder() }],
    }],
  ] as const;
  return new Map(described.map(([server, words]) => {
    const text = JSON.stringify({ ...describe(server), packages: [{ ...npm(server), ...words }] }, null, 2);
    return [`server-${server.name}.json`, `${text}\n`];
  }));
}

function describe(server: McpServer): Readonly<Record<string, unknown>> {
  return {
    $schema: SERVER_SCHEMA,
    name: mcpName(server),
    title: server.title,
    description: server.summary,
    repository: { url: project.repository, source: "github" },
    websiteUrl: project.homepage,
    version: manifest.version,
  };
}

function npm({ npmPackage }: McpServer): Readonly<Record<string, unknown>> {
  const { version } = manifest;
  return {
    registryType: "npm",
    identifier: npmPackage,
    version,
    runtimeHint: "npx",
    transport: { type: "stdio" },
  };
}

function gatewayWords(): Readonly<Record<string, unknown>> {
  const settings = Object.entries(GATEWAY_SETTINGS);
  return {
    packageArguments: [
      ...["agent", "mcp"].map((value) => ({ type: "positional", value })),
      ...settings.filter(([, { isSecret }]) => !isSecret)
        .map(([name, setting]) => ({ type: "named", name: `--${name}`, ...input(setting) })),
    ],
    environmentVariables: settings.filter(([, { isSecret }]) => isSecret)
      .map(([name, setting]) => ({ name: variableOf(name), ...input(setting) })),
  };
}

function folder(): Readonly<Record<string, unknown>> {
  return { ...input(FOLDERS), format: "filepath" };
}

function input(setting: Setting): Readonly<Record<string, unknown>> {
  const { description, isRequired, isSecret, default: usual } = setting;
  return { description, isRequired, isSecret, default: usual === "" ? undefined : usual };
}

/** The variable of the environment that the gateway reads for an option. */
export function variableOf(name: string): string {
  return `A2C_${name.toUpperCase()}`;
}
