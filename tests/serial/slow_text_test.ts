/** Attacker: an Agent or an MCP server. They send text over which a regular expression or a drawing takes for ever */
import process from "node:process";
import { assert } from "@std/assert";
import { desktopText, drawDesktop } from "../../src/cli/answers/desktop.ts";
import { paintFailure } from "../../src/cli/outcome.ts";
import { COLORS, PLAIN } from "../../src/terminal/screen.ts";
import {
  escapeUnreadable,
  fenceOf,
  inWrittenOrder,
  printable,
  printableLine,
  toSafeJson,
  toSafeLine,
  toSeenJson,
  toSeenLine,
  toSeenName,
  withoutSequences,
} from "../../src/text/safe_text.ts";
import { escapeCell, escapeHeading, escapeItem, escapeLabel, escapeTarget } from "../../src/dpe/markdown.ts";
import { createLogger } from "../../src/log.ts";
import { isValidDpeUri } from "../../src/uri/dpe_uri.ts";
import { windowIdentity } from "../../src/uri/window_uri.ts";
import { parseInstant } from "../../src/organizer/instant.ts";

const screen = { columns: 80, palette: PLAIN, maxLines: 20 };

/** What strangers' text goes through. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  printable,
  printableLine,
  withoutSequences,
  toSafeLine,
  toSafeJson,
  toSeenJson,
  escapeUnreadable,
  toSeenLine,
  toSeenName,
  inWrittenOrder,
  drawDesktop: (text) => drawDesktop([`window://host/a\n\n${text}`, text], screen),
  desktopText: (text) => desktopText([text]),
  log: (text) => createLogger({ write() {} }).warn(text, { text }),
  escapeLabel,
  escapeTarget,
  escapeCell,
  escapeHeading,
  escapeItem,
  fenceOf,
  isValidDpeUri: (text) => [isValidDpeUri(text), isValidDpeUri(`dpe://host/${text}`)],
  windowIdentity: (text) => [windowIdentity(text), windowIdentity(`window://host/${text}`)],
  parseInstant,
  paintFailure: (text) => [paintFailure(text, COLORS), paintFailure(`error: ${text}`, COLORS)],
};

/** What is repeated, and what ends it. */
const UNITS: readonly (readonly [unit: string, end: string])[] = [
  ["\u009d", "x"],
  ["\u001b]", "x"],
  ["\u001b[", "x"],
  ["\u009b1", "\n"],
  ["\u001b ", "\n"],
  [" ", "x"],
  ["\n", "x"],
  ["\t", "x"],
  ["\r\n", "x"],
  ["1", "x"],
  ["1 ", "x"],
  [" (1", "x"],
  ["%E8", "x"],
  ["=", "x"],
  ["#", "x"],
  [" #", "x"],
  ["- ", "x"],
  ["`", "x"],
  ["\\", "x"],
  ["\u0301", "x"],
  ["\u200d", "x"],
  ["\ud800", "x"],
  ["👩\u200d", "x"],
  ["🇩", "x"],
  ["漢", "x"],
  ["%41", "%"],
  ["/", "?"],
  ["&", ";"],
];

/** So many characters, and sixteen times as many. */
const FEW = 5_000;
const MANY = 16 * FEW;
/** Time that grows with the text is sixteen times as long; with its square, 256 times. */
const MOST = 80;
/** What takes no longer than this for the many is no danger, however it grows. */
const HARMLESS_MS = 150;

/** The least time that the work took of the processor: by the clock, it would depend on what else the machine does. */
function fastestMs(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

for (const [name, read] of Object.entries(READERS)) {
  Deno.test(`${name}() takes time in proportion to the text, whatever a stranger repeats in it`, () => {
    for (const [unit, end] of UNITS) {
      const text = (length: number) => unit.repeat(Math.ceil(length / unit.length)) + end;
      const [few, many] = [text(FEW), text(MANY)];
      const manyMs = fastestMs(() => read(many));
      if (manyMs <= HARMLESS_MS) continue;
      const fewMs = fastestMs(() => read(few));
      assert(manyMs <= MOST * fewMs, `${name} of ${JSON.stringify(unit)}: ${fewMs} ms, then ${manyMs} ms`);
    }
  });
}
