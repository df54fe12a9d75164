/** Audit: who connected, joined, left, was refused or ended. */
import { useMemo } from "preact/hooks";
import { factsOf } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { headingOf, type Row, Split } from "../kit/split.ts";
import { momentOf } from "../kit/time.ts";
import { html, lineOf, nameOf, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";

const T = texts.operator.audit;
/** All that the Server keeps. */
const KEPT_LINES = 2_000;

interface AuditLine extends Readonly<Record<string, unknown>> {
  readonly time: string;
  readonly message: string;
}

export function Audit(): View {
  const { value, error } = useReading<readonly AuditLine[]>("audit", {
    options: { lines: KEPT_LINES },
    on: ["audit"],
  });
  const items = useMemo(() => [...value ?? []].reverse(), [value]);
  return html`
    <${Split} path=${["audit"]} search=${texts.filter} file="a2c-audit.jsonl" error=${error}
      lists=${[{ title: T.title, items, none: value && T.none, row: rowOf, keyOf }]}
      detail=${detailOf} />
  `;
}

/** No two lines of one connection have the same time and words. */
function keyOf({ time, message, sid = "" }: AuditLine): string {
  return `${time} ${sid} ${message}`;
}

function rowOf({ time, message, name, principal, office }: AuditLine): Row {
  const names = [name ?? principal, office].filter((each) => typeof each === "string");
  return [lineOf(message), [momentOf(time), ...names.flatMap((each) => [" · ", nameOf(each)])]];
}

function detailOf({ time, message, level: _, module: _module, ...rest }: AuditLine): View {
  const rows = Object.entries(rest).map(([name, value]) =>
    [name, lineOf(typeof value === "string" ? value : JSON.stringify(value), 1_000)] as const
  );
  return [headingOf(lineOf(message), momentOf(time)), factsOf(rows)];
}
