import { assert, assertEquals } from "@std/assert";
import type { HeadingContent } from "@a2c-smcp/sdk";
import { openFile } from "./_open.ts";

/** The headings of a file. */
async function outlineOf(fileName: string, code: string): Promise<string[]> {
  const { facts, page } = await openFile(fileName, code);
  const headings: string[] = [];
  for (let index = 0; index < facts.pageCount; index++) {
    for (const { category, content } of (await page(index)).elements) {
      if (category === "heading") headings.push((content as HeadingContent).text);
    }
  }
  return headings;
}

const OUTLINES: Readonly<Record<string, readonly [code: string, headings: readonly string[]]>> = {
  "a.c": [
    '#include <x.h>\n#define F(x) {\nint total = 5;\nint before(int);\ntypedef struct { int a; } point;\nstatic int\nsum(int a,\n    int b)\n{\n  if (a) { puts("}"); }\n#ifdef X\n  if (b) {\n#else\n  if (!b) {\n#endif\n  }\n}\nstatic const int table[] = { 1 };\nenum color { RED };\n',
    ["typedef struct point", "static int sum(int a, int b)", "enum color"],
  ],
  "a.cpp": [
    'namespace a::b {\nclass Later;\ntemplate <class T>\nstruct Box : Base<T> {\n  void put(T t) { }\n};\nBox::Box() : x_{1}, y_(2) {\n}\nbool operator==(Box a, Box b) { return R"(}{)"[0] == \'"\'; }\nusing Name = int;\nauto shared = [](int a) { return a; };\n}  // namespace\nextern "C" {\nint plain() { return 1\'000; }\n}\n',
    [
      "template <class T> struct Box : Base<T>",
      "Box::Box() : x_",
      "bool operator==(Box a, Box b)",
      "using Name",
      "int plain()",
    ],
  ],
  "a.cs": [
    'using X;\nnamespace A.B\n{\n    [Serializable]\n    public sealed class One<T> : Base\n    {\n        string a = @"c:\\";\n        class Inner { }\n    }\n    public delegate void Done(int a);\n    internal record Two(int A);\n}\n',
    ["public sealed class One<T> : Base", "public delegate void Done(int a)", "internal record Two(int A)"],
  ],
  "a.java": [
    'package a;\n@Named(value = "}")\npublic final class One<T>\n    extends Base {\n  class Inner {}\n  char c = \'"\';\n}\ninterface Two {}\n',
    ["public final class One<T> extends Base", "interface Two"],
  ],
  "a.go": [
    'package a\nimport "fmt"\ntype (\n  A struct{}\n)\nvar x = `\nfunc no() {}\n`\nfunc (a *A) Run(b int) error {\n  func() {}()\n}\n',
    ["type ( A struct", "var x", "func (a *A) Run(b int) error"],
  ],
  "a.rs": [
    "use a;\nmod other;\n#[derive(Debug)]\npub(crate) struct A<'a>(&'a str);\nimpl<'a> A<'a> {\n  fn inner() { let c = '{'; let r = r#\"}\"\"#; }\n}\nmacro_rules! m { () => { fn no() {} } }\nmod tests {\n  fn no() {}\n}\n",
    ["pub(crate) struct A<'a>(&'a str)", "impl<'a> A<'a>", "macro_rules! m", "mod tests"],
  ],
  "a.ts": [
    'import type { A } from "a";\nconst fs = require("fs");\nexport const half = (a = 1) => a / 2;\nconst text = `${half(`}`)}\nfunction no() {}\n`;\nexport default class One {\n  run() { return /["{]/; }\n}\ndeclare module "x" {\n  export interface Two {}\n}\nabstract class Three<T = {}> {}\nOne.prototype.stop = function () {\n};\nexport type Four = 1;\nfoo({\n  function: 1,\n});\n',
    [
      "export const half",
      "const text",
      "export default class One",
      "export interface Two",
      "abstract class Three<T",
      "One.prototype.stop = function ()",
      "export type Four",
    ],
  ],
  "a.py": [
    '"""\ndef no(): pass\n"""\nimport a\nX = 1\n@cached(\n  1)\nasync def one(a: int = 1,\n        b=2) -> str:\n    def inner(): pass\nif X:\n    class Two(Base):\n        def method(self): pass\nelse:\n    Two = None\n',
    ["async def one(a: int = 1, b=2) -> str", "class Two(Base)"],
  ],
  "a.rb": [
    "module A\n  # Text\n  class B < C\n    def inner; <<~TEXT; end\n      module No\n    TEXT\n  end\n  def self.run(x)\n  end\nend\ndef top = 1\n",
    ["module A", "class B < C", "def self.run(x)", "def top = 1"],
  ],
  "a.php": [
    "<p>function no() {}</p>\n<?php\nnamespace A;\nif (!function_exists('f')) {\n  function f(array $a = []) { return <<<EOT\n}\nfunction no() {}\nEOT;\n  }\n}\nfinal class B { public function c() {} }\n",
    ["function f(array $a = [])", "final class B"],
  ],
  "a.sh": [
    '#!/bin/sh\nit=\'\nno() {\n\'\nrun() {\n  echo "$(cat "a") # {"\n  inner() { :; }\n}\ncat <<EOF\nno() {\nEOF\nif true; then\n  function stop {\n    :\n  }\nfi\n',
    ["run()", "function stop"],
  ],
  "a.kt": [
    'package a\n/* /* */ class No */\ndata class A(val x: Int = 1)\nprivate fun <T> List<T>.second(): T {\n  val inner = "${get("}")}"\n}\nval top: Int\n  get() = 1\n',
    ["data class A(val x: Int = 1)", "private fun <T> List<T>.second(): T", "val top: Int"],
  ],
  "a.swift": [
    'import A\n@MainActor public final class B: C {\n  func inner() { print("\\(x("}"))") }\n}\nextension B {\n}\nlet a = 1\n',
    ["public final class B: C", "extension B", "let a"],
  ],
  "a.scala": [
    "package a\ncase class A(x: Int)\nobject B:\n  def inner = 1\n@main def run(): Unit = ()\n",
    ["case class A(x: Int)", "object B", "def run(): Unit = ()"],
  ],
  "a.lua": [
    "--[[\nfunction no() end\n]]\nlocal function a(x)\n  local function inner() end\nend\nM.b = function(y)\nend\n",
    ["local function a(x)", "M.b = function(y)"],
  ],
  "a.sql": [
    "-- CREATE TABLE no ();\ncreate or replace function f() returns int as $$ begin; CREATE TABLE no (); end $$;\nINSERT INTO a VALUES ('CREATE TABLE no');\nCREATE TABLE a (\n  id int\n);\n",
    [
      "create or replace function f() returns int",
      "CREATE TABLE a ( id int )",
    ],
  ],
  "a.pl": ["=pod\n\nsub no {}\n\n=cut\npackage A;\nsub run {\n}\n", ["package A", "sub run"]],
  "a.r": ["# f <- function()\nadd <- function(x) {\n  inner <- function() 1\n}\n", ["add <- function(x)"]],
  "a.ps1": ["<#\nfunction No {}\n#>\nfunction Get-It {\n}\n", ["function Get-It"]],
  "a.toml": ["# [no]\n[package]\nname = 1\n[[bin]]\n", ["[package]", "[[bin]]"]],
};

for (const [fileName, [code, headings]] of Object.entries(OUTLINES)) {
  Deno.test(`the outline of ${fileName} is its top definitions`, async () => {
    assertEquals(await outlineOf(fileName, code), headings);
    assertEquals(await outlineOf(fileName, code.replaceAll("\n", "\r\n")), headings, "with CRLF");
  });
}

Deno.test("a definition of source code begins with its comments and annotations, and no text is lost", async () => {
  const code = "x = 1\n\n# One.\n# More.\n@cached\ndef one(): pass\ndef two(): pass\n\ny = 2";
  const { elements } = await (await openFile("a.py", code)).page(0);
  assertEquals(
    elements.flatMap((element) => element.category === "code" ? [element.content.code] : []),
    ["x = 1", "# One.\n# More.\n@cached\ndef one(): pass", "def two(): pass\n\ny = 2"],
  );
});

Deno.test("a definition whose block does not end, or begins in two ways, is named once", async () => {
  assertEquals(await outlineOf("a.rs", "fn a() {\n  b();\n"), ["fn a()"]);
  assertEquals(await outlineOf("a.ts", "function a() {\n  b(\n}\nfunction c() {\n"), [
    "function a()",
    "function c()",
  ]);
  assertEquals(
    await outlineOf("a.c", "#if A\nint a(int b) {\n#else\nint a() {\n#endif\n  return 1;\n}\nint c() {\n}\n"),
    ["int a(int b)", "int a()", "int c()"],
  );
});

Deno.test("a line of source code that is longer than an element keeps its characters whole", async () => {
  const { facts, page } = await openFile("a.js", `a${"😀".repeat(50_000)}`);
  let code = "";
  for (let index = 0; index < facts.pageCount; index++) {
    for (const { category, content } of (await page(index)).elements) {
      if (category === "code") code += content.code;
    }
  }
  assertEquals(code, `a${"😀".repeat(50_000)}`);
});

Deno.test("a long title of a definition is cut, and has no half of a character", async () => {
  for (const start of ["def a", "def ab"]) {
    const [title = ""] = await outlineOf("a.py", `${start}(b="${"😀".repeat(300)}"):\n  pass\n`);
    assert(title.isWellFormed() && title.endsWith("…"), title);
    assertEquals(await outlineOf("a.py", `${start}(${" ".repeat(396 - start.length)}"😀😀"):\n`), [
      `${start}( "😀`,
    ]);
  }
});

Deno.test("a here-document of Ruby or Perl has no definitions", async () => {
  const ruby = "a = 1<<B\nb << C\nputs <<-ONE\ndef no\n  ONE\nsql = <<TWO\ndef no\nTWO\ndef yes\nend\n";
  assertEquals(await outlineOf("a.rb", ruby), ["def yes"]);
  const perl = 'my $a = 1<<B;\nprint OUT <<EOT;\nsub no {\nEOT\ndie <<"E";\npackage no\nE\nsub yes {\n}\n';
  assertEquals(await outlineOf("a.pl", perl), ["sub yes"]);
});

Deno.test("a shift of a number in a shell script begins no document", async () => {
  const shift = "x=$(( a << b ))\n(( y <<c ))\n";
  const document = "cat <<E\nno() {\nE\ncat <<<here\n";
  assertEquals(await outlineOf("a.sh", `${shift}${document}f() {\n  :\n}\n`), ["f()"]);
});

Deno.test("the summary of source code is its first comment, not a line for programs", async () => {
  const summary = async (fileName: string, code: string) => (await openFile(fileName, code)).facts.opening;
  assertEquals(
    await summary("a.rb", "#!/usr/bin/ruby\n# frozen_string_literal: true\n\n# Sends mail.\nmodule A\n"),
    "Sends mail.",
  );
  assertEquals(await summary("a.php", "<?php\n/**\n * Sends mail.\n */\nclass A {}\n"), "Sends mail.");
  for (
    const text of [
      '"""App."""\nimport os',
      "'''App.'''\nx = 1",
      '# License\n\n"""\nApp.\n"""\n',
      'r"""App."""',
    ]
  ) {
    assertEquals(await summary("a.py", text), "App.");
  }
  assertEquals(await summary("a.py", '"""App.\n\nMore\nhere."""\nimport os'), "App.\n\nMore\nhere.");
});

Deno.test("hostile source code takes a time that grows with its length alone", async () => {
  const parts = [
    "{",
    "}",
    "(",
    "a(b=c[",
    "`${",
    '"$(',
    '"""',
    "/*",
    "=/[",
    "=/[/]",
    "#{",
    "$",
    "#if\n",
    "<<A\n",
    "a(\n",
    "def a(\n",
  ];
  for (const part of [...parts, "a(){}", "@a(", "#[a", "template<class a=b(", " ", "r#"]) {
    for (const fileName of ["a.ts", "a.cc", "a.cs", "a.rs", "a.py", "a.sh", "a.rb", "a.php"]) {
      const started = performance.now();
      await openFile(fileName, part.repeat(100_000 / part.length));
      // A time that grows with the square of the length would be minutes.
      assert(performance.now() - started < 60_000, `${part} in ${fileName}`);
    }
  }
});

Deno.test("the summary of source code with a hostile comment takes a time that grows with its length alone", async () => {
  const started = performance.now();
  const { facts } = await openFile("a.py", `# a${" ".repeat(200_000)}b`);
  // A time that grows with the square of the length would be more than half a minute.
  assert(performance.now() - started < 60_000);
  assertEquals(facts.opening.trim(), "a");
});
