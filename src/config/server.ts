/** Reads one MCP server of a configuration, in any form. */
import { bundleIdProblem } from "../protocol/bundle_id.ts";
import { type MCPServerConfig, oauthOf, type OAuthSettings, sandboxOf } from "../protocol/config.ts";
import { isRecord } from "../json/json.ts";
import { serverKinds } from "../protocol/schemas/config.ts";
import { convertEntry } from "./foreign/convert.ts";
import { DOCUMENTS_TYPE, readDocuments } from "./documents.ts";
import { checkOAuth } from "./oauth.ts";
import { readWith, warnOfServerKeys, warnOfToolKeys, wrongWord } from "./explain.ts";
import { type ConfigEntry, isOwnEntry, nameOf } from "./form.ts";
import { readSandbox } from "./sandbox.ts";
import { checkValues } from "./values.ts";
import { fileOf, type VariableContext } from "./foreign/variables.ts";

/** Reads the entry of a server; `undefined` when it has problems, which are added to the findings. */
export function readServer(
  entry: ConfigEntry,
  context: Omit<VariableContext, "path">,
): MCPServerConfig | undefined {
  const { path, value } = entry;
  const place = { ...context, path };
  if (!isRecord(value)) {
    context.findings.refuse(path, "must be an object");
    return undefined;
  }
  const name = nameOf(entry);
  if (typeof name !== "string" || name === "") {
    context.findings.refuse([...path, "name"], "must be a non-empty string");
    return undefined;
  }
  const config = readEntry(value, name, place);
  if (config === undefined) return undefined;
  if (!isOwnEntry(value)) warnOfToolKeys(config, place);
  const idProblem = typeof config.bundle_id === "string" ? bundleIdProblem(config.bundle_id) : undefined;
  if (idProblem !== undefined) context.findings.refuse([...path, "bundle_id"], idProblem);
  const sandbox = sandboxOf(config);
  if (sandbox !== undefined) Object.assign(config, { sandbox: readSandbox(sandbox, place) });
  else if (!isOwnEntry(value) && isRecord(value["sandbox"]) && value["sandboxEnabled"] !== false) {
    const why = config.type === "stdio"
      ? 'without "sandboxEnabled": true'
      : "on a server that runs elsewhere";
    context.findings.warn([...path, "sandbox"], `has no effect ${why}`);
  }
  const oauth = oauthOf(config);
  if (typeof oauth === "object") resolveFiles(oauth, place.origin);
  checkOAuth(config, place);
  if (config.type === "sse" && config.mcp_version === "2026") {
    context.findings.warn([...path, "mcp_version"], "has no effect: HTTP with SSE always has sessions");
  }
  if (typeof config.default_tool_meta?.alias === "string") {
    const message = 'cannot name all tools the same; set the alias of one tool in "tool_meta"';
    context.findings.refuse([...path, "default_tool_meta", "alias"], message);
  }
  return config;
}

function readEntry(
  value: Readonly<Record<string, unknown>>,
  name: string,
  place: VariableContext,
): MCPServerConfig | undefined {
  if (value["type"] === DOCUMENTS_TYPE) return readDocuments(value, name, place);
  return isOwnEntry(value) ? readOwn({ ...value, name }, place) : convertEntry(value, name, place);
}

function resolveFiles(oauth: OAuthSettings, origin: VariableContext["origin"]): void {
  if (oauth.assertionFile) oauth.assertionFile = fileOf(oauth.assertionFile, origin);
  const { identityProvider } = oauth;
  if (identityProvider?.idTokenFile) {
    identityProvider.idTokenFile = fileOf(identityProvider.idTokenFile, origin);
  }
}

function readOwn(
  value: Readonly<Record<string, unknown>>,
  { path, findings, origin }: VariableContext,
): MCPServerConfig | undefined {
  const { type } = value;
  if (!isKind(type)) {
    // Many programs call it `http` or `streamable-http`.
    const isHttp = typeof type === "string" && /http/i.test(type);
    const message = wrongWord(Object.keys(serverKinds), type);
    findings.refuse([...path, "type"], isHttp ? `${message}; Streamable HTTP is "streamable"` : message);
    return undefined;
  }
  const config = readWith(serverKinds[type], value, { path, findings });
  if (config === undefined) return undefined;
  if (config.type === "stdio" && config.server_parameters.env_file) {
    config.server_parameters.env_file = fileOf(config.server_parameters.env_file, origin);
  }
  warnOfServerKeys(config, { path, findings });
  checkValues(config, { path, findings });
  return config;
}

function isKind(type: unknown): type is MCPServerConfig["type"] {
  return typeof type === "string" && Object.hasOwn(serverKinds, type);
}
