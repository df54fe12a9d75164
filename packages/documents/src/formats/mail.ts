/** E-mail (`.eml`): its headers, its text, and the names of its attachments. */
import PostalMime, { type Address, type Email } from "postal-mime";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { aboutFile } from "./about.ts";
import { readCalendar } from "./calendar.ts";
import { decodeText } from "./decode_text.ts";
import { type ParsedDocument, type ParseInput, type ParseLimits, unreadable } from "./format.ts";
import { metaEncoding } from "./html/dom.ts";
import { readHtml } from "./html/mod.ts";
import { divide, documentOf, openingOf, tableOf } from "./sections.ts";

/** The most characters of a text that may stand for another part of the message: `This message needs HTML`. */
const STUB_LENGTH = 300;

/** A message, whatever the format of its file. */
export type Mail =
  & Pick<Email, "subject" | "from" | "to" | "cc" | "date" | "messageId" | "text" | "html">
  & {
    readonly attachments: readonly Pick<Email["attachments"][number], "filename" | "mimeType" | "content">[];
  };

/** Opens a message. Its pages are parts of about the same length. */
export async function open({ bytes, fileName, limits }: ParseInput): Promise<ParsedDocument> {
  const { encoded, losses } = toUtf8(bytes);
  const mail = await parse(await joinEncodedWords(encoded), limits);
  return openMails([mail], { fileName, limits, losses });
}

/** Opens a message and those that are attached to it. */
export function openMails(
  mails: readonly [Mail, ...Mail[]],
  { fileName, limits, losses }: Pick<ParseInput, "fileName" | "limits"> & {
    readonly losses: readonly string[];
  },
): ParsedDocument {
  const [{ subject = "", from, to, date }] = mails;
  const readings = mails.map((mail, index) => readMail(mail, { level: index === 0 ? 1 : 2, limits }));
  const elements = readings.flatMap(({ elements }) => elements);
  const unread = readings.reduce((sum, reading) => sum + reading.unread, 0);
  return documentOf(divide(elements, { title: subject || fileName }), {
    elements,
    title: subject || undefined,
    headings: [subject, ...addressesOf(from), ...addressesOf(to)].filter((text) => text !== ""),
    about: aboutFile({ author: addressesOf(from).join(", "), created: date }),
    opening: readings[0]?.opening ?? "",
    losses: [
      ...losses,
      ...readings.flatMap(({ losses }) => losses),
      ...unread === 0 ? [] : [`Attachments are named, and not shown: ${unread}`],
    ],
  });
}

function readMail(mail: Mail, { level, limits }: { readonly level: number; readonly limits: ParseLimits }) {
  const { subject = "", attachments } = mail;
  const { elements: body, losses } = bodyOf(mail, limits);
  const entries = attachments.flatMap((attachment) =>
    isCalendar(attachment) ? readCalendar(textOf(attachment)) : []
  );
  const elements: DocumentElement[] = [
    ...(subject === "" ? [] : [{ category: "heading" as const, content: { level, text: subject } }]),
    ...headersOf(mail),
    ...body,
    ...entries,
    ...(attachments.length === 0 ? [] : [{
      category: "list" as const,
      summary: "Attachments",
      content: { items: attachments.map(attachmentText) },
    }]),
  ];
  return {
    elements,
    losses,
    opening: [...entries.map(entryText), openingOf(body)].join("\n").slice(0, 4_000).toWellFormed(),
    unread: attachments.filter((attachment) => !isCalendar(attachment) || entries.length === 0).length,
  };
}

async function parse(bytes: Uint8Array, { maxDepth }: ParseLimits): Promise<Email> {
  try {
    const mail = await PostalMime.parse(bytes, { maxNestingDepth: maxDepth });
    if (mail.headers.length > 0) return mail;
  } catch (cause) {
    throw unreadable("damaged", "the message is damaged", { cause });
  }
  throw unreadable("damaged", "the file is no message: it has no headers");
}

/** A message in UTF-8 where it is in UTF-16, or in an encoding that none of its parts declares. */
function toUtf8(bytes: Uint8Array<ArrayBuffer>): {
  readonly encoded: Uint8Array<ArrayBuffer>;
  readonly losses: readonly string[];
} {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024 * 1024));
  const types = head.matchAll(/^content-(?:type|transfer-encoding):[^\n]*(?:\n[ \t][^\n]*)*/gim);
  const isDeclared = types.some(([header]) => /charset|base64|binary/i.test(header));
  if (isDeclared) return { encoded: bytes, losses: [] };
  try {
    const { text, losses } = decodeText(bytes, metaEncoding);
    return { encoded: new TextEncoder().encode(text), losses };
  } catch {
    // Parts may be data.
    return { encoded: bytes, losses: [] };
  }
}

const ENCODED_WORDS =
  /=\?([\w-]+)(?:\*[\w-]*)?\?b\?[A-Za-z0-9+/]+=*\?=(?:[ \t\r\n]*=\?\1(?:\*[\w-]*)?\?b\?[A-Za-z0-9+/]+=*\?=)+/gi;

/** Makes one encoded word of those side by side, each of which may end within a character. */
async function joinEncodedWords(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  // A character for each byte.
  const text = new TextDecoder("latin1").decode(bytes);
  const parts: BlobPart[] = [];
  let end = 0;
  for (const { 0: words, 1: charset, index } of text.matchAll(ENCODED_WORDS)) {
    const contents = words.matchAll(/\?b\?([A-Za-z0-9+/]+)/gi).map(([, content = ""]) => content);
    const decoded = contents.map((content) =>
      atob(content.length % 4 === 1 ? content.slice(0, -1) : content)
    );
    const joined = `=?${charset}?B?${btoa([...decoded].join(""))}?=`;
    parts.push(bytes.subarray(end, index), joined);
    end = index + words.length;
  }
  return end === 0 ? bytes : await new Blob([...parts, bytes.subarray(end)]).bytes();
}

/** The text of a message, or its HTML where the text is only a stub of it. */
function bodyOf(
  { text = "", html }: Mail,
  limits: ParseLimits,
): { readonly elements: readonly DocumentElement[]; readonly losses: readonly string[] } {
  const paragraphs = text.replace(/\r\n?/g, "\n").split(/\n{2,}/).map((part) => part.trim())
    .filter((part) => part !== "");
  const elements = paragraphs.map((text): DocumentElement => ({ category: "text", content: { text } }));
  if (html === undefined) return { elements, losses: [] };
  const length = text.trim().length;
  const reading = length > STUB_LENGTH ? undefined : readHtml(html, limits);
  const shown = JSON.stringify(reading?.elements.map(({ content }) => content) ?? "").length;
  return length > 0 && (reading === undefined || shown < 4 * length)
    ? { elements, losses: [] }
    : reading ?? { elements, losses: [] };
}

function isCalendar({ filename, mimeType }: Mail["attachments"][number]): boolean {
  return /^(?:text\/calendar|application\/ics)$/.test(mimeType) || /\.(?:ics|vcs)$/i.test(filename ?? "");
}

function textOf({ content }: Mail["attachments"][number]): string {
  return typeof content === "string" ? content : new TextDecoder().decode(content);
}

function entryText({ category, content }: DocumentElement): string {
  if (category === "heading") return content.text;
  return category === "table" ? content.rows.map((row) => row.join(": ")).join("; ") : "";
}

function headersOf({ from, to, cc, date, messageId }: Mail): DocumentElement[] {
  const rows: [string, string][] = [
    ["From", addressesOf(from).join(", ")],
    ["To", addressesOf(to).join(", ")],
    ["Cc", addressesOf(cc).join(", ")],
    ["Date", date ?? ""],
    ["Message-ID", messageId ?? ""],
  ];
  const filled = rows.filter(([, value]) => value !== "");
  return filled.length === 0 ? [] : [tableOf([["header", "value"], ...filled], 1)];
}

function addressesOf(addresses: Address | readonly Address[] | undefined): string[] {
  const list = addresses === undefined ? [] : [addresses].flat() as readonly Address[];
  return list.map(({ name, address = "" }) => {
    if (address === "") return name;
    return name === "" || name === address ? address : `${name} <${address}>`;
  });
}

function attachmentText({ filename, mimeType, content }: Mail["attachments"][number]): string {
  const size = typeof content === "string" ? content.length : content.byteLength;
  return `${filename ?? "unnamed"} (${mimeType}, ${size} bytes)`;
}
