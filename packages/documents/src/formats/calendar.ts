/** Invitations and other entries of calendars (iCalendar, RFC 5545). */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { tableOf } from "./sections.ts";

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
};
const MAX_LINES = 500;

/** The entries of a calendar: a heading and a table of each. */
export function readCalendar(text: string): DocumentElement[] {
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n[ \t]/g, "").split("\n");
  const elements: DocumentElement[] = [];
  let rows: [string, string][] | undefined;
  let title = "";
  let inner = 0;
  let method: [string, string][] = [];
  for (const line of lines) {
    // Quotes may contain the signs that divide a line.
    const [, name = "", parameters = "", value = ""] =
      /^([\w-]+)((?:;[\w-]+=(?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*)*):(.*)$/.exec(line) ?? [];
    const key = name.toUpperCase();
    const isEntry = /^V(?:EVENT|TODO|JOURNAL)$/i.test(value);
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
      if (key === "SUMMARY") title = plain(value).replace(/\s+/g, " ").trim();
      else if (label !== undefined && rows.length < MAX_LINES) {
        const shown = key.startsWith("D") && /^\d{8}/.test(value)
          ? dateText(value, parameters)
          : plain(value);
        if (shown.trim() !== "") rows.push([label, nameText(shown, parameters)]);
      }
    }
  }
  return elements;
}

function plain(value: string): string {
  return value.replace(/\\([nN,;\\])/g, (_, sign: string) => /n/i.test(sign) ? "\n" : sign);
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
