/** The variables of other programs' files: filled in where the file's place tells the value, else made placeholders. */
import { basename, isAbsolute, join, SEPARATOR } from "@std/path";
import type { ConfigForm } from "../form.ts";
import { DIALECTS } from "./dialects.ts";
import type { ReadingPlace } from "../problem.ts";
import { mapTexts, replaceClosed } from "../placeholders.ts";
import { didYouMean } from "../../spelling.ts";

/** What is known of the place that a configuration was read from; absolute paths. */
export interface ConfigOrigin {
  /** `${workspaceFolder}`, and what a relative `cwd` counts from. */
  readonly workspace: string;
  /** Whether the file belongs to that folder as a project, so that its programs run there; false by default. */
  readonly isProject?: boolean | undefined;
  /** `${userHome}`. */
  readonly home?: string | undefined;
  /** `${cwd}`. */
  readonly cwd?: string | undefined;
  /** The folder that some program keeps the file in, such as `.gemini`, by which its form may be told. */
  readonly programFolder?: string | undefined;
}

/** Where a text stands, and what is known of it. */
export interface VariableContext extends ReadingPlace {
  readonly form: ConfigForm;
  readonly origin: ConfigOrigin | undefined;
  /** `$NAME` may be for a shell: where it is not filled in, it stays without a warning. */
  readonly keepsDollars?: boolean | undefined;
  /** Makes an input of a shell line that prints a value, and gives the input's placeholder; see `$(command)`. */
  readonly addCommand?: ((line: string) => string) | undefined;
}

const VARIABLE = /\$\{([^}]*)\}/g;
const FOLDERS = ["workspaceFolder", "workspaceFolderBasename", "userHome", "cwd", "pathSeparator"];
/** What only an open editor knows. */
const EDITOR =
  /^(?:config|command|extensionInstallFolder|workspaceFolder|workspaceRoot):|^(?:file|relativeFile|line|column|selected|exec|default)/;

/** `$NAME` or `${NAME}` as people write variables of the environment: in capitals. */
const SHELL_VARIABLE = /(?<![\w\\$])\$(?:[A-Z][A-Z0-9_]{2,}\b|\{[A-Z][A-Z0-9_]{2,}\})/;
const NOT_FILLED_IN = "has a $NAME that is not filled in and goes out as it stands; write ${env:NAME}";

/** Fills in the variables of one text. */
export function fillVariables(text: string, context: VariableContext): string {
  const { hasBraces, hasDollars, hasBareBraces, hasDoubleBraces, hasCommands } =
    DIALECTS[context.form].variables;
  let filled = text;
  if (hasCommands) filled = fillCommands(filled, context);
  if (hasDoubleBraces) {
    filled = filled.replaceAll(/\$\{\{\s*(?:secrets|inputs)\.([\w.-]+?)\s*\}\}/g, "$${env:$1}");
  }
  if (hasBareBraces) filled = fillBareBraces(filled, context);
  if (hasDollars) {
    // What is not set may be a variable of the shell's own
    const fallback = context.keepsDollars === true ? ":-$$$1" : "";
    filled = filled.replaceAll(/(?<!\$)\$([A-Za-z_]\w*)/g, `$\${env:$1${fallback}}`);
  }
  if (!hasDollars && !context.keepsDollars && /(?<![\w\\$])\$[A-Z][A-Z0-9_]{2,}\b/.test(text)) {
    context.findings.warn(context.path, NOT_FILLED_IN);
  }
  return replaceClosed(filled, VARIABLE, (whole, name) => {
    if (name.startsWith("input:")) return whole;
    if (name.startsWith("file:")) return `\${file:${fileOf(name.slice("file:".length), context.origin)}}`;
    if (name.startsWith("env:")) return environmentVariable(name.slice("env:".length), whole, context);
    if (name === "/" || name === "pathSeparator") return SEPARATOR;
    if (FOLDERS.includes(name)) return folder(name, whole, context);
    if (hasBraces && /^[A-Za-z_]\w*(?::-|:\?|$)/.test(name)) {
      return environmentVariable(name.replace(/:\?.*$/s, ""), whole, context);
    }
    return stranger(name, whole, context);
  });
}

/** `$(command)`, parentheses within it included. */
function fillCommands(text: string, { path, findings, addCommand }: VariableContext): string {
  let filled = "";
  let end = 0;
  for (let start = text.indexOf("$("); start >= 0; start = text.indexOf("$(", end)) {
    const close = closingParenthesis(text, start + 2);
    if (close < 0 || addCommand === undefined) {
      findings.refuse(
        path,
        'has a $(…) that cannot be read; write the value, or use an input of type "command"',
      );
      return text;
    }
    filled += text.slice(end, start) + addCommand(text.slice(start + 2, close));
    end = close + 1;
  }
  return filled + text.slice(end);
}

function closingParenthesis(text: string, from: number): number {
  let depth = 1;
  for (let index = from; index < text.length; index++) {
    if (text[index] === "(") depth++;
    if (text[index] === ")") depth--;
    if (depth === 0) return index;
  }
  return -1;
}

/** `{env:NAME}` and `{file:PATH}`, whose path counts from the file's own folder. */
function fillBareBraces(text: string, { origin }: VariableContext): string {
  return text.replaceAll(/(?<!\$)\{(env|file):([^{}]+)\}/g, (_, kind: string, named: string) => {
    const name = named.trim();
    return kind === "env" ? `\${env:${name}}` : `\${file:${fileOf(name, origin)}}`;
  });
}

/** A relative path counts from the folder of the project, `~` is the user's home. */
export function fileOf(file: string, origin: ConfigOrigin | undefined): string {
  const home = origin?.home;
  if (home !== undefined && /^~[\\/]/.test(file)) return join(home, file.slice(2));
  if (origin === undefined || isAbsolute(file) || file.startsWith("${")) return file;
  return join(origin.workspace, file);
}

/** `NAME` or `NAME:-default`, which is looked up when the server starts. */
function environmentVariable(name: string, whole: string, { path, findings }: VariableContext): string {
  if (!name.includes("${")) return `\${env:${name}}`;
  findings.refuse(path, "has a default with a variable in it; write a plain default, or leave it out");
  return whole;
}

function folder(name: string, whole: string, { origin, path, findings }: VariableContext): string {
  const value = origin === undefined ? undefined : {
    workspaceFolder: origin.workspace,
    workspaceFolderBasename: basename(origin.workspace),
    userHome: origin.home,
    cwd: origin.cwd,
  }[name];
  if (value !== undefined) return value;
  findings.refuse(path, `has "${whole}", whose value is not known here; write the folder itself`);
  return whole;
}

/** It is not shown: a secret may have such characters in it. */
function stranger(name: string, whole: string, { form, path, findings }: VariableContext): string {
  if (EDITOR.test(name) && (form === "vscode" || name.includes(":"))) {
    findings.refuse(path, "has a ${…} that only an editor can fill in; write the value, or use an input");
  } else {
    const hint = didYouMean(name, FOLDERS) || "; a variable of the environment is written ${env:NAME}";
    findings.warn(path, `has a \${…} that is passed on as it stands${hint}`);
  }
  return whole;
}

/** An entry with `server_parameters` is no other program's: its variables are not filled in. */
export function warnOfVariables(
  value: Readonly<Record<string, unknown>>,
  { path, findings }: ReadingPlace,
): void {
  const { command } = value;
  const isShellLine = typeof command === "string" && isShell(command);
  mapTexts(value, (text, within) => {
    let isMeant = false;
    replaceClosed(text, VARIABLE, (whole, name) => {
      isMeant ||= FOLDERS.includes(name) || name === "/";
      return whole;
    });
    if (isMeant) {
      const message =
        'has a variable that is filled in only where there is no "server_parameters"; write its value';
      findings.warn([...path, ...within], message);
    } else if (SHELL_VARIABLE.test(text) && !(isShellLine && within[0] === "args")) {
      findings.warn([...path, ...within], NOT_FILLED_IN);
    }
    return text;
  });
}

const SHELL = /^(?:.*[\\/])?(?:sh|bash|zsh|dash|fish|cmd|powershell|pwsh)(?:\.exe)?$/i;

/** Whether a command is a shell, whose arguments may have variables of its own in them. */
export function isShell(command: string): boolean {
  return SHELL.test(command);
}
