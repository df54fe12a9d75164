/**
 * Writes `config.schema.json` and `server.schema.json`, by which editors complete a configuration of a Computer and of a
 * Server and underline its mistakes, the address of
 * `docs/oauth-client.json`, the tables of `docs/configuration.md`, the tables of the Server's options in `docs/`, and the
 * types of these options. What is allowed comes from the schemas that the Computer reads with, the descriptions from the
 * documentation of its types. `--check` writes nothing and fails when a file is out of date.
 *
 * @module
 */

import { basename, join } from "@std/path";
import { z } from "zod";
import manifest from "../deno.json" with { type: "json" };
import { DEFAULT_LIMITS } from "../src/config/limits.ts";
import { documentsEntry } from "../src/config/documents.ts";
import { flatHttpServer, flatStdioServer, URL_KEYS } from "../src/config/foreign/flat.ts";
import { isRecord } from "../src/json/json.ts";
import {
  identityProviderSettings,
  inputKinds,
  oauthSettings,
  sandbox,
  serverKinds,
  toolMeta,
} from "../src/protocol/schemas/config.ts";
import { withReference } from "./config_reference.ts";
import { SERVER_OPTION_PAGES, withServerOptions } from "./server_options.ts";
import { buildServerSchema } from "./server_schema.ts";
import { withOptionTypes } from "./server_types.ts";
import { PROTOCOL_MINORS } from "../src/protocol/version.ts";
import { captureDeno, root } from "./deno.ts";

type Schema = Record<string, unknown>;

const path = join(root, "config.schema.json");
const serverPath = join(root, "server.schema.json");
const pagePath = join(root, "docs", "configuration.md");
const clientPath = join(root, "docs", "oauth-client.json");
const serverPagePaths = SERVER_OPTION_PAGES.map((page) => join(root, "docs", page));
const serverTypesPath = join(root, "src", "server", "options", "settings.ts");

/** The schemas by the names of the interfaces that describe them. */
const named = {
  ToolMeta: toolMeta,
  OAuthSettings: oauthSettings,
  IdentityProviderSettings: identityProviderSettings,
  SandboxSettings: sandbox,
  MCPServerStdioConfig: serverKinds.stdio,
  MCPServerStreamableHttpConfig: serverKinds.streamable,
  MCPSSEConfig: serverKinds.sse,
  MCPServerPromptStringInput: inputKinds.promptString,
  MCPServerPickStringInput: inputKinds.pickString,
  MCPServerCommandInput: inputKinds.command,
  FlatStdioServer: flatStdioServer,
  FlatHttpServer: flatHttpServer,
  DocumentsEntry: documentsEntry,
};
const SERVERS = ["MCPServerStdioConfig", "MCPServerStreamableHttpConfig", "MCPSSEConfig"];
const FLAT = ["FlatStdioServer", "FlatHttpServer", "DocumentsEntry"];
const INPUTS = ["MCPServerPromptStringInput", "MCPServerPickStringInput", "MCPServerCommandInput"];
/** The interfaces of nested objects, by the member that holds them. */
const NESTED: Readonly<Record<string, string>> = {
  MCPServerStdioConfig: "MCPServerStdioParameters",
  MCPServerStreamableHttpConfig: "MCPServerStreamableHttpParameters",
  MCPSSEConfig: "MCPSSEParameters",
};

/** Where the registry serves a file once this version is published. */
function addressOf(file: string): string {
  return `https://jsr.io/${manifest.name}/${manifest.version}/${file}`;
}

/** The interfaces that describe the limits of a Computer. */
const LIMITS = ["ServerLimits", "ReadLimits", "CallLimits", "QuestionLimits", "BlobLimits", "ListLimits"];

/** The schema of a configuration in any of its forms. */
export async function buildConfigSchema(): Promise<Schema> {
  const documentation = await readDocumentation([
    "src/protocol/config.ts",
    "src/protocol/tools.ts",
    "src/config/foreign/flat.ts",
    "src/config/documents.ts",
    "src/config/limits.ts",
    "src/mcp/limits.ts",
  ]);
  const definitions = Object.fromEntries(
    Object.entries(buildDefinitions()).map(([name, schema]) => [name, describe(schema, name, documentation)]),
  );
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: addressOf("config.schema.json"),
    title: "Configuration of an A2C-SMCP Computer",
    description:
      "The MCP servers of a Computer, in the form of the specification, of VS Code, or of Claude, Cursor and others.",
    type: "object",
    // Comments and trailing commas, as VS Code's language service has it.
    allowComments: true,
    allowTrailingCommas: true,
    properties: rootProperties(),
    anyOf: [{ required: ["servers"] }, { required: ["mcpServers"] }, { required: ["mcp"] }],
    not: { required: ["servers", "mcpServers"] },
    definitions: { ...sharedDefinitions(), Limits: limitsOf(documentation), ...definitions },
  };
}

function rootProperties(): Schema {
  const servers = { description: "The MCP servers, in order of precedence.", ...reference("servers") };
  const inputs = {
    description: "Values that are no part of this file; `${input:id}` stands for them.",
    ...reference("inputs"),
  };
  return {
    $schema: { description: "Where the editor finds this schema.", type: "string" },
    servers,
    mcpServers: { ...servers, description: "The MCP servers, as Claude, Cursor and others call them." },
    inputs,
    protocol_version: {
      description:
        "The version of the A2C-SMCP protocol that the Computer speaks; 0.2 by default. It is text. An edit takes " +
        "effect when the Computer starts again.",
      enum: [...PROTOCOL_MINORS],
    },
    skills: {
      description:
        "Folders of skills, relative to this file: each folder in them with a SKILL.md is a skill.",
      type: "array",
      items: { type: "string" },
    },
    uploads: {
      description:
        "The folder for files that the Agent uploads, relative to this file; without it uploads are refused. Only with " +
        "protocol 0.4.",
      type: "string",
      minLength: 1,
    },
    limits: reference("Limits"),
    mcp: {
      description: "The configuration within VS Code's settings.json.",
      type: "object",
      properties: { servers, inputs },
    },
  };
}

function limitsOf(documentation: ReadonlyMap<string, Documentation>): Schema {
  const texts = new Map(LIMITS.flatMap((name) => [...documentation.get(name)?.members ?? []]));
  const properties = Object.entries(DEFAULT_LIMITS).map(([name, value]) => {
    const text = texts.get(name);
    if (text === undefined) throw new TypeError(`Cannot describe limit "${name}": no such member`);
    // Two sentences are enough for a table, and the default stands beside them.
    const description = text.split(/(?<=\.) /, 2).join(" ")
      .replace(`; ${value.toLocaleString("en")} by default`, "");
    return [name, { description, type: "integer", minimum: 1, default: value }];
  });
  return {
    description: "Limits that differ from the defaults. An edit takes effect when the Computer starts again.",
    type: "object",
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

function sharedDefinitions(): Schema {
  return {
    server: { anyOf: [...SERVERS, ...FLAT].map(reference) },
    servers: {
      anyOf: [
        { type: "object", additionalProperties: reference("server") },
        { type: "array", items: { allOf: [reference("server"), { required: ["name"] }] } },
      ],
    },
    inputs: { anyOf: [{ type: "array", items: { anyOf: INPUTS.map(reference) } }, { type: "null" }] },
  };
}

function buildDefinitions(): Record<string, Schema> {
  const ids = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) ids.add(schema, { id });
  const { schemas } = z.toJSONSchema(ids, {
    io: "input",
    target: "draft-7",
    uri: (id) => `#/definitions/${id}`,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _draft, $id: _id, ...schema }]) => [
      name,
      { ...schema, ...amendment(name, schema.required ?? []) },
    ]),
  );
}

/** What the schemas leave to the code: a key may be the name, and one of several members is the URL. */
function amendment(name: string, required: readonly string[]): Schema {
  if (SERVERS.includes(name)) return { required: required.filter((key) => key !== "name") };
  return name === "FlatHttpServer" ? { anyOf: URL_KEYS.map((key) => ({ required: [key] })) } : {};
}

function reference(name: string): Schema {
  return { $ref: `#/definitions/${name}` };
}

/** What an interface says of itself and of its members, inherited ones included. */
interface Documentation {
  readonly text: string;
  readonly members: ReadonlyMap<string, string>;
}

/** Puts the documentation of an interface into its schema. */
function describe(schema: Schema, name: string, documentation: ReadonlyMap<string, Documentation>): Schema {
  const { text, members } = documentation.get(name) ?? {};
  if (text === undefined) throw new TypeError(`Cannot describe schema "${name}": no such interface`);
  const properties = Object.entries(isRecord(schema["properties"]) ? schema["properties"] : {});
  const described = properties.map(([key, property]) => {
    const description = members?.get(key);
    if (!isRecord(property)) return [key, property];
    const nested = NESTED[name];
    const whole = key === "server_parameters" && nested !== undefined
      ? describe(property, nested, documentation)
      : property;
    return [key, description === undefined ? whole : { description, ...whole }];
  });
  return { description: text, ...schema, properties: Object.fromEntries(described) };
}

async function readDocumentation(files: readonly string[]): Promise<Map<string, Documentation>> {
  const { code, stdout, stderr } = await captureDeno(["doc", "--json", ...files]);
  if (code !== 0) throw new TypeError(`Cannot read the documentation: ${stderr}`);
  const interfaces = new Map(interfacesOf(JSON.parse(stdout)).map((each) => [each.name, each]));
  const membersOf = (name: string): [string, string][] => {
    const { parents = [], members = [] } = interfaces.get(name) ?? {};
    return [...parents.flatMap(membersOf), ...members];
  };
  return new Map(
    [...interfaces.values()].map(({ name, text }) => [name, { text, members: new Map(membersOf(name)) }]),
  );
}

/** What is needed of the output of `deno doc`. */
const docs = z.object({
  nodes: z.record(
    z.string(),
    z.object({
      symbols: z.array(z.object({
        name: z.string(),
        declarations: z.array(z.object({
          kind: z.string(),
          jsDoc: z.object({ doc: z.string().optional() }).optional(),
          def: z.object({
            extends: z.array(z.object({ repr: z.string().optional() })).optional(),
            properties: z.array(z.object({
              name: z.string(),
              jsDoc: z.object({ doc: z.string().optional() }).optional(),
            })).optional(),
          }).optional(),
        })),
      })),
    }),
  ),
});

function interfacesOf(output: unknown) {
  return Object.values(docs.parse(output).nodes).flatMap(({ symbols }) =>
    symbols.flatMap(({ name, declarations }) =>
      declarations.filter(({ kind }) => kind === "interface").map(({ jsDoc, def }) => ({
        name,
        text: plain(jsDoc?.doc ?? ""),
        parents: (def?.extends ?? []).flatMap(({ repr }) => repr ?? []),
        members: (def?.properties ?? []).map((member): [string, string] => [
          member.name,
          plain(member.jsDoc?.doc ?? ""),
        ]),
      }))
    )
  );
}

function plain(text: string): string {
  return text.replaceAll(/\{@link(?:code)? ([^}]+)\}/g, "`$1`").replaceAll(/\s+/g, " ").trim();
}

/** A file that this program writes, with its text as it should be. */
interface Written {
  readonly path: string;
  readonly text: string;
}

/** The schema and the pages with their tables, formatted. */
async function buildFiles(): Promise<Written[]> {
  const schema = await buildConfigSchema();
  const page = withReference(await Deno.readTextFile(pagePath), schema);
  const client: Schema = { ...JSON.parse(await Deno.readTextFile(clientPath)) };
  // A client's document is known by the address at which it stands.
  const document = { ...client, client_id: addressOf("docs/oauth-client.json") };
  const serverPages = withServerOptions(
    await Promise.all(serverPagePaths.map(async (path) => ({ path, text: await Deno.readTextFile(path) }))),
  );
  return [
    { path, text: await format(`${JSON.stringify(schema, null, 2)}\n`, "json") },
    {
      path: serverPath,
      text: await format(JSON.stringify(buildServerSchema(addressOf("server.schema.json")), null, 2), "json"),
    },
    { path: clientPath, text: await format(`${JSON.stringify(document, null, 2)}\n`, "json") },
    { path: pagePath, text: await format(page, "md") },
    ...await Promise.all(
      serverPages.map(async ({ path, text }) => ({ path, text: await format(text, "md") })),
    ),
    {
      path: serverTypesPath,
      text: await format(withOptionTypes(await Deno.readTextFile(serverTypesPath)), "ts"),
    },
  ];
}

async function format(text: string, extension: string): Promise<string> {
  const { code, stdout, stderr } = await captureDeno(["fmt", "--ext", extension, "-"], { input: text });
  if (code !== 0) throw new TypeError(`Cannot format: ${stderr}`);
  return stdout;
}

if (import.meta.main) {
  const isCheck = Deno.args.includes("--check");
  let staleFiles = 0;
  for (const { path, text } of await buildFiles()) {
    const isStale = await Deno.readTextFile(path).catch(() => "") !== text;
    if (!isCheck) await Deno.writeTextFile(path, text);
    else if (isStale) console.log(`${basename(path)} is out of date: run deno task schema`);
    if (isStale) staleFiles++;
  }
  if (isCheck && staleFiles === 0) console.log("the schemas and the tables in docs/ are up to date");
  Deno.exit(isCheck && staleFiles > 0 ? 1 : 0);
}
