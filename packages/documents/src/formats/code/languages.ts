/** The languages of source code: what is no code in them, and how their definitions begin. */
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
  /** Matches a definition, from its first modifier to its name. What is before the group `start` belongs to it. */
  readonly definition: RegExp;
  /** Matches a block whose definitions are top definitions. It may be a definition itself. */
  readonly container?: RegExp;
}

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

/** `(…)` with parentheses within it, up to three deep. */
const PARENTHESES = "\\((?:[^()]|\\((?:[^()]|\\([^()]*\\))*\\))*\\)";
/** `[…]` with brackets within it. */
const BRACKETS = "\\[(?:[^\\[\\]]|\\[[^\\[\\]]*\\])*\\]";
/** `@Named(…)`, `#[…]` or `[…]`, whichever the language has. */
const ANNOTATION = `(?:@[\\w.:]+(?:${PARENTHESES})?|(?:#!?\\s*)?${BRACKETS})`;
/** The modifiers of all languages that have keywords, since none is something else before a keyword in another one. */
const MODIFIER =
  "(?:abstract|actual|annotation|async|auto|case|companion|const|data|default|distributed|dynamic|enum|" +
  "expect|extern|external|file|fileprivate|final|fun|implicit|indirect|infix|inline|inner|internal|lateinit|lazy|" +
  "mutating|new|non-sealed|nonisolated|opaque|open|operator|override|package|partial|postfix|prefix|private|protected|" +
  "pub|public|readonly|record|ref|safe|sealed|static|strictfp|suspend|tailrec|transparent|unowned|unsafe|value|weak)" +
  // `pub(crate)`, `private[a]`, `extern "C"`
  '(?:\\s*\\([^)]*\\)|\\[\\w+\\]|\\s+"+)?';

/** The beginning of a definition by keywords, after annotations and modifiers. */
function keyworded(keywords: string): RegExp {
  return new RegExp(
    `^(?:${ANNOTATION}\\s*)*(?<start>(?:(?:${MODIFIER}|${ANNOTATION})\\s+){0,8}(?:${keywords}))`,
  );
}

/** A type or a function of C or C++ with its body, unless it initializes a variable. */
function cDefinition(): RegExp {
  const statement = "(?!(?:if|else|for|while|do|switch|return|case|goto|namespace)\\b)";
  // A macro in a line of its own, such as `FMT_BEGIN_NAMESPACE`.
  const macros = "(?:[A-Z][A-Z\\d_]{2,}(?:\\([^()\\n]*\\))?[ \\t]*\\n\\s*)*";
  const alias = "typedef\\b|(?:template\\b[^{;]*\\b)?using\\s+\\w+\\s*(?:\\[|__attribute__|=)";
  const concept = "template\\b[^;{]*\\bconcept\\s";
  const before = "(?=[\\w~:[])(?:template\\b[^{;]*|[^(={]*)";
  const type = "\\b(?:class|struct|union|enum)\\b";
  const name = "(?:[\\w>]|\\boperator\\s*(?:\\[\\s*\\]|\\(\\s*\\)|[^\\w\\s(]{1,3}))\\s*\\(";
  const isBody = "(?![^]*;$)(?![^]*(?<=[=,(]\\s{0,9})\\{$)";
  const isDefaulted = "(?=[^]*=\\s{0,9}(?:default|delete)\\s{0,9};$)";
  return new RegExp(
    `^${statement}${macros}(?<start>${alias}|${concept}|` +
      `${before}(?:(?:${type}|${name})${isBody}|${name}${isDefaulted}))`,
  );
}

const CSS: Language = {
  regions: [BLOCK, short('"'), short("'")],
  statements: "semicolon",
  definition: /^(?<start>@(?:mixin|function|keyframes|property|layer|container)\s)/,
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
    definition:
      /^(?:@[\w.]+(?:\([^()]*\))?\s*)*(?<start>(?:(?:export|default|declare|abstract|async)\s+){0,5}(?:function\b|class\b|(?:const\s+)?enum\s+\w|interface\s+[\w$\x80-\uffff]|type\s+[\w$\x80-\uffff]+\s*[=<]|(?:const|let|var)\s+[\w$\x80-\uffff]+(?![\w$\x80-\uffff]|\s+extends\b|\s*=\s*(?:await\s+)?(?:require|import)\s*\())|(?:export\s+default\s+(?:async\s*)?|[\w$]+(?:\.[\w$]+|\[[^\]]*\])+\s*=\s*(?:[\w$.]+\s*=\s*){0,4}(?:async\s*)?)(?:function\b|class\b|[\w$]+\s*=>|\([^()]*\)\s*(?::[^=]{0,100})?=>))/,
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
    definition: cDefinition(),
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
    definition: keyworded("class\\s|interface\\s|object\\s|fun[\\s<]|val\\s|var\\s|typealias\\s"),
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
    definition: /^(?<start>function\s+[\w:.@+-]+|[\w:.@+-]+\s*\(\s*\))/,
    container: /^(?:if|else|elif|\{)(?:\s|$)|\|\|\s*\{\s*$|&&\s*\{\s*$/,
  }],
  ["css", CSS],
  ["scss", { ...CSS, regions: [SLASHES, ...CSS.regions] }],
  ["py", {
    regions: [HASH, long('"""'), long("'''"), short('"'), short("'")],
    statements: "indentation",
    definition: /^(?<start>(?:async\s+)?def\s|class\s|type\s+\w+\s*[=[])/,
    container: /^(?:if|elif|else|try|except|finally|with|for|while)\b/,
  }],
  ["java", {
    regions: [SLASHES, BLOCK, long('"""'), short('"'), CHARACTER],
    statements: "semicolon",
    definition: keyworded("class\\s|@?interface\\s|enum\\s|record\\s|void\\s"),
  }],
  ["go", {
    regions: [SLASHES, BLOCK, { open: "`", end: "`" }, short('"'), CHARACTER],
    statements: "line",
    definition: /^(?<start>func[\s(]|type[\s(]|var[\s(]|const[\s(])/,
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
    definition: keyworded(
      "fn\\s|struct\\s|enum\\s|union\\s|trait\\s|impl\\b|mod\\s[^;]*$|type\\s|const\\s|static\\s|macro_rules!|macro\\s",
    ),
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
    definition: /^(?<start>class\s+[A-Z:]|module\s|def\s)/,
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
    definition: keyworded("class\\s|interface\\s|trait\\s|enum\\s|function\\s|const\\s"),
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
    definition: keyworded("class\\s|interface\\s|struct\\s|enum\\s|record\\s|delegate\\s"),
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
    definition: keyworded(
      "class\\s|struct\\s|enum\\s|protocol\\s|extension\\s|actor\\s+\\w|func\\s|let\\s|var\\s|typealias\\s|operator\\s|precedencegroup\\s|macro\\s+\\w",
    ),
  }],
  ["scala", {
    regions: [SLASHES, NESTED_BLOCK, { open: '"""', end: '"""+' }, short('"'), CHARACTER],
    statements: "indentation",
    definition: keyworded(
      "class\\s|object\\s|trait\\s|def\\s|val\\s|var\\s|type\\s|given\\s|enum\\s|extension[\\s(\\[]",
    ),
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
    definition: /^(?<start>(?:local\s+)?function\s|(?:local\s+)?[\w.[\]"]+\s*=\s*function\b)/,
    container: /^(?:if|elseif|else|do)\b/,
  }],
  ["sql", {
    regions: [DASHES, BLOCK, { open: "\\$\\w{0,60}\\$", end: escape }, { open: "'", end: "'" }, {
      open: '"',
      end: '"',
    }],
    statements: "semicolon",
    definition:
      /^(?<start>CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:\w+\s+){0,6}?(?:TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|INDEX|TYPE|SEQUENCE|SCHEMA|DATABASE|DOMAIN|ROLE|USER|EXTENSION|POLICY|RULE|AGGREGATE|OPERATOR|CAST|EVENT|PACKAGE)\b)/i,
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
    definition: /^(?<start>sub\s+\w|package\s|class\s+\w)/,
  }],
  ["r", {
    regions: [HASH, long('"'), long("'")],
    statements: "indentation",
    definition: /^(?<start>[\w.`]+\s*(?:<-|=)\s*function\b|set(?:Class|Generic|Method|RefClass)\()/,
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
    definition: /^(?<start>(?:function|filter|class|enum|workflow|configuration)\s+\w)/i,
  }],
  ["toml ini", {
    regions: [{ open: "^[ \\t]{0,40}[#;][^\\n]*", isComment: true }, { open: '"""', end: '"""' }, {
      open: "'''",
      end: "'''",
    }],
    statements: "indentation",
    definition: /^(?<start>\[\[?[^\]\n]+\])/,
  }],
  ["vue", {
    regions: [{ open: "<!--", end: "-->", isComment: true }],
    statements: "indentation",
    definition: /^(?<start><(?:template|script|style)\b)/,
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
