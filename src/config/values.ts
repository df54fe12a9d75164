/** What a schema cannot tell of a value. Each function gives what is wrong, and nothing where a placeholder stands. */
import { ConfigurationError } from "../mcp/errors.ts";
import { textEncodingOf } from "../mcp/stdio/text_encoding.ts";
import type { MCPServerConfig, ResolvedServerConfig } from "../protocol/config.ts";
import { resolvedServerConfig } from "../protocol/schemas/config.ts";
import { readWith } from "./explain.ts";
import { hasPlaceholder } from "./placeholders.ts";
import { type ConfigPath, describeProblem, Findings, formatPath, type ReadingPlace } from "./problem.ts";

/** Checks what a server's parameters say; `path` is that of the server's entry. */
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
    return Temporal.Duration.from(duration).total("milliseconds") > 0 ? undefined : "must be above zero";
  } catch {
    return 'must be an ISO 8601 duration such as "PT30S"';
  }
}

/** Lines are cut at the byte of a line feed, which UTF-16 also has inside of characters. */
function encodingProblem(encoding: string): string | undefined {
  try {
    textEncodingOf(encoding);
    return undefined;
  } catch {
    return 'must be the name of a text encoding that has ASCII in it, such as "utf-8", "latin-1" or "gbk"';
  }
}

/** The value may be a secret: it is not shown. */
function headerProblem(name: string, value: string): string | undefined {
  if (!isHeader(name, "")) return "is no name that a header can have";
  return isHeader(name, value) ? undefined : "must be one line of Latin characters";
}

function isHeader(name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
}

/** The URL may carry secrets: it is not shown. */
export function urlProblem(url: string): string | undefined {
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined;
  return protocol === "http:" || protocol === "https:" ? undefined : "must be an http or https URL";
}

/**
 * Checks a configuration with its placeholders filled in. Numbers and truth values may have come as texts, and the
 * other way round.
 *
 * @throws {ConfigurationError} that names the members, never their values.
 */
export function readResolved(name: string, config: unknown): ResolvedServerConfig {
  const findings = new Findings();
  const resolved = readWith(resolvedServerConfig, config, { path: [], findings });
  if (resolved !== undefined) checkValues(resolved, { path: [], findings });
  if (resolved !== undefined && findings.problems.length === 0) return resolved;
  const states = findings.problems.map(({ path, message }) =>
    describeProblem({ path: formatPath(path), message })
  );
  throw new ConfigurationError(`Cannot use the values of server "${name}": ${states.join("; ")}`);
}
