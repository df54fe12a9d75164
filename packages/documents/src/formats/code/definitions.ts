/** How the top definitions of each language begin, and the members of its types. */

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

/** Matches definitions of these forms, from the first modifier on: the group `start`. What is `before` belongs to none of them. */
function defined(forms: readonly RegExp[], { before = "", modifiers = "" } = {}): RegExp {
  const all = forms.map(({ source }) => source).join("|");
  return new RegExp(`^${before}(?<start>${modifiers}(?:${all}))`, forms[0]?.flags);
}

/** Matches definitions that begin with a keyword, after annotations and modifiers. */
function keyworded(form: RegExp): RegExp {
  return defined([form], {
    before: `(?:${ANNOTATION}\\s*)*`,
    modifiers: `(?:(?:${MODIFIER}|${ANNOTATION})\\s+){0,8}`,
  });
}

/** What stands in C and C++ before a name: a type, a template, attributes. */
const C_BEFORE = /(?=[\w~:[])(?:template\b[^{;]*|[^(={]*)/.source;
const C_TYPE = /\b(?:class|struct|union|enum)\b/.source;
const C_FUNCTION = /(?:[\w>]|\boperator\s*(?:\[\s*\]|\(\s*\)|[^\w\s(]{1,3}))\s*\(/.source;
/** A body, and not the value of a variable. */
const C_BODY = /(?![^]*;$)(?![^]*(?<=[=,(]\s{0,9})\{$)/.source;

const C_DEFINITION = defined([
  /typedef\b/,
  /(?:template\b[^{;]*\b)?using\s+\w+\s*(?:\[|__attribute__|=)/,
  /template\b[^;{]*\bconcept\s/,
  new RegExp(C_BEFORE + C_TYPE + C_BODY),
  new RegExp(C_BEFORE + C_FUNCTION + C_BODY),
  new RegExp(`${C_BEFORE}${C_FUNCTION}(?=[^]*=\\s{0,9}(?:default|delete)\\s{0,9};$)`),
], {
  // No other statement; and macros in lines of their own, such as `FMT_BEGIN_NAMESPACE`.
  before: /(?!(?:if|else|for|while|do|switch|return|case|goto|namespace)\b)/.source +
    /(?:[A-Z][A-Z\d_]{2,}(?:\([^()\n]*\))?[ \t]*\n\s*)*/.source,
});

const JS_EXPORT = /(?:(?:export|default|declare|abstract|async)\s+){0,5}/.source;
/** A function or a class where it is a value. */
const JS_VALUE = /(?:async\s*)?(?:function\b|class\b|[\w$]+\s*=>|\([^()]*\)\s*(?::[^=]{0,100})?=>)/.source;
/** What a variable that only names another module, or a type of that module, has after its name. */
const JS_LOADED = /[\w$\x80-\uffff]|\s+extends\b|\s*=\s*(?:await\s+)?(?:require|import)\s*\(/.source;
const JS_ASSIGNED = /[\w$]+(?:\.[\w$]+|\[[^\]]*\])+\s*=\s*(?:[\w$.]+\s*=\s*){0,4}/.source;
const JS_DECORATORS = /(?:@[\w.]+(?:\([^()]*\))?\s*)*/.source;

const JS_DEFINITION = defined([
  new RegExp(`${JS_EXPORT}function\\b`),
  new RegExp(`${JS_EXPORT}class\\b`),
  new RegExp(`${JS_EXPORT}(?:const\\s+)?enum\\s+\\w`),
  new RegExp(`${JS_EXPORT}interface\\s+[\\w$\\x80-\\uffff]`),
  new RegExp(`${JS_EXPORT}type\\s+[\\w$\\x80-\\uffff]+\\s*[=<]`),
  new RegExp(`${JS_EXPORT}(?:const|let|var)\\s+[\\w$\\x80-\\uffff]+(?!${JS_LOADED})`),
  new RegExp(`export\\s+default\\s+${JS_VALUE}`),
  new RegExp(JS_ASSIGNED + JS_VALUE),
], { before: JS_DECORATORS });

/** The definitions of the languages, by an end of file names. Each is tried at the beginning of a statement. */
export const DEFINITIONS = {
  css: defined([/@(?:mixin|function|keyframes|property|layer|container)\s/]),
  js: JS_DEFINITION,
  c: C_DEFINITION,
  kt: keyworded(
    /class\s|interface\s|object\s|fun[\s<]|val\s|var\s|typealias\s|(?:constructor\s*\(|init\s*\{)/,
  ),
  sh: defined([/function\s+[\w:.@+-]+/, /[\w:.@+-]+\s*\(\s*\)/]),
  py: defined([/(?:async\s+)?def\s|class\s|type\s+\w+\s*[=[]/]),
  java: keyworded(/class\s|@?interface\s|enum\s|record\s|void\s/),
  go: defined([/func[\s(]|type[\s(]|var[\s(]|const[\s(]/]),
  rs: keyworded(
    /fn\s|struct\s|enum\s|union\s|trait\s|impl\b|mod\s[^;]*$|type\s|const\s|static\s|macro_rules!|macro\s/,
  ),
  rb: defined([/class\s+[A-Z:]|module\s|def\s/]),
  php: keyworded(/class\s|interface\s|trait\s|enum\s|function\s|const\s/),
  cs: keyworded(/class\s|interface\s|struct\s|enum\s|record\s|delegate\s/),
  swift: keyworded(
    /class\s|struct\s|enum\s|protocol\s|extension\s|actor\s+\w|func\s|let\s|var\s|typealias\s|operator\s|precedencegroup\s|macro\s+\w|(?:init[?!]?|subscript)\s*[(<]|deinit\b/,
  ),
  scala: keyworded(
    /class\s|object\s|trait\s|def\s|val\s|var\s|type\s|given\s|enum\s|extension[\s(\[]/,
  ),
  lua: defined([/(?:local\s+)?function\s/, /(?:local\s+)?[\w.[\]"]+\s*=\s*function\b/]),
  sql: defined([
    /CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:\w+\s+){0,6}?(?:TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|INDEX|TYPE|SEQUENCE|SCHEMA|DATABASE|DOMAIN|ROLE|USER|EXTENSION|POLICY|RULE|AGGREGATE|OPERATOR|CAST|EVENT|PACKAGE)\b/i,
  ]),
  pl: defined([/sub\s+\w|package\s|class\s+\w/]),
  r: defined([/[\w.`]+\s*(?:<-|=)\s*function\b/, /set(?:Class|Generic|Method|RefClass)\(/]),
  ps1: defined([/(?:function|filter|class|enum|workflow|configuration)\s+\w/i]),
  toml: defined([/\[\[?[^\]\n]+\]/]),
  vue: defined([/<(?:template|script|style)\b/]),
} as const satisfies Readonly<Record<string, RegExp>>;

/** A method whose body follows: whatever stands before its name and its parameters has no value. */
const METHOD = /[\w$#~<*["][^(={};]*\((?=[^]*\{$)/;

/** The members of types, where they have other forms than top definitions: methods, and the types within. */
export const MEMBERS = {
  js: defined([
    METHOD,
    /[\w$#][^(={};]*=\s{0,9}(?:async\s{0,9})?(?:\([^{};]*\)|[\w$]+)[^={};]{0,200}=>\s{0,9}\{$/,
  ], { before: JS_DECORATORS }),
  c: defined([new RegExp(C_BEFORE + C_TYPE + C_BODY), new RegExp(C_BEFORE + C_FUNCTION + C_BODY)], {
    before: /(?:(?:public|private|protected)(?:\s+\w+)?\s*:(?!:)\s*)*/.source,
  }),
  java: keyworded(new RegExp(`(?:class|@?interface|enum|record)\\s|${METHOD.source}`)),
  cs: keyworded(
    new RegExp(
      `(?:class|interface|struct|enum|record)\\s|${METHOD.source}|${
        /[\w<][^(={};]*\([^{};]*\)\s{0,9}=>/.source
      }`,
    ),
  ),
} as const satisfies Readonly<Record<string, RegExp>>;
