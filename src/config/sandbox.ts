/** Reads the sandbox of an entry: its paths are those of this machine. */
import { isAbsolute, resolve } from "@std/path";
import type { SandboxSettings } from "../protocol/config.ts";
import { fileOf, type VariableContext } from "./foreign/variables.ts";

const PATHS = ["read", "write", "deny_read"] as const;

/** Resolves the paths of a sandbox against the file, and refuses those that limit nothing, or not what is meant. */
export function readSandbox(
  sandbox: SandboxSettings,
  { path, findings, origin }: Pick<VariableContext, "path" | "findings" | "origin">,
): SandboxSettings {
  const resolved = { ...sandbox };
  for (const key of PATHS) {
    resolved[key] = sandbox[key]?.map((written, index) => {
      const file = written === "*"
        ? written
        : written === "~"
        ? origin?.home ?? written
        : fileOf(written, origin);
      const problem = problemOf(file);
      if (problem !== undefined) findings.refuse([...path, "sandbox", key, index], problem);
      return isAbsolute(file) ? resolve(file) : file;
    }) ?? null;
  }
  return resolved;
}

/** What is wrong with a path of a sandbox; `undefined` when nothing is. */
function problemOf(path: string): string | undefined {
  if (path === "*") return undefined;
  if (path.includes("${")) return "cannot have a placeholder; write a path";
  if (/[*?[]/.test(path)) return 'cannot be a pattern; write a folder, or "*" for all files';
  return isAbsolute(path) ? undefined : "must be an absolute path";
}
