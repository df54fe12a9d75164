import * as z from "zod";
import type {
  IdentityProviderSettings,
  InputPlaceholder,
  MCPServerConfig,
  MCPServerInput,
  OAuthSettings,
  SandboxSettings,
} from "../config.ts";
import type { ToolMeta } from "../tools.ts";

const record = z.record(z.string(), z.unknown());

const toolMetaMembers = {
  auto_apply: z.boolean().nullish(),
  ret_object_mapper: record.nullish(),
  alias: z.string().min(1).nullish(),
  tags: z.array(z.string()).nullish(),
};

export const toolMeta: z.ZodType<ToolMeta> = z.looseObject(toolMetaMembers);
/** The keys of a tool's metadata. */
export const TOOL_META_KEYS: readonly string[] = Object.keys(toolMetaMembers);

/** Who answers the questions of an MCP server. */
export const elicitation: z.ZodType<MCPServerConfig["elicitation"]> = z.enum(["computer", "agent", "decline"])
  .nullish();
/** Who confirms the calls of an MCP server's tools. */
export const approval: z.ZodType<MCPServerConfig["approval"]> = z.enum(["computer", "agent"]).nullish();
/** What becomes of a tool that was allowed, and is another one now. */
export const onChange: z.ZodType<MCPServerConfig["on_change"]> = z.enum(["ask", "block", "allow"]).nullish();

/** Which versions of MCP to use with a server. */
export const mcpVersion: z.ZodType<MCPServerConfig["mcp_version"]> = z.enum(["2025", "2026", "auto"])
  .nullish();

/** The identity of an MCP server; `bundleIdProblem()` says which texts can be used. */
export const bundleId: z.ZodType<MCPServerConfig["bundle_id"]> = z.string().nullish();

/** The members of every MCP server. Absent members get their default, because people write these files. */
const base = {
  name: z.string().min(1),
  bundle_id: bundleId,
  disabled: z.boolean().default(false),
  forbidden_tools: z.array(z.string()).default([]),
  allowed_tools: z.array(z.string()).nullish(),
  elicitation,
  approval,
  on_change: onChange,
  mcp_version: mcpVersion,
  apps: z.boolean().nullish(),
  tool_meta: z.record(z.string(), toolMeta).default({}),
  default_tool_meta: toolMeta.nullish(),
  vrl: z.string().nullish(),
};

/** A template literal of zod is as much code in a web page as the schemas of this module together. */
const placeholder = z.string().regex(/^\$\{(?:input|env):[^}]+\}$/, { abort: true }) as z.ZodType<
  InputPlaceholder
>;

/** The schemas of the scalars in `server_parameters`; `P` is allowed in place of a number, boolean or choice. */
export interface Scalars<P> {
  text(schema: z.ZodString): z.ZodType<string>;
  number(schema: z.ZodNumber): z.ZodType<number | P>;
  truth(schema: z.ZodBoolean): z.ZodType<boolean | P>;
  choice<T extends string>(schema: z.ZodType<T>): z.ZodType<T | P>;
  /** The value of a header; the specification does not define its type. */
  readonly header: z.ZodType<unknown>;
}

/** The scalars in a file and in `client:get_config`, with placeholders. */
const written: Scalars<InputPlaceholder> = {
  text: (schema) => schema,
  number: (schema) => z.union([schema, placeholder]),
  truth: (schema) => z.union([schema, placeholder]),
  choice: (schema) => z.union([schema, placeholder]),
  header: z.unknown(),
};

const names = z.array(z.string().min(1)).nullish();
/** What an MCP server in a sandbox may reach. An unknown key is refused: it may be a limit. */
export const sandbox: z.ZodType<SandboxSettings> = z.strictObject({
  read: names,
  write: names,
  net: names,
  env: names,
  run: names,
  ffi: names,
  deny_read: names,
});

export function stdio<P>({ text, choice }: Scalars<P>) {
  return z.looseObject({
    ...base,
    type: z.literal("stdio"),
    sandbox: sandbox.nullish(),
    server_parameters: z.looseObject({
      command: text(z.string().min(1)),
      args: z.array(text(z.string())).default([]),
      env: z.record(z.string(), text(z.string())).nullable().default(null),
      cwd: text(z.string()).nullable().default(null),
      env_file: text(z.string().min(1)).nullish(),
      encoding: text(z.string()).default("utf-8"),
      encoding_error_handler: choice(z.enum(["strict", "ignore", "replace"])).default("strict"),
    }),
  });
}

function identityProvider<P>({ text }: Scalars<P>) {
  const word = text(z.string().min(1));
  return z.looseObject({
    issuer: word,
    clientId: word,
    clientSecret: word.nullish(),
    idToken: word.nullish(),
    idTokenFile: word.nullish(),
  });
}

const writtenIdentityProvider = identityProvider(written);
export const identityProviderSettings: z.ZodType<IdentityProviderSettings> = writtenIdentityProvider;
/** The keys of the settings of an identity provider. */
export const IDENTITY_PROVIDER_KEYS: readonly string[] = Object.keys(writtenIdentityProvider.shape);

/** The settings of a sign-in; their port and their choice have no placeholders. */
function oauth<P>(scalars: Scalars<P>) {
  const word = scalars.text(z.string().min(1));
  const provider = Object.is(scalars, written) ? identityProviderSettings : identityProvider(scalars);
  return z.looseObject({
    grant: z.enum(["authorization_code", "device_code", "client_credentials", "jwt_bearer"]).nullish(),
    clientId: word.nullish(),
    clientSecret: word.nullish(),
    privateKey: word.nullish(),
    keyId: word.nullish(),
    keyAlgorithm: word.nullish(),
    scopes: z.array(word).nullish(),
    resource: word.nullish(),
    issuer: word.nullish(),
    redirectPort: z.int().min(1).max(65_535).nullish(),
    clientMetadataUrl: word.nullish(),
    assertion: word.nullish(),
    assertionFile: word.nullish(),
    identityProvider: provider.nullish(),
  });
}

const writtenOAuth = oauth(written);
export const oauthSettings: z.ZodType<OAuthSettings> = writtenOAuth;
/** The keys of the settings of a sign-in. */
export const OAUTH_KEYS: readonly string[] = Object.keys(writtenOAuth.shape);

/** The members of every MCP server on the network; the schema of the documentation is that of written settings. */
function network<P>(scalars: Scalars<P>) {
  const settings = Object.is(scalars, written) ? oauthSettings : oauth(scalars);
  return { ...base, oauth: z.union([z.boolean(), settings]).nullish() };
}

export function streamable<P>(scalars: Scalars<P>) {
  const { text, truth, header } = scalars;
  return z.looseObject({
    ...network(scalars),
    type: z.literal("streamable"),
    server_parameters: z.looseObject({
      url: text(z.string().min(1)),
      headers: z.record(z.string(), header).nullable().default(null),
      timeout: text(z.string()).default("PT30S"),
      sse_read_timeout: text(z.string()).default("PT5M"),
      terminate_on_close: truth(z.boolean()).default(true),
    }),
  });
}

export function sse<P>(scalars: Scalars<P>) {
  const { text, number, header } = scalars;
  return z.looseObject({
    ...network(scalars),
    type: z.literal("sse"),
    server_parameters: z.looseObject({
      url: text(z.string().min(1)),
      headers: z.record(z.string(), header).nullable().default(null),
      timeout: number(z.number().positive()).default(5),
      sse_read_timeout: number(z.number().positive()).default(300),
    }),
  });
}

const kinds = { stdio: stdio(written), streamable: streamable(written), sse: sse(written) };

/** The schemas of the transports by name, with placeholders. */
export const serverKinds: Readonly<Record<MCPServerConfig["type"], z.ZodType<MCPServerConfig>>> = kinds;
/** The keys of an MCP server, and the keys of `server_parameters`, by transport. */
export const SERVER_KEYS: Readonly<Record<MCPServerConfig["type"], readonly string[]>> = {
  stdio: Object.keys(kinds.stdio.shape),
  streamable: Object.keys(kinds.streamable.shape),
  sse: Object.keys(kinds.sse.shape),
};
export const PARAMETER_KEYS: Readonly<Record<MCPServerConfig["type"], readonly string[]>> = {
  stdio: Object.keys(kinds.stdio.shape.server_parameters.shape),
  streamable: Object.keys(kinds.streamable.shape.server_parameters.shape),
  sse: Object.keys(kinds.sse.shape.server_parameters.shape),
};

export const serverConfig: z.ZodType<MCPServerConfig> = z.discriminatedUnion("type", [
  kinds.stdio,
  kinds.streamable,
  kinds.sse,
]);

const inputBase = { id: z.string().min(1), description: z.string().default("") };

/** From protocol 0.3.2 on, an option is `{ label, value }`; before, it is a string. */
const option = z.union([
  z.string(),
  z.looseObject({ value: z.string() }).transform(({ value }) => value),
]);

const inputs = {
  promptString: z.looseObject({
    ...inputBase,
    type: z.literal("promptString"),
    default: z.string().nullish(),
    password: z.boolean().nullish(),
  }),
  pickString: z.looseObject({
    ...inputBase,
    type: z.literal("pickString"),
    options: z.array(option).min(1),
    default: z.string().nullish(),
  }),
  command: z.looseObject({
    ...inputBase,
    type: z.literal("command"),
    command: z.string().min(1),
    args: z.record(z.string(), z.string()).nullish(),
  }),
};

/** The schemas of the types of inputs by name. */
export const inputKinds: Readonly<Record<MCPServerInput["type"], z.ZodType<MCPServerInput>>> = inputs;
/** The keys of an input by type. */
export const INPUT_KEYS: Readonly<Record<MCPServerInput["type"], readonly string[]>> = {
  promptString: Object.keys(inputs.promptString.shape),
  pickString: Object.keys(inputs.pickString.shape),
  command: Object.keys(inputs.command.shape),
};

export const input: z.ZodType<MCPServerInput> = z.discriminatedUnion("type", [
  inputs.promptString,
  inputs.pickString,
  inputs.command,
]);
