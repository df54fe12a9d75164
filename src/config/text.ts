/** Reads the text of a configuration in JSON, TOML or YAML, by the name of the file or by the text itself. */
import { extname } from "@std/path";
import { readJsonText } from "./json_text.ts";
import { type ConfigText, refuseText } from "./text_places.ts";
import { readTomlText } from "./toml_text.ts";
import { readYamlText } from "./yaml_text.ts";

/** The formats of a configuration. JSON may have comments and trailing commas. */
export type ConfigFormat = "json" | "toml" | "yaml";

const READERS: Readonly<Record<ConfigFormat, (text: string) => ConfigText>> = {
  json: readJsonText,
  toml: readTomlText,
  yaml: readYamlText,
};

/** The longest TOML or YAML, in characters: their parsers use about 1,000 bytes of memory for each. */
const MAX_TEXT_LENGTH = 1024 * 1024;

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
 * Reads a text. It never throws: a syntax error becomes a problem.
 *
 * @param raw The text, with or without a byte order mark.
 * @param options `format`: guessed from the text by default.
 */
export function readConfigText(
  raw: string,
  { format = undefined }: { readonly format?: ConfigFormat | undefined } = {},
): ConfigText {
  const text = raw.startsWith("\uFEFF") ? raw.slice(1) : raw;
  const found = format ?? guessFormat(text);
  if (found !== "json" && text.length > MAX_TEXT_LENGTH) {
    const message =
      `more than ${MAX_TEXT_LENGTH} characters of ${found.toUpperCase()}; make it shorter, or write it in JSON`;
    return refuseText({ message, path: "", line: 1, column: 1 });
  }
  return READERS[found](text);
}

/** The format by the extension of a file name; `undefined` for other extensions. */
export function formatOfFile(file: string): ConfigFormat | undefined {
  return EXTENSIONS[extname(file).toLowerCase()];
}

/** The format of a text by its first line that is neither blank nor a comment; JSON when in doubt. */
export function guessFormat(raw: string): ConfigFormat {
  const text = raw.replace(/^\uFEFF/, "");
  if (/^\s*(?:\/[/*]|[{"]|$)/.test(text)) return "json";
  const first = text.split(/[\r\n]+/).find((line) => /^\s*[^\s#]/.test(line)) ?? "";
  if (/^\s*\[{1,2}[\w.\s"'-]+\]{1,2}\s*(?:#.*)?$/.test(first)) return "toml";
  if (/^\s*(?:[\w.-]+|"[^"]*"|'[^']*')\s*=/.test(first)) return "toml";
  return /^\s*(?:---|- |[\w."'-]+\s*:(?:\s|$))/.test(first) ? "yaml" : "json";
}
