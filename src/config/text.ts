/** The text of a configuration in any of its formats, told by the file's name, else by how the text begins. */
import { extname } from "@std/path";
import { readJsonText } from "./json_text.ts";
import { type ConfigText, refuseText } from "./text_places.ts";
import { readTomlText } from "./toml_text.ts";
import { readYamlText } from "./yaml_text.ts";

/** The formats that a configuration comes in. In JSON comments and trailing commas may stand. */
export type ConfigFormat = "json" | "toml" | "yaml";

const READERS: Readonly<Record<ConfigFormat, (text: string) => ConfigText>> = {
  json: readJsonText,
  toml: readTomlText,
  yaml: readYamlText,
};

/** The longest TOML or YAML, in characters: their readers take a thousand times as many bytes. */
const MAX_TEXT_LENGTH = 1024 * 1024;

/** What the names of files end with. */
const EXTENSIONS: Readonly<Record<string, ConfigFormat>> = {
  ".json": "json",
  ".jsonc": "json",
  ".json5": "json",
  ".code-workspace": "json",
  ".toml": "toml",
  ".yaml": "yaml",
  ".yml": "yaml",
};

/**
 * Reads a text, however broken it is.
 *
 * @param raw The text, with or without a byte order mark.
 * @param options `format`: what it is written in; told by how it begins by default.
 */
export function readConfigText(
  raw: string,
  { format = undefined }: { readonly format?: ConfigFormat | undefined } = {},
): ConfigText {
  const text = raw.startsWith("\uFEFF") ? raw.slice(1) : raw;
  const found = format ?? guessFormat(text);
  if (found !== "json" && text.length > MAX_TEXT_LENGTH) {
    const message = `not readable: more than ${MAX_TEXT_LENGTH} characters of ${found.toUpperCase()}`;
    return refuseText({ message, path: "", line: 1, column: 1 });
  }
  return READERS[found](text);
}

/** The format that the name of a file tells, if it does. */
export function formatOfFile(file: string): ConfigFormat | undefined {
  return EXTENSIONS[extname(file).toLowerCase()];
}

/** The format of a text by its first line that is not empty and no comment; JSON when in doubt. */
export function guessFormat(raw: string): ConfigFormat {
  const text = raw.replace(/^\uFEFF/, "");
  if (/^\s*(?:\/[/*]|[{"]|$)/.test(text)) return "json";
  const first = text.split(/[\r\n]+/).find((line) => /^\s*[^\s#]/.test(line)) ?? "";
  if (/^\s*\[{1,2}[\w.\s"'-]+\]{1,2}\s*(?:#.*)?$/.test(first)) return "toml";
  if (/^\s*(?:[\w.-]+|"[^"]*"|'[^']*')\s*=/.test(first)) return "toml";
  return /^\s*(?:---|- |[\w."'-]+\s*:(?:\s|$))/.test(first) ? "yaml" : "json";
}
