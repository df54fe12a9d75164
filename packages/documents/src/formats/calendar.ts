/** Entries of calendars (iCalendar, RFC 5545), such as invitations, and of address books (vCard, RFC 6350). */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { decodeText } from "./decode_text.ts";
import type { ParsedDocument, ParseInput } from "./format.ts";
import { divide, documentOf, headingsOf, tableOf, toCodeElements } from "./sections.ts";

/** The lines of an entry that are shown, and what they are. */
const LABELS: Readonly<Record<string, string>> = {
  DTSTART: "Start",
  DTEND: "End",
  DUE: "Due",
  DURATION: "Duration",
  RRULE: "Repeats",
  LOCATION: "Place",
  ORGANIZER: "Organizer",
  ATTENDEE: "Attendee",
  STATUS: "Status",
  URL: "URL",
  DESCRIPTION: "Description",
  COMMENT: "Comment",
  ORG: "Organization",
  TITLE: "Position",
  TEL: "Phone",
  EMAIL: "E-mail",
  ADR: "Address",
  BDAY: "Birthday",
  NICKNAME: "Nickname",
  NOTE: "Note",
  CATEGORIES: "Categories",
};
const MAX_LINES = 500;

/** A line of an older card, whose encoding has a way of its own to go on in the next one. */
const QUOTED_LINES = /^[^\n:]*;ENCODING=QUOTED-PRINTABLE(?:[^\n]*=\n)+/gim;
/** A line: its name, its parameters and its value. Quotes may contain the signs that divide it. */
const LINE = /^(?:[\w-]+\.)?([\w-]+)((?:;[\w-]+(?:=(?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*)?)*):(.*)$/;

/** Opens a calendar or an address book. Its pages are parts of about the same length. */
export function open({ bytes, fileName }: ParseInput): ParsedDocument {
  const { text, losses } = decodeText(bytes);
  const entries = readCalendar(text);
  const elements = entries.length > 0 ? entries : [...toCodeElements(text, "ics")];
  const headings = headingsOf(elements);
  return documentOf(divide(elements, { title: fileName }), {
    elements,
    title: undefined,
    opening: headings.slice(0, 20).join(", "),
    losses,
  });
}

/** The entries of a calendar or an address book: a heading and a table of each. */
export function readCalendar(text: string): DocumentElement[] {
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n[ \t]/g, "")
    .replace(QUOTED_LINES, (line) => line.replaceAll("=\n", "")).split("\n");
  const elements: DocumentElement[] = [];
  let rows: [string, string][] | undefined;
  let title = "";
  let inner = 0;
  let method: [string, string][] = [];
  for (const line of lines) {
    const [, name = "", parameters = "", raw = ""] = LINE.exec(line) ?? [];
    const value = /;ENCODING=QUOTED-PRINTABLE/i.test(parameters) ? quotedText(raw) : raw;
    const key = name.toUpperCase();
    const isEntry = /^V(?:EVENT|TODO|JOURNAL|CARD)$/i.test(value);
    if (key === "BEGIN") {
      if (isEntry) [rows, title, inner] = [[...method], "", 0];
      // An alarm has a description of its own.
      else inner++;
    } else if (key === "END" && !isEntry) inner--;
    else if (key === "END" && rows !== undefined) {
      if (title !== "") elements.push({ category: "heading", content: { level: 2, text: title } });
      elements.push(tableOf([["entry", "value"], ...rows], 1));
      rows = undefined;
    } else if (key === "METHOD") {
      method = /^(?:REQUEST|PUBLISH)$/i.test(value) ? [] : [["Method", value.toLowerCase()]];
    } else if (rows !== undefined && inner === 0) {
      const label = LABELS[key];
      if (key === "SUMMARY" || key === "FN") title = plain(value).replace(/\s+/g, " ").trim();
      else if (label !== undefined && rows.length < MAX_LINES) {
        const isDate = /^(?:D|BDAY)/.test(key) && /^\d{8}/.test(value);
        const parts = /^(?:ADR|ORG)$/.test(key) ? value.split(/(?<!\\);/).filter(Boolean).join(", ") : value;
        const shown = isDate ? dateText(value, parameters) : plain(parts);
        if (shown.trim() !== "") rows.push([label + typeText(parameters), nameText(shown, parameters)]);
      }
    }
  }
  return elements;
}

function plain(value: string): string {
  return value.replace(/\\([nN,;\\])/g, (_, sign: string) => /n/i.test(sign) ? "\n" : sign);
}

function quotedText(value: string): string {
  const decode = (bytes: string) => new TextDecoder().decode(Uint8Array.fromHex(bytes.replaceAll("=", "")));
  return value.replace(/(?:=[\dA-F]{2})+/gi, decode);
}

/** What an address or a number is for, such as ` (work)`. */
function typeText(parameters: string): string {
  const types = [...parameters.matchAll(/;(?:TYPE=)?"?(home|work|cell|fax)\b/gi)].map(([, type = ""]) =>
    type
  );
  return types.length === 0 ? "" : ` (${[...new Set(types)].join(", ").toLowerCase()})`;
}

function dateText(value: string, parameters: string): string {
  const [, year, month, day, hour, minute, zone] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d*(Z?))?/.exec(value) ?? [];
  if (year === undefined) return value;
  const place = zone === "Z" ? " UTC" : /;TZID="?([^";:]+)/i.exec(parameters)?.[1]?.replace(/^/, " ") ?? "";
  return `${year}-${month}-${day}${hour === undefined ? "" : ` ${hour}:${minute}${place}`}`;
}

/** A person by name and address, with the answer to the invitation. */
function nameText(value: string, parameters: string): string {
  const address = /^mailto:(.*)$/i.exec(value)?.[1];
  if (address === undefined) return value;
  const name = /;CN=(?:"([^"]*)"|([^";:]*))/i.exec(parameters)?.slice(1).join("") ?? "";
  const answer = /;PARTSTAT=([\w-]+)/i.exec(parameters)?.[1]?.toLowerCase().replaceAll("-", " ");
  const person = name === "" || name === address ? address : `${name} <${address}>`;
  return answer === undefined ? person : `${person} (${answer})`;
}
