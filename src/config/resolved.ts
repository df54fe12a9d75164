/** A server's configuration once its placeholders are filled in, checked as strictly as its transport needs it. */
import { ConfigurationError } from "../mcp/errors.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import { resolvedServerConfig } from "../protocol/schemas/config.ts";
import { readWith } from "./explain.ts";
import { describeProblem, Findings, formatPath } from "./problem.ts";
import { checkValues } from "./values.ts";

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
