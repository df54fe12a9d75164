/** The variables of other programs' files: filled in where the file's place tells the value, else made placeholders. */
import { basename, SEPARATOR } from "@std/path";
import type { ConfigForm } from "./form.ts";
import type { ReadingPlace } from "./problem.ts";
import { mapTexts } from "./placeholders.ts";
import { didYouMean } from "../spelling.ts";

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
}

/** Where a text stands, and what is known of it. */
export interface VariableContext extends ReadingPlace {
  readonly form: ConfigForm;
  readonly origin: ConfigOrigin | undefined;
}

const VARIABLE = /\$\{([^}]*)\}/g;
const FOLDERS = ["workspaceFolder", "workspaceFolderBasename", "userHome", "cwd", "pathSeparator"];
/** What only an open editor knows. */
const EDITOR =
  /^(?:config|command|extensionInstallFolder|workspaceFolder|workspaceRoot):|^(?:file|relativeFile|line|column|selected|exec|default)/;

/** Fills in the variables of one text. */
export function fillVariables(text: string, context: VariableContext): string {
  return text.replaceAll(VARIABLE, (whole, name: string) => {
    if (name.startsWith("input:")) return whole;
    if (name.startsWith("env:")) return environmentVariable(name.slice("env:".length), whole, context);
    if (name === "/" || name === "pathSeparator") return SEPARATOR;
    if (FOLDERS.includes(name)) return folder(name, whole, context);
    if (context.form === "mcpServers" && /^[A-Za-z_]\w*(?::-|$)/.test(name)) {
      return environmentVariable(name, whole, context);
    }
    return stranger(name, whole, context);
  });
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
  value: unknown,
  { path, findings }: ReadingPlace,
): void {
  mapTexts(value, (text, within) => {
    const isMeant = [...text.matchAll(VARIABLE)].some(([, name = ""]) =>
      FOLDERS.includes(name) || name === "/"
    );
    if (isMeant) {
      const message =
        'has a variable that is filled in only where there is no "server_parameters"; write its value';
      findings.warn([...path, ...within], message);
    }
    return text;
  });
}
