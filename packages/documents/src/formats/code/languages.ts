/** The languages of source code: what is no code in them, and how their definitions begin. */
import { DEFINITIONS, MEMBERS } from "./definitions.ts";
import type { Region } from "./masked_code.ts";

/** What is known of a language. The expressions are tried at the beginning of a statement. */
export interface Language {
  /** What is no code. The first one that matches counts. */
  readonly regions: readonly Region[];
  /**
   * What ends a statement that is in no brackets: `;` and `{` alone, also the end of a line, or, where blocks have no
   * brackets, nothing else than the end of a line, and then a block is what is indented.
   */
  readonly statements: "semicolon" | "line" | "indentation";
  /** Matches a definition; what belongs to it begins with the group `start`. */
  readonly definition: RegExp;
  /** Matches the beginning of a definition whose members are told; no members are told without it. */
  readonly types?: RegExp;
  /** The members of types; those of a language without are like top definitions. */
  readonly member?: RegExp;
  /** Matches a block whose definitions are top definitions. It may be a definition itself. */
  readonly container?: RegExp;
}

/** A word before the parameters says that it is a type. */
const TYPE =
  /^(?:[^(]|\bpub\([^)]*\))*\b(?:class|interface|object|struct|enum|trait|impl|mod|protocol|extension|actor|record|given)\b/;

const SLASHES: Region = { open: "//[^\\n]*", isComment: true };
const HASH: Region = { open: "#[^\\n]*", isComment: true };
const DASHES: Region = { open: "--[^\\n]*", isComment: true };
const BLOCK: Region = { open: "/\\*", end: "\\*/", isComment: true };
const NESTED_BLOCK: Region = { ...BLOCK, isNested: true };
/** A single character; `'` alone is something else, such as a lifetime. */
const CHARACTER: Region = { open: "'(?:\\\\.[^'\\n]{0,10}|[^'\\\\\\n])'" };

/** A string that ends with its line at the latest. */
function short(quote: string, hole?: string): Region {
  return { open: quote, end: `${quote}|(?=\\n)`, skip: "\\\\[^]", ...(hole === undefined ? {} : { hole }) };
}

/** A string of any number of lines. */
function long(quote: string, hole?: string): Region {
  return { open: quote, end: quote, skip: "\\\\[^]", ...(hole === undefined ? {} : { hole }) };
}

/** A string up to the line that begins with the word after `open`. */
function hereDocument(open: string): Region {
  return {
    open: `${open}["']?[A-Za-z_]\\w{0,60}["']?`,
    end: (match) => `^[\\t ]*${/\w+/.exec(match)?.[0] ?? ""}\\b`,
  };
}

/** Two marks without a value before them, which they would shift or append to. */
const UNSHIFTED = "<<(?<![\\w)\\]}]<<)";

/** A line for the preprocessor. The words of conditions stay. */
const DIRECTIVE: Region = {
  open:
    "(?<=^[ \\t]{0,40}#[ \\t]{0,40}(?:if|ifdef|ifndef|else|elif|endif))\\b|^[ \\t]{0,40}#(?![ \\t]*(?:if|ifdef|ifndef|else|elif|endif)\\b)",
  skip: "\\\\\\r?\\n|/\\*[^*\\n]{0,400}\\*/",
  end: "(?=\\n|/[/*])",
  isComment: true,
};

const CSS: Language = {
  regions: [BLOCK, short('"'), short("'")],
  statements: "semicolon",
  definition: DEFINITIONS.css,
};

const LANGUAGES: readonly (readonly [extensions: string, Language])[] = [
  ["ts tsx js jsx mjs cjs", {
    regions: [
      SLASHES,
      BLOCK,
      short('"'),
      short("'"),
      long("`", "\\$\\{"),
      // A slash after an operator begins a regular expression.
      {
        open: "/(?<=(?:^|[=(,:;!&|?{}\\[+~^%<>*-]|\\breturn|\\bcase|\\btypeof)[ \\t]{0,9}/)" +
          "(?:\\\\.|\\[(?:\\\\.|[^\\]\\\\\\n]){0,100}\\]|[^/\\\\\\n\\[]){1,200}/",
      },
    ],
    statements: "line",
    definition: DEFINITIONS.js,
    types: /\bclass\b/,
    member: MEMBERS.js,
    container: /^(?:(?:export|declare)\s+){0,2}(?:namespace\s|module\s+[\w$"]|global\s*$)/,
  }],
  ["c h cc cpp hpp", {
    regions: [
      SLASHES,
      BLOCK,
      DIRECTIVE,
      { open: 'R"[^(\\s"\\\\]{0,16}\\(', end: (open) => `\\)${escape(open.slice(2, -1))}"` },
      short('"'),
      CHARACTER,
    ],
    statements: "semicolon",
    definition: DEFINITIONS.c,
    // A template of a function names types so, too.
    types: /^(?:template\b[^(]*)?[^(]*\b(?:class|struct)\b[^(]*$/,
    member: MEMBERS.c,
    container: /^(?:inline\s+)?namespace\b|^extern\s+"+\s*$/,
  }],
  ["kt", {
    regions: [
      SLASHES,
      NESTED_BLOCK,
      { open: '"""', end: '"""+', hole: "\\$\\{" },
      short('"', "\\$\\{"),
      CHARACTER,
      { open: "`", end: "`|(?=\\n)" },
    ],
    statements: "line",
    definition: DEFINITIONS.kt,
    types: TYPE,
  }],
  ["sh bash", {
    regions: [
      { open: "\\\\[^]" },
      { open: "(?<![^\\s;(])#[^\\n]*", isComment: true },
      // Between `((` and `))` it shifts a number.
      hereDocument("<<(?<!<<<|\\(\\([^\\n)]{0,80}<<)-?[ \\t]?\\\\?"),
      { open: "(?<!\\$)'", end: "'" },
      long("\\$'"),
      long('"', "\\$\\("),
    ],
    statements: "indentation",
    definition: DEFINITIONS.sh,
    container: /^(?:if|else|elif|\{)(?:\s|$)|\|\|\s*\{\s*$|&&\s*\{\s*$/,
  }],
  ["css", CSS],
  ["scss", { ...CSS, regions: [SLASHES, ...CSS.regions] }],
  ["py", {
    regions: [HASH, long('"""'), long("'''"), short('"'), short("'")],
    statements: "indentation",
    definition: DEFINITIONS.py,
    types: TYPE,
    container: /^(?:if|elif|else|try|except|finally|with|for|while)\b/,
  }],
  ["java", {
    regions: [SLASHES, BLOCK, long('"""'), short('"'), CHARACTER],
    statements: "semicolon",
    definition: DEFINITIONS.java,
    types: TYPE,
    member: MEMBERS.java,
  }],
  ["go", {
    regions: [SLASHES, BLOCK, { open: "`", end: "`" }, short('"'), CHARACTER],
    statements: "line",
    definition: DEFINITIONS.go,
  }],
  ["rs", {
    regions: [
      SLASHES,
      NESTED_BLOCK,
      { open: '\\bb?r#{0,16}"', end: (open) => `"${"#".repeat(open.split("#").length - 1)}` },
      long('"'),
      CHARACTER,
    ],
    statements: "semicolon",
    definition: DEFINITIONS.rs,
    types: TYPE,
    container: /^(?:#!?\s*\[[^\]]*\]\s*)*(?:(?:unsafe\s+)?extern\s+"*\s*$|(?!macro_rules)[\w:]+!\s*$)/,
  }],
  ["rb", {
    regions: [
      { open: "^=begin", end: "^=end", isComment: true },
      { open: "^__END__", end: "(?![^])" },
      { open: "(?<![^\\s;(])#[^\\n]*", isComment: true },
      hereDocument(`${UNSHIFTED}(?:[~-]|(?=["'A-Z]))`),
      short('"', "#\\{"),
      short("'"),
    ],
    statements: "indentation",
    definition: DEFINITIONS.rb,
    types: TYPE,
    container: /^(?:module|begin)\b/,
  }],
  ["php", {
    regions: [
      { open: "(?<![^])|\\?>", end: "<\\?(?:php|=)?", isComment: true },
      SLASHES,
      { open: "#(?!\\[)[^\\n]*", isComment: true },
      BLOCK,
      hereDocument("<<<[ \\t]?"),
      long('"'),
      long("'"),
    ],
    statements: "semicolon",
    definition: DEFINITIONS.php,
    types: TYPE,
    container: /^(?:namespace|if|else|elseif)\b/,
  }],
  ["cs", {
    regions: [
      SLASHES,
      BLOCK,
      DIRECTIVE,
      { open: '\\${0,8}"{3,16}', end: (open) => open.replaceAll("$", "") },
      { open: '(?:\\$@|@\\$|@)"', end: '"', skip: '""' },
      short('"'),
      CHARACTER,
    ],
    statements: "semicolon",
    definition: DEFINITIONS.cs,
    types: TYPE,
    member: MEMBERS.cs,
    container: /^namespace\b/,
  }],
  ["swift", {
    regions: [
      SLASHES,
      NESTED_BLOCK,
      { open: '#{1,16}"(?:"")?', end: (open) => open.split("").reverse().join("") },
      { ...long('"""', "\\\\\\("), skip: "\\\\[^(]" },
      { ...short('"', "\\\\\\("), skip: "\\\\[^(]" },
    ],
    statements: "line",
    definition: DEFINITIONS.swift,
    types: TYPE,
  }],
  ["scala", {
    regions: [SLASHES, NESTED_BLOCK, { open: '"""', end: '"""+' }, short('"'), CHARACTER],
    statements: "indentation",
    definition: DEFINITIONS.scala,
    types: TYPE,
    container: /^package\s+(?!object)[\w.]+\s*[{:]/,
  }],
  ["lua", {
    regions: [
      { open: "--\\[={0,9}\\[", end: (open) => `\\]${open.slice(3, -1)}\\]`, isComment: true },
      DASHES,
      { open: "\\[={0,9}\\[", end: (open) => `\\]${open.slice(1, -1)}\\]` },
      short('"'),
      short("'"),
    ],
    statements: "indentation",
    definition: DEFINITIONS.lua,
    container: /^(?:if|elseif|else|do)\b/,
  }],
  ["sql", {
    regions: [DASHES, BLOCK, { open: "\\$\\w{0,60}\\$", end: escape }, { open: "'", end: "'" }, {
      open: '"',
      end: '"',
    }],
    statements: "semicolon",
    definition: DEFINITIONS.sql,
  }],
  ["pl", {
    regions: [
      { open: "^=[a-z]", end: "^=cut\\b", isComment: true },
      { open: "(?<![^\\s;({])#[^\\n]*", isComment: true },
      hereDocument(`${UNSHIFTED}~?(?=["'A-Z])`),
      short('"'),
      short("'"),
    ],
    statements: "indentation",
    definition: DEFINITIONS.pl,
  }],
  ["r", {
    regions: [HASH, long('"'), long("'")],
    statements: "indentation",
    definition: DEFINITIONS.r,
  }],
  ["ps1", {
    regions: [
      { open: "<#", end: "#>", isComment: true },
      HASH,
      { open: '@"', end: '^"@' },
      { open: "@'", end: "^'@" },
      { open: '"', end: '"' },
      { open: "'", end: "'" },
    ],
    statements: "indentation",
    definition: DEFINITIONS.ps1,
  }],
  ["toml ini", {
    regions: [{ open: "^[ \\t]{0,40}[#;][^\\n]*", isComment: true }, { open: '"""', end: '"""' }, {
      open: "'''",
      end: "'''",
    }],
    statements: "indentation",
    definition: DEFINITIONS.toml,
  }],
  ["vue", {
    regions: [{ open: "<!--", end: "-->", isComment: true }],
    statements: "indentation",
    definition: DEFINITIONS.vue,
  }],
];

const languageByExtension: ReadonlyMap<string, Language> = new Map(
  LANGUAGES.flatMap(([extensions, language]) =>
    extensions.split(" ").map((extension): [string, Language] => [extension, language])
  ),
);

/** The language of files whose names end with `extension`, which is in lower case. */
export function languageOf(extension: string): Language | undefined {
  return languageByExtension.get(extension);
}

function escape(text: string): string {
  return text.replace(/[^\w]/g, "\\$&");
}
