/** Checks of values that a schema cannot express. Values with placeholders pass, until those are filled in. */
import * as z from "zod";
import { ConfigurationError } from "../mcp/errors.ts";
import { textEncodingOf } from "../mcp/stdio/text_encoding.ts";
import type { MCPServerConfig, ResolvedServerConfig } from "../protocol/config.ts";
import { type Scalars, sse, stdio, streamable } from "../protocol/schemas/config.ts";
import { readWith } from "./explain.ts";
import { checkOAuth } from "./oauth.ts";
import { hasPlaceholder } from "./placeholders.ts";
import { type ConfigPath, describeProblem, Findings, formatPath, type ReadingPlace } from "./problem.ts";

/** Checks the parameters of a server; `path` is the path of the server's entry. */
export function checkValues(
  config: MCPServerConfig | ResolvedServerConfig,
  { path, findings }: ReadingPlace,
): void {
  const refuse = (member: ConfigPath, problem: string | undefined) => {
    if (problem !== undefined) findings.refuse([...path, "server_parameters", ...member], problem);
  };
  const check = (member: string, text: string, problemOf: (text: string) => string | undefined) => {
    if (!hasPlaceholder(text)) refuse([member], problemOf(text));
  };
  if (config.type === "stdio") return check("encoding", config.server_parameters.encoding, encodingProblem);
  check("url", config.server_parameters.url, urlProblem);
  for (const [name, value] of Object.entries(config.server_parameters.headers ?? {})) {
    refuse(["headers", name], headerProblem(name, hasPlaceholder(String(value)) ? "" : String(value)));
  }
  if (config.type === "sse") return;
  check("timeout", config.server_parameters.timeout, durationProblem);
  check("sse_read_timeout", config.server_parameters.sse_read_timeout, durationProblem);
}

function durationProblem(duration: string): string | undefined {
  try {
    return Temporal.Duration.from(duration).total("milliseconds") > 0 ? undefined : "must be greater than 0";
  } catch {
    return 'must be an ISO 8601 duration such as "PT30S"';
  }
}

/** Output is split at line feed bytes, which UTF-16 also has within characters. */
function encodingProblem(encoding: string): string | undefined {
  try {
    textEncodingOf(encoding);
    return undefined;
  } catch {
    return 'must be an ASCII-compatible text encoding, such as "utf-8", "latin-1" or "gbk"';
  }
}

/** The message does not contain the value, which may be a secret. */
function headerProblem(name: string, value: string): string | undefined {
  if (!isHeader(name, "")) return "is not a valid header name";
  return isHeader(name, value) ? undefined : "must be one line of Latin-1 characters";
}

function isHeader(name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
}

/** The message does not contain the URL, which may have secrets in it. */
export function urlProblem(url: string): string | undefined {
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined;
  return protocol === "http:" || protocol === "https:" ? undefined : "must be an http or https URL";
}

/** The scalars after placeholders are replaced; a value may have to be converted to another type. */
const resolved: Scalars<never> = {
  text: (schema) => z.preprocess(toText, schema),
  number: (schema) => z.preprocess(toNumber, schema),
  truth: (schema) => z.preprocess(toTruth, schema),
  choice: (schema) => z.preprocess(toText, schema),
  header: z.preprocess(toText, z.string()),
};

function toText(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}

function toNumber(value: unknown): unknown {
  return typeof value === "string" && value.trim() !== "" ? Number(value) : value;
}

function toTruth(value: unknown): unknown {
  if (value === "true") return true;
  return value === "false" ? false : value;
}

const resolvedServerConfig: z.ZodType<ResolvedServerConfig> = z.discriminatedUnion("type", [
  stdio(resolved),
  streamable(resolved),
  sse(resolved),
]);

/**
 * Checks the configuration of a server after its placeholders were filled in. Strings are converted to numbers and
 * booleans, and the other way round, where the schema needs it.
 *
 * @throws {ConfigurationError} that names the invalid members, never their values.
 */
export function readResolved(name: string, config: unknown): ResolvedServerConfig {
  const findings = new Findings();
  const resolved = readWith(resolvedServerConfig, config, { path: [], findings });
  if (resolved !== undefined) {
    checkValues(resolved, { path: [], findings });
    checkOAuth(resolved, { path: [], findings });
  }
  if (resolved !== undefined && findings.problems.length === 0) return resolved;
  const states = findings.problems.map(({ path, message }) =>
    describeProblem({ path: formatPath(path), message })
  );
  throw new ConfigurationError(`Cannot start server "${name}" with these values: ${states.join("; ")}`);
}
