import { assert, assertEquals } from "@std/assert";
import fc from "../fixtures/fast_check.ts";
import { ErrorCode } from "../../src/protocol/error_codes.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { dpeQueryOf } from "../../src/uri/dpe_query.ts";
import { buildDpeUri, type DpeUriParts, isValidDpeUri, parseDpeUri } from "../../src/uri/dpe_uri.ts";
import {
  buildWindowUri,
  parseWindowUri,
  windowIdentity,
  windowQueryOf,
  withoutQuery,
} from "../../src/uri/window_uri.ts";
import { mutateText, randomText } from "./_mutator.ts";
import { Random } from "../fixtures/random.ts";
import { sized } from "../fixtures/test_size.ts";

const RUNS = sized({ reduced: 10_000, full: 1_000_000 });

const DPE_SEEDS = [
  "dpe://com.example.docs",
  "dpe://com.example.docs/rpt-2026",
  "dpe://com.example.docs/rpt-2026?depth=pages&offset=20&limit=100",
  "dpe://com.example.docs/rpt%202026/pages/0?categories=table,pivot_table&format=text",
  "dpe://localhost:3000/年报/elements/a%2Fb?format=json&x=y",
];
const WINDOW_SEEDS = [
  "window://com.example.editor",
  "window://com.example.editor/src%2Fmain/file%20name",
  "window://localhost:3000/a/b/../c?priority=80&fullscreen=true",
];

/** What it gives, or `undefined` when it throws what it is documented to throw; anything else is passed on. */
function attempt<T>(work: () => T, isDocumented: (error: unknown) => boolean): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isDocumented(error)) return undefined;
    throw error;
  }
}

function isInvalidDpeUri(error: unknown): boolean {
  return error instanceof SmcpError && error.code === ErrorCode.INVALID_DPE_URI &&
    typeof error.details?.["uri"] === "string";
}

function isTypeError(error: unknown): boolean {
  return error instanceof TypeError && error.message.startsWith("Cannot ");
}

function checkDpe(raw: string): boolean {
  const parsed = attempt(() => parseDpeUri(raw), isInvalidDpeUri);
  assertEquals(isValidDpeUri(raw), parsed !== undefined, raw);
  if (parsed === undefined) return false;
  dpeQueryOf(parsed);
  const again = parseDpeUri(buildDpeUri(parsed));
  // Comparing members one by one is many times quicker than comparing deeply
  assert(again.host === parsed.host && again.docRef === parsed.docRef, raw);
  assert(again.subPath === parsed.subPath && again.level === parsed.level, raw);
  assertEquals(JSON.stringify(again.queryParams), JSON.stringify(parsed.queryParams), raw);
  return true;
}

function checkWindow(raw: string): boolean {
  const parsed = attempt(() => parseWindowUri(raw), isTypeError);
  const identity = windowIdentity(raw);
  assertEquals(identity === undefined, parsed === undefined, raw);
  windowQueryOf(raw);
  if (parsed === undefined || identity === undefined) return false;
  assert(buildWindowUri(parsed) === identity && windowIdentity(identity) === identity, raw);
  assert(windowIdentity(withoutQuery(raw)) === identity, raw);
  return true;
}

// proves: guide-uri-4204, guide-test-uri-edges, dpe-uri-form
Deno.test("Each random dpe:// URI is read, written and read again, or is error 4204", () => {
  const random = new Random(4);
  let valid = 0;
  for (let i = 0; i < RUNS; i++) if (checkDpe(mutateText(random, random.pick(DPE_SEEDS)))) valid++;
  // Mutants that are all refused, or all accepted, would prove little
  assert(valid > RUNS / 20 && valid < RUNS * 19 / 20, `${valid} are valid`);
});

// proves: desktop-uri-form, desktop-uri-scheme, desktop-uri-query
Deno.test("Each random window:// URI has one identity, or is a TypeError", () => {
  const random = new Random(5);
  let valid = 0;
  for (let i = 0; i < RUNS; i++) if (checkWindow(mutateText(random, random.pick(WINDOW_SEEDS)))) valid++;
  assert(valid > RUNS / 20 && valid < RUNS * 19 / 20, `${valid} are valid`);
});

// proves: guide-uri-build, desktop-build-special
Deno.test("What random parts are built into is read back as these parts, or they are refused", () => {
  const random = new Random(6);
  const text = () =>
    random.once(2) ? random.pick(["docs", "rpt", "pages/3", "elements/a b"]) : randomText(random);
  for (let i = 0; i < RUNS / 2; i++) {
    const parts: DpeUriParts = { host: text(), docRef: random.once(6) ? undefined : text(), subPath: text() };
    const built = attempt(() => buildDpeUri(parts), isInvalidDpeUri);
    if (built === undefined) continue;
    const { host, docRef, subPath } = parseDpeUri(built);
    assert(host === parts.host.toLowerCase() && docRef === parts.docRef && subPath === parts.subPath, built);
  }
  for (let i = 0; i < RUNS / 2; i++) {
    const parts = { host: text(), path: [text(), text()] };
    const built = attempt(() => buildWindowUri(parts), isTypeError);
    if (built !== undefined) assertEquals(parseWindowUri(built).path.join("\n"), parts.path.join("\n"));
  }
});

// proves: guide-uri-4204
Deno.test("Any text at all is a URI or is refused, whatever its characters", () => {
  const anything = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.webUrl());
  const prefix = fc.constantFrom("", "dpe://", "window://", "dpe://h/", "window://h/");
  fc.assert(
    fc.property(prefix, anything, (prefix, text) => {
      checkDpe(prefix + text);
      checkWindow(prefix + text);
    }),
    { numRuns: sized({ reduced: 500, full: 50_000 }) },
  );
});
