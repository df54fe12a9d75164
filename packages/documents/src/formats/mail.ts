/** E-mail (`.eml`): its headers, its text, and its attachments. */
import PostalMime, { type Address, type Email } from "postal-mime";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { aboutFile } from "./about.ts";
import { decodeText } from "./decode_text.ts";
import { type ParsedDocument, type ParseInput, type ParseLimits, unreadable } from "./format.ts";
import { type InnerFile, InnerFiles, type PackedFile, pagesText } from "./inner_files.ts";
import { metaEncoding } from "./html/dom.ts";
import { readHtml } from "./html/mod.ts";
import { divide, documentOf, openingOf, tableOf, textElement } from "./sections.ts";

/** The most characters of a text that may stand for another part of the message: `This message needs HTML`. */
const STUB_LENGTH = 300;

/** The most attachments that are named. */
const MAX_NAMED = 1_000;

/** A message, whatever the format of its file. */
export type Mail =
  & Pick<Email, "subject" | "from" | "to" | "cc" | "date" | "messageId" | "text" | "html">
  & {
    readonly attachments: readonly (
      & Pick<Email["attachments"][number], "filename" | "mimeType" | "content">
      & Partial<Pick<Email["attachments"][number], "related">>
    )[];
  };

/** Opens a message. Its pages are parts of about the same length, and then those of its attachments. */
export async function open(input: ParseInput): Promise<ParsedDocument> {
  const { encoded, losses } = toUtf8(input.bytes);
  const mail = await parse(await joinEncodedWords(encoded), input.limits);
  return await openMails([mail], { ...input, losses });
}

/** Opens a message and those that are attached to it. */
export async function openMails(
  mails: readonly [Mail, ...Mail[]],
  { losses, ...input }: Pick<ParseInput, "fileName" | "limits" | "openInner"> & {
    readonly losses: readonly string[];
  },
): Promise<ParsedDocument> {
  const { fileName, limits } = input;
  const [{ subject = "", from, to, date }] = mails;
  const readings = mails.map((mail, index) => readMail(mail, { level: index === 0 ? 1 : 2, limits }));
  const elements = readings.flatMap(({ elements }) => elements);
  const own = divide(elements, { title: subject || fileName });
  const inner = new InnerFiles(input);
  const files = await inner.read(readings.flatMap(({ attachments }) => attachments), own.length);
  const pages = own.map((each, index) =>
    index < own.length - 1 ? each : { ...each, elements: [...each.elements, ...listOf(files)] }
  );
  const unread = files.filter(({ reason }) => reason !== undefined).length;
  const { facts, page } = documentOf(pages, {
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
  const pageTitles = [facts.pageTitles ?? [], ...files.map(({ pageTitles }) => pageTitles)].flat();
  const outline = [facts.outline ?? [], ...files.map(({ outline }) => outline)].flat();
  return {
    facts: { ...facts, pageCount: pageTitles.length, pageTitles, outline },
    page: (index, options) => index < own.length ? page(index, options) : inner.page(index, options),
    close: () => inner.close(),
  };
}

/** The attachments, each with its pages. */
function listOf(files: readonly InnerFile[]): DocumentElement[] {
  if (files.length === 0) return [];
  const items = files.slice(0, MAX_NAMED).map((file) => {
    const { path, sizeBytes, reason, pageTitles } = file;
    const noun = pageTitles.length > 1 ? "page indices " : "page index ";
    return `${path} (${sizeBytes} bytes): ${reason === undefined ? noun : ""}${pagesText(file)}`;
  });
  const more = files.length > MAX_NAMED ? [`and ${files.length - MAX_NAMED} more`] : [];
  return [{ category: "list", summary: "Attachments", content: { items: [...items, ...more] } }];
}

function readMail(mail: Mail, { level, limits }: { readonly level: number; readonly limits: ParseLimits }) {
  const { subject = "", attachments } = mail;
  const { elements: body, losses } = bodyOf(mail, limits);
  const elements: DocumentElement[] = [
    ...(subject === "" ? [] : [{ category: "heading" as const, content: { level, text: subject } }]),
    ...headersOf(mail),
    ...body,
  ];
  return {
    elements,
    losses,
    opening: openingOf(body),
    attachments: attachments.map(toPacked),
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
  const elements = paragraphs.map(textElement);
  if (html === undefined) return { elements, losses: [] };
  const length = text.trim().length;
  const reading = length > STUB_LENGTH ? undefined : readHtml(html, limits);
  const shown = JSON.stringify(reading?.elements.map(({ content }) => content) ?? "").length;
  return length > 0 && (reading === undefined || shown < 4 * length)
    ? { elements, losses: [] }
    : reading ?? { elements, losses: [] };
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

/** What belongs to the text of a message, such as its pictures and styles, has no pages. */
function toPacked({ filename, content, related }: Mail["attachments"][number]): PackedFile {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
  const reason = related === true ? "a part of the text" : undefined;
  return { path: filename ?? "unnamed", sizeBytes: bytes.length, bytes: () => bytes, reason };
}
