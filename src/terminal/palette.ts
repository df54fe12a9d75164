/** The few colours of our pictures. */

/** Each gives a text its looks and leaves its width as it is. */
export interface Palette {
  /** What a thing is called. */
  readonly strong: (text: string) => string;
  /** Lines, addresses, what may be overlooked. */
  readonly faint: (text: string) => string;
  /** What kind of thing it is. */
  readonly accent: (text: string) => string;
  /** What went wrong. */
  readonly alarm: (text: string) => string;
}

/** Without any colours. */
export const PLAIN: Palette = { strong: same, faint: same, accent: same, alarm: same };

/** The terminal's own colours, which its user has chosen to be readable. */
export const COLORS: Palette = {
  strong: (text) => sgr(1, text, 22),
  faint: (text) => sgr(2, text, 22),
  accent: (text) => sgr(36, text, 39),
  alarm: (text) => sgr(31, text, 39),
};

function same(text: string): string {
  return text;
}

function sgr(on: number, text: string, off: number): string {
  return text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`;
}
