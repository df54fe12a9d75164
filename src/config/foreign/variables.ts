/** Variables in other programs' files: folders are filled in, all others become placeholders. */
import { basename, isAbsolute, join, SEPARATOR } from "@std/path";
import type { ConfigForm } from "../form.ts";
import { DIALECTS } from "./dialects.ts";
import type { ReadingPlace } from "../problem.ts";
import { replaceClosed } from "../placeholders.ts";
import { didYouMean } from "../../text/spelling.ts";

/** The place of a configuration file, as absolute paths. */
export interface ConfigOrigin {
  /** `${workspaceFolder}`; relative paths are resolved against it. */
  readonly workspace: string;
  /** Whether the file belongs to a project, so that its servers run in that folder by default; false by default. */
  readonly isProject?: boolean | undefined;
  /** `${userHome}`. */
  readonly home?: string | undefined;
  /** The folder of the user's caches. */
  readonly cache?: string | undefined;
  /** `${cwd}`. */
  readonly cwd?: string | undefined;
  /** The name of the file's folder, such as `.gemini`, by which some forms are recognized. */
  readonly programFolder?: string | undefined;
}

/** The place and the form of a text with variables. */
export interface VariableContext extends ReadingPlace {
  readonly form: ConfigForm;
  readonly origin: ConfigOrigin | undefined;
  /** Whether `$NAME` may be a shell variable, so that an unset one is passed on without a warning; false by default. */
  readonly keepsDollars?: boolean | undefined;
  /** Makes a `command` input of a shell command, and returns its placeholder; for `$(command)`. */
  readonly addCommand?: ((line: string) => string) | undefined;
}

const VARIABLE = /\$\{([^}]*)\}/g;
const FOLDERS = ["workspaceFolder", "workspaceFolderBasename", "userHome", "cwd", "pathSeparator"];
/** Variables that have a value only in an editor. */
const EDITOR =
  /^(?:config|command|extensionInstallFolder|workspaceFolder|workspaceRoot):|^(?:file|relativeFile|line|column|selected|exec|default)/;

const NOT_FILLED_IN =
  "contains a $NAME, which is passed on unchanged; write ${env:NAME} for an environment variable";

/** Fills in the variables of a text. */
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
    // The default of a variable that is not set is its own `$NAME`, for the shell.
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
    return unknownVariable(name, whole, context);
  });
}

/** Replaces each `$(command)`, which may contain parentheses. */
function fillCommands(text: string, { path, findings, addCommand }: VariableContext): string {
  let filled = "";
  let end = 0;
  for (let start = text.indexOf("$("); start >= 0; start = text.indexOf("$(", end)) {
    const close = closingParenthesis(text, start + 2);
    if (close < 0 || addCommand === undefined) {
      findings.refuse(
        path,
        'contains an invalid $(…); write the value, or use an input of type "command"',
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

/** Replaces `{env:NAME}` and `{file:PATH}`. */
function fillBareBraces(text: string, { origin }: VariableContext): string {
  return text.replaceAll(/(?<!\$)\{(env|file):([^{}]+)\}/g, (_, kind: string, named: string) => {
    const name = named.trim();
    return kind === "env" ? `\${env:${name}}` : `\${file:${fileOf(name, origin)}}`;
  });
}

/** Resolves a path against the workspace, and `~` to the user's home. */
export function fileOf(file: string, origin: ConfigOrigin | undefined): string {
  const home = origin?.home;
  if (home !== undefined && /^~[\\/]/.test(file)) return join(home, file.slice(2));
  if (origin === undefined || isAbsolute(file) || file.startsWith("${")) return file;
  return join(origin.workspace, file);
}

/** The placeholder of `NAME` or `NAME:-default`, which is filled in when the server starts. */
function environmentVariable(name: string, whole: string, { path, findings }: VariableContext): string {
  if (!name.includes("${")) return `\${env:${name}}`;
  findings.refuse(path, "contains a default with a variable in it; write a literal default, or remove it");
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
  findings.refuse(path, `contains "${whole}", whose value is unknown; write the path instead`);
  return whole;
}

/** The messages do not quote the variable: a secret may contain `${…}` as well. */
function unknownVariable(name: string, whole: string, { form, path, findings }: VariableContext): string {
  if (EDITOR.test(name) && (form === "vscode" || name.includes(":"))) {
    findings.refuse(
      path,
      "contains a ${…} that only an editor can fill in; write the value, or use an input",
    );
  } else {
    const hint = didYouMean(name, FOLDERS) || "; write ${env:NAME} for an environment variable";
    findings.warn(path, `contains an unknown \${…}, which is passed on unchanged${hint}`);
  }
  return whole;
}

const SHELL = /^(?:.*[\\/])?(?:sh|bash|zsh|dash|fish|cmd|powershell|pwsh)(?:\.exe)?$/i;

/** Whether a command is a shell, whose arguments may contain shell variables. */
export function isShell(command: string): boolean {
  return SHELL.test(command);
}
