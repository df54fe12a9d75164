import { assertEquals } from "@std/assert";
import { isUnknown, kindOf, kindOfContent } from "../../../src/formats/kinds.ts";
import { markdownOf, openFile, pagesOf } from "./_open.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

/** The kind of a file with this name and content, as a folder finds it. */
function kindFor(name: string, content: string | Uint8Array): string | undefined {
  if (!isUnknown(name)) return kindOf(name);
  return kindOfContent(typeof content === "string" ? utf8(content) : content, name);
}

Deno.test("a file of any name is a document when it begins as a text", () => {
  const names = ["README", "Dockerfile", "app.log.1", "settings.conf", "main.zig", "schema.proto", "a.b c"];
  for (const name of names) assertEquals(kindFor(name, "first line\nsecond line\n"), "plain", name);
  const utf16 = new Uint8Array(
    [..."\ufeffHello\n"].flatMap((letter) => [letter.charCodeAt(0) & 255, letter.charCodeAt(0) >> 8]),
  );
  assertEquals(kindFor("letter", utf16), "plain");
  const latin = Uint8Array.from(
    "Die Stra\xdfe ist alt, und die G\xfcte auch. ".repeat(3),
    (letter) => letter.charCodeAt(0),
  );
  assertEquals(kindFor("letter", latin), "plain");
  assertEquals(kindFor("letter", utf8("né".repeat(2048)).subarray(0, 4096)), "plain");
  assertEquals(kindFor("scan", "%PDF-1.4\n%âãÏÓ\n"), "pdf");
  assertEquals(kindFor("page.aspx", "\n<!DOCTYPE html>\n<html>"), "html");
});

Deno.test("other data, keys of programs and what compilers make are no documents", () => {
  assertEquals(kindFor("empty", ""), undefined);
  assertEquals(kindFor("program", "\x7fELF\x02\x01\x01\0\0\0\0"), undefined);
  const noise = Uint8Array.from({ length: 4096 }, (_, at) => (at * at * 31 + (at >> 3) * 7 + 1) % 251 + 1);
  assertEquals(kindFor("noise", noise), undefined);
  assertEquals(kindFor("noise", noise.subarray(0, 40)), undefined);
  assertEquals(kindFor("id_rsa", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n"), undefined);
  assertEquals(kindFor("login.ppk", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n"), undefined);
  assertEquals(kindFor("keys", "# created: 2026-11-29\nAGE-SECRET-KEY-1QQPQY\n"), undefined);
  const bundle = "-----BEGIN CERTIFICATE-----\n" + "MIIBszCC\n".repeat(600);
  assertEquals([kindFor("tls", bundle), kindFor("server.pem", "-----BEGIN CERTIFICATE")], [
    undefined,
    undefined,
  ]);
  assertEquals(kindFor("prod.env", "PASSWORD=hunter2\n"), undefined);
  for (const name of ["main.o", "A.class", "app.js.map", "notes.txt~", "film.part"]) {
    assertEquals(kindFor(name, "text"), undefined, name);
  }
});

Deno.test("a name that texts have as well tells a kind that is not read only where the content is no text", () => {
  assertEquals(kindFor("talk.key", "PK\x03\x04\x14\0\0\0"), "other");
  assertEquals(kindFor("server.key", "-----BEGIN PUBLIC KEY-----\n"), "plain");
  assertEquals(kindFor("talk.mp3", "text"), "other");
});

Deno.test("a text for people is read as text, others as code", async () => {
  assertEquals(await markdownOf(await openFile("README", "Apples\n======\n\nThey are *good*.\n")), [
    "# Apples\n\nThey are *good*.",
  ]);
  const makefile = "# Build all\nall: a.o\n\tcc -o a a.o\n";
  assertEquals(await markdownOf(await openFile("Makefile", makefile)), [`\`\`\`makefile\n${makefile}\`\`\``]);
  assertEquals(await markdownOf(await openFile("app.log.2", "12:00 [main] a=b\n")), [
    "```log\n12:00 [main] a=b\n```",
  ]);
  const letter = "Dear Ada,\nthe apples are here, and they are as good as those of the last year.\n";
  assertEquals(await markdownOf(await openFile("letter", letter)), [letter.trim()]);
});

Deno.test("a script without an end of its name is read in the language that runs it", async () => {
  const { facts } = await openFile(
    "tool",
    '#!/usr/bin/env python3\n"""Counts apples."""\ndef count():\n  pass\n',
  );
  assertEquals(facts.headings, ["def count()"]);
  assertEquals(facts.opening, "Counts apples.");
});

Deno.test("lines of JSON are a table where each is a record", async () => {
  const lines = '{"a": 1, "b": "x"}\n\n{"a": 1.50, "b": "y"}\n';
  assertEquals(await markdownOf(await openFile("a.jsonl", lines)), [
    "| a | b |\n| --- | --- |\n| 1 | x |\n| 1.50 | y |",
  ]);
  const nested = '{"a": {"b": 1}}\n{"a": []}\n';
  assertEquals(await markdownOf(await openFile("a.ndjson", nested)), [`\`\`\`jsonl\n${nested}\`\`\``]);
});

Deno.test("LaTeX has its headings, and the rest as it is written", async () => {
  const text =
    "\\documentclass{article}\n\\title{On \\emph{Apples}}\n\\begin{document}\n\\section[short]{Intro {\\bf now}}\\label{a}\n" +
    "Apples.\nMore.\n\\begin{equation}\nE=mc^2\n\\end{equation}\n\\subsection*{Deep \\& wide}\n\\begin{verbatim}\nx\n" +
    "\\end{verbatim}\n\\begin{align}\nnot ended\n\\end{document}\n";
  const [page] = await pagesOf(await openFile("a.tex", text));
  assertEquals(page, [
    "On Apples",
    ["p0-heading-1", { level: 1, text: "On Apples" }],
    ["p0-code-1", { language: "latex", code: "\\documentclass{article}\n\\title{On \\emph{Apples}}" }],
    ["p0-heading-2", { level: 2, text: "Intro now" }],
    ["p0-text-1", { text: "Apples.\nMore.\n\\begin{equation}\nE=mc^2\n\\end{equation}" }],
    ["p0-heading-3", { level: 3, text: "Deep & wide" }],
    ["p0-text-2", {
      text: "\\begin{verbatim}\nx\n\\end{verbatim}\n\\begin{align}\nnot ended\n\\end{document}",
    }],
  ]);
});
