/** What the VRL engine finds wrong, in words for whoever wrote the script. */

/** A finding of the compiler. */
export interface VrlDiagnostic {
  readonly message: string;
  readonly labels: readonly VrlLabel[];
}

/** What a finding says of a part of the script. */
export interface VrlLabel {
  readonly message: string;
  /** Bytes of the script's UTF-8 from its beginning. */
  readonly span: readonly [start: number, end: number];
}

/** The most findings that are told. */
const MAX_FINDINGS = 3;

/** The first findings, each with its place. */
export function describeDiagnostics(diagnostics: readonly VrlDiagnostic[], script: string): string {
  const told = diagnostics.slice(0, MAX_FINDINGS).map(({ message, labels }) => {
    const [first] = labels;
    const place = first === undefined ? "" : `${placeOf(first.span[0], script)}: `;
    const details = labels.map((label) => label.message.replaceAll("\n", " ")).filter((text) =>
      text !== message
    );
    return place + message + (details.length === 0 ? "" : ` (${details.join("; ")})`);
  });
  const more = diagnostics.length - told.length;
  return told.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** Where and in what a run ended; not the engine's own words, which quote what the script was given. */
export function describeFailure(message: string, script: string): string {
  const call = /function call error for "(\w+)" at \((\d+):\d+\)/.exec(message);
  if (call !== null) return `"${call[1]}" failed at ${placeOf(Number(call[2]), script)}`;
  return /\baborted\b/.test(message) ? "the script aborted" : "the script failed";
}

function placeOf(offset: number, script: string): string {
  const before = new TextDecoder().decode(new TextEncoder().encode(script).subarray(0, offset));
  const lines = before.split("\n");
  return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
}
