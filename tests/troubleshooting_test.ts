// The messages that docs/troubleshooting.md quotes are still those of the programs.

import { assert, assertEquals } from "@std/assert";

const rootUrl = new URL("../", import.meta.url);
/** What programs print is written here. */
const SOURCES = ["src/", "packages/documents/src/", "bin/", "tools/"];
/** What other programs print. */
const OF_OTHERS = new Set([
  "502 Bad Gateway",
  "E404 Not Found",
  "EACCES: permission denied, mkdir",
  "Failed to connect to bus",
  "command not found",
  "is not recognized as an internal or external command",
  "is not recognized as the name of a cmdlet",
  "EBUSY: resource busy or locked",
  "EPERM: operation not permitted",
  "cannot be loaded because running scripts is disabled on this system",
  "database or disk is full",
  "worker_connections are not enough",
  "MCP error -32000: Connection closed",
  "MCP …: Server disconnected. For troubleshooting guidance, please visit our debugging documentation",
  "Protected resource … does not match expected …",
  "listen EADDRINUSE",
  "spawn npx ENOENT",
  "unable to verify the first certificate",
]);
/** Names, addresses and numbers of a message; what stands between them is fixed. */
const VARIABLE = /…|[":;()]/;
const MIN_WORDS = 2;

Deno.test("each message of docs/troubleshooting.md is still in the sources", async () => {
  const sources = (await Array.fromAsync(sourceFiles(), (file) => Deno.readTextFile(file))).map(fixedText)
    .join("\n");
  const gone = quotedMessages(await readPage()).flatMap((message) => {
    const parts = fixedParts(message);
    assert(parts.length > 0, `"${message}" has no words by which it could be found`);
    return parts.filter((part) => !sources.includes(part)).map((part) => ({ message, part }));
  });
  assertEquals(gone, []);
});

Deno.test("docs/troubleshooting.md quotes messages in each of its tables", async () => {
  const tables = (await readPage()).split(/^## /m).filter((section) => section.includes("| ---"));
  assert(tables.length >= 8);
  assertEquals(tables.filter((table) => quotedMessages(table).length === 0), []);
});

Deno.test("fixedParts() leaves out what differs from one message to the next", () => {
  assertEquals(fixedParts('Cannot start Computer "…": another one runs already; end it'), [
    "Cannot start Computer",
    "another one runs already",
    "end it",
  ]);
});

/** The messages in the first column of the tables. */
function quotedMessages(page: string): string[] {
  return [...page.matchAll(/^\| `([^`]+)` *\|/gm)].map(([, message = ""]) => message)
    .filter((message) => !OF_OTHERS.has(message));
}

/** The words between the variable parts of a message. One word alone says nothing. */
function fixedParts(message: string): string[] {
  return message.split(VARIABLE).map((part) => part.trim()).filter((part) =>
    part.split(" ").length >= MIN_WORDS
  );
}

/** The texts of a source as a reader of the message sees them: joined where the source breaks them. */
function fixedText(source: string): string {
  return source.replace(/["'`]\s*\+\s*["'`]/g, "").replaceAll(/\\(["'`])/g, "$1");
}

async function readPage(): Promise<string> {
  return await Deno.readTextFile(new URL("docs/troubleshooting.md", rootUrl));
}

async function* sourceFiles(folders: readonly string[] = SOURCES): AsyncGenerator<URL> {
  for (const folder of folders) {
    const url = new URL(folder, rootUrl);
    for await (const { name, isDirectory } of Deno.readDir(url)) {
      if (isDirectory) yield* sourceFiles([`${folder}${name}/`]);
      else if (/\.[jt]s$/.test(name)) yield new URL(name, url);
    }
  }
}
