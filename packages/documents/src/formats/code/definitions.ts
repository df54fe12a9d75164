/** How the top definitions of each language begin, and the members of its types. */

/** The forms of the definitions of a language. */
export interface DefinitionForms {
  /** Matches a definition, from its first modifier to its name. What is before the group `start` belongs to it. */
  readonly pattern: RegExp;
  /** How each form begins, after modifiers, with an example that it alone is for. */
  readonly forms: readonly Form[];
}

type Form = readonly [form: RegExp, example: string];

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

/** Definitions of these forms. What `before` matches belongs to none of them, `modifiers` to each. */
function defined(forms: readonly Form[], { before = "", modifiers = "" } = {}): DefinitionForms {
  const [first] = forms;
  const all = forms.map(([form]) => form.source).join("|");
  return { pattern: new RegExp(`^${before}(?<start>${modifiers}(?:${all}))`, first?.[0].flags), forms };
}

/** Definitions that begin with a keyword, after annotations and modifiers. */
function keyworded(forms: readonly Form[]): DefinitionForms {
  return defined(forms, {
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
  [/typedef\b/, "typedef struct point {"],
  [/(?:template\b[^{;]*\b)?using\s+\w+\s*(?:\[|__attribute__|=)/, "using Bytes = std::vector<char>;"],
  [/template\b[^;{]*\bconcept\s/, "template <class T> concept Number = true;"],
  [new RegExp(C_BEFORE + C_TYPE + C_BODY), "class Store : public Base {"],
  [new RegExp(C_BEFORE + C_FUNCTION + C_BODY), "static int main(int count, char **words) {"],
  [new RegExp(`${C_BEFORE}${C_FUNCTION}(?=[^]*=\\s{0,9}(?:default|delete)\\s{0,9};$)`), "Store() = default;"],
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

const JS_DEFINITION = defined([
  [new RegExp(`${JS_EXPORT}function\\b`), "export default async function load() {"],
  [new RegExp(`${JS_EXPORT}class\\b`), "export abstract class Store {"],
  [new RegExp(`${JS_EXPORT}(?:const\\s+)?enum\\s+\\w`), "const enum Level {"],
  [new RegExp(`${JS_EXPORT}interface\\s+[\\w$\\x80-\\uffff]`), "declare interface Options {"],
  [new RegExp(`${JS_EXPORT}type\\s+[\\w$\\x80-\\uffff]+\\s*[=<]`), "export type Pair<T> ="],
  [
    new RegExp(`${JS_EXPORT}(?:const|let|var)\\s+[\\w$\\x80-\\uffff]+(?!${JS_LOADED})`),
    "export const MAX = 3;",
  ],
  [new RegExp(`export\\s+default\\s+${JS_VALUE}`), "export default (word) => {"],
  [new RegExp(JS_ASSIGNED + JS_VALUE), "exports.load = async function () {"],
], { before: /(?:@[\w.]+(?:\([^()]*\))?\s*)*/.source });

/** The definitions of the languages, by an end of file names. The forms are tried at the beginning of a statement. */
export const DEFINITIONS = {
  css: defined([
    [/@(?:mixin|function|keyframes|property|layer|container)\s/, "@keyframes turn {"],
  ]),
  js: JS_DEFINITION,
  c: C_DEFINITION,
  kt: keyworded([
    [/class\s/, "data class Point("],
    [/interface\s/, "sealed interface Shape {"],
    [/object\s/, "companion object {"],
    [/fun[\s<]/, "suspend fun load() {"],
    [/val\s/, "private val limit = 3"],
    [/var\s/, "lateinit var name"],
    [/typealias\s/, "typealias Names = List<String>"],
    [/(?:constructor\s*\(|init\s*\{)/, "init {"],
  ]),
  sh: defined([
    [/function\s+[\w:.@+-]+/, "function load {"],
    [/[\w:.@+-]+\s*\(\s*\)/, "load() {"],
  ]),
  py: defined([
    [/(?:async\s+)?def\s/, "async def load():"],
    [/class\s/, "class Store(Base):"],
    [/type\s+\w+\s*[=[]/, "type Pair[T] = tuple[T, T]"],
  ]),
  java: keyworded([
    [/class\s/, "public final class Store {"],
    [/@?interface\s/, "public @interface Named {"],
    [/enum\s/, "enum Level {"],
    [/record\s/, "public record Point(int x) {"],
    [/void\s/, "void main() {"],
  ]),
  go: defined([
    [/func[\s(]/, "func (s *Store) Load() error {"],
    [/type[\s(]/, "type Store struct {"],
    [/var[\s(]/, "var names = []string{"],
    [/const[\s(]/, "const ("],
  ]),
  rs: keyworded([
    [/fn\s/, "pub(crate) async fn load() {"],
    [/struct\s/, "#[derive(Debug)] pub struct Store {"],
    [/enum\s/, "enum Level {"],
    [/union\s/, "union Bits {"],
    [/trait\s/, "pub unsafe trait Named {"],
    [/impl\b/, "impl<T> Named for Store<T> {"],
    [/mod\s[^;]*$/, "mod tests {"],
    [/type\s/, "type Names = Vec<String>;"],
    [/const\s/, "const MAX: u8 = 3;"],
    [/static\s/, "static mut COUNT: u8 = 0;"],
    [/macro_rules!/, "macro_rules! square {"],
    [/macro\s/, "pub macro square($x:expr) {"],
  ]),
  rb: defined([
    [/class\s+[A-Z:]/, "class Store < Base"],
    [/module\s/, "module Shop"],
    [/def\s/, "def load(name)"],
  ]),
  php: keyworded([
    [/class\s/, "abstract class Store {"],
    [/interface\s/, "interface Shape {"],
    [/trait\s/, "trait Named {"],
    [/enum\s/, "enum Level: int {"],
    [/function\s/, "function load() {"],
    [/const\s/, "const MAX = 3;"],
  ]),
  cs: keyworded([
    [/class\s/, "public partial class Store {"],
    [/interface\s/, "internal interface IShape {"],
    [/struct\s/, "readonly struct Point {"],
    [/enum\s/, "[Flags] enum Level {"],
    [/record\s/, "public record Point(int X);"],
    [/delegate\s/, "public delegate void Changed();"],
  ]),
  swift: keyworded([
    [/class\s/, "open class Store {"],
    [/struct\s/, "@frozen public struct Point {"],
    [/enum\s/, "indirect enum Tree {"],
    [/protocol\s/, "protocol Named {"],
    [/extension\s/, "extension Store {"],
    [/actor\s+\w/, "actor Counter {"],
    [/func\s/, "func load() {"],
    [/let\s/, "private let limit = 3"],
    [/var\s/, "weak var owner: Store?"],
    [/typealias\s/, "typealias Names = [String]"],
    [/operator\s/, "infix operator **"],
    [/precedencegroup\s/, "precedencegroup Power {"],
    [/macro\s+\w/, "macro stringify<T>(_ value: T)"],
    [/(?:init[?!]?|subscript)\s*[(<]|deinit\b/, "init(name: String) {"],
  ]),
  scala: keyworded([
    [/class\s/, "case class Point("],
    [/object\s/, "object Main extends App {"],
    [/trait\s/, "sealed trait Shape"],
    [/def\s/, "override def load() ="],
    [/val\s/, "lazy val limit = 3"],
    [/var\s/, "var count = 0"],
    [/type\s/, "opaque type Id = Int"],
    [/given\s/, "given ordering: Ordering[Int] with"],
    [/enum\s/, "enum Level:"],
    [/extension[\s(\[]/, "extension (text: String)"],
  ]),
  lua: defined([
    [/(?:local\s+)?function\s/, "local function load(name)"],
    [/(?:local\s+)?[\w.[\]"]+\s*=\s*function\b/, "Store.load = function(name)"],
  ]),
  sql: defined([
    [
      /CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:\w+\s+){0,6}?(?:TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|INDEX|TYPE|SEQUENCE|SCHEMA|DATABASE|DOMAIN|ROLE|USER|EXTENSION|POLICY|RULE|AGGREGATE|OPERATOR|CAST|EVENT|PACKAGE)\b/i,
      "CREATE OR REPLACE FUNCTION load() RETURNS int",
    ],
  ]),
  pl: defined([
    [/sub\s+\w/, "sub load {"],
    [/package\s/, "package Shop::Store;"],
    [/class\s+\w/, "class Store {"],
  ]),
  r: defined([
    [/[\w.`]+\s*(?:<-|=)\s*function\b/, "load <- function(name) {"],
    [/set(?:Class|Generic|Method|RefClass)\(/, 'setClass("Store",'],
  ]),
  ps1: defined([
    [/(?:function|filter|class|enum|workflow|configuration)\s+\w/i, "function Get-Store {"],
  ]),
  toml: defined([
    [/\[\[?[^\]\n]+\]/, "[[server.ports]]"],
  ]),
  vue: defined([
    [/<(?:template|script|style)\b/, '<script setup lang="ts">'],
  ]),
} as const satisfies Readonly<Record<string, DefinitionForms>>;

/** A method whose body follows: whatever stands before its name and its parameters has no value. */
const METHOD = /[\w$#~<*["][^(={};]*\((?=[^]*\{$)/;

/** The members of types, where they have other forms than top definitions: methods, and the types within. */
export const MEMBERS = {
  js: defined([
    [METHOD, "async #load(name: string): Promise<void> {"],
    [
      /[\w$#][^(={};]*=\s{0,9}(?:async\s{0,9})?(?:\([^{};]*\)|[\w$]+)[^={};]{0,200}=>\s{0,9}\{$/,
      "onClick = (event: Event) => {",
    ],
  ], { before: /(?:@[\w.]+(?:\([^()]*\))?\s*)*/.source }),
  c: defined([
    [new RegExp(C_BEFORE + C_TYPE + C_BODY), "struct Node {"],
    [new RegExp(C_BEFORE + C_FUNCTION + C_BODY), "void put(T value) {"],
  ], { before: /(?:(?:public|private|protected)(?:\s+\w+)?\s*:(?!:)\s*)*/.source }),
  java: keyworded([
    [/(?:class|@?interface|enum|record)\s/, "private static class Node {"],
    [METHOD, "public <T> List<T> load(String name) throws IOException {"],
  ]),
  cs: keyworded([
    [/(?:class|interface|struct|enum|record)\s/, "private sealed class Node {"],
    [METHOD, "public async Task<int> Load(string name) {"],
    [/[\w<][^(={};]*\([^{};]*\)\s{0,9}=>/, "public override string ToString() => name;"],
  ]),
} as const satisfies Readonly<Record<string, DefinitionForms>>;
