import { assertExists } from "@std/assert";
import { DEFINITIONS, MEMBERS } from "../../../src/formats/code/definitions.ts";

type Examples<Table> = Readonly<Record<keyof Table, readonly string[]>>;

const EXAMPLES: Examples<typeof DEFINITIONS> = {
  c: [
    "typedef struct point {",
    "using Bytes = std::vector<char>;",
    "template <class T> concept Number = true;",
    "class Store : public Base {",
    "static int main(int count, char **words) {",
    "Store() = default;",
  ],
  js: [
    "export default async function load() {",
    "export abstract class Store {",
    "const enum Level {",
    "declare interface Options {",
    "export type Pair<T> =",
    "export const MAX = 3;",
    "export default (word) => {",
    "exports.load = async function () {",
  ],
  css: ["@keyframes turn {"],
  kt: [
    "data class Point(",
    "sealed interface Shape {",
    "companion object {",
    "suspend fun load() {",
    "private val limit = 3",
    "lateinit var name",
    "typealias Names = List<String>",
    "init {",
  ],
  sh: ["function load {", "load() {"],
  py: ["async def load():", "class Store(Base):", "type Pair[T] = tuple[T, T]"],
  java: [
    "public final class Store {",
    "public @interface Named {",
    "enum Level {",
    "public record Point(int x) {",
    "void main() {",
  ],
  go: ["func (s *Store) Load() error {", "type Store struct {", "var names = []string{", "const ("],
  rs: [
    "pub(crate) async fn load() {",
    "#[derive(Debug)] pub struct Store {",
    "enum Level {",
    "union Bits {",
    "pub unsafe trait Named {",
    "impl<T> Named for Store<T> {",
    "mod tests {",
    "type Names = Vec<String>;",
    "const MAX: u8 = 3;",
    "static mut COUNT: u8 = 0;",
    "macro_rules! square {",
    "pub macro square($x:expr) {",
  ],
  rb: ["class Store < Base", "module Shop", "def load(name)"],
  php: [
    "abstract class Store {",
    "interface Shape {",
    "trait Named {",
    "enum Level: int {",
    "function load() {",
    "const MAX = 3;",
  ],
  cs: [
    "public partial class Store {",
    "internal interface IShape {",
    "readonly struct Point {",
    "[Flags] enum Level {",
    "public record Point(int X);",
    "public delegate void Changed();",
  ],
  swift: [
    "open class Store {",
    "@frozen public struct Point {",
    "indirect enum Tree {",
    "protocol Named {",
    "extension Store {",
    "actor Counter {",
    "func load() {",
    "private let limit = 3",
    "weak var owner: Store?",
    "typealias Names = [String]",
    "infix operator **",
    "precedencegroup Power {",
    "macro stringify<T>(_ value: T)",
    "init(name: String) {",
  ],
  scala: [
    "case class Point(",
    "object Main extends App {",
    "sealed trait Shape",
    "override def load() =",
    "lazy val limit = 3",
    "var count = 0",
    "opaque type Id = Int",
    "given ordering: Ordering[Int] with",
    "enum Level:",
    "extension (text: String)",
  ],
  lua: ["local function load(name)", "Store.load = function(name)"],
  sql: ["CREATE OR REPLACE FUNCTION load() RETURNS int"],
  pl: ["sub load {", "package Shop::Store;", "class Store {"],
  r: ["load <- function(name) {", 'setClass("Store",'],
  ps1: ["function Get-Store {"],
  toml: ["[[server.ports]]"],
  vue: ['<script setup lang="ts">'],
};
const MEMBER_EXAMPLES: Examples<typeof MEMBERS> = {
  js: ["async #load(name: string): Promise<void> {", "onClick = (event: Event) => {"],
  c: ["struct Node {", "void put(T value) {"],
  java: ["private static class Node {", "public <T> List<T> load(String name) throws IOException {"],
  cs: [
    "private sealed class Node {",
    "public async Task<int> Load(string name) {",
    "public override string ToString() => name;",
  ],
};

Deno.test("a definition of each form is found", () => {
  const tables = [[DEFINITIONS, EXAMPLES], [MEMBERS, MEMBER_EXAMPLES]] as const;
  for (const [patterns, examples] of tables) {
    for (const [language, pattern] of Object.entries(patterns)) {
      const own = Object.entries(examples).find(([name]) => name === language)?.[1] ?? [];
      for (const example of own) {
        assertExists(pattern.exec(example)?.groups?.["start"], `${language}: ${example}`);
      }
    }
  }
});
