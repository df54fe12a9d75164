/** E-mail (`.eml`): its headers, its text, and the names of its attachments. */
import PostalMime, { type Address, type Email } from "postal-mime";
import type { DocumentElement } from "../../provider/documents/source.ts";
import { type ParsedDocument, type ParseInput, type ParseLimits, unreadable } from "./format.ts";
import { readHtml } from "./html/mod.ts";
import { openingOf, toParts } from "./sections.ts";

/** Opens a message. Its pages are parts of about the same length. */
export async function open({ bytes, fileName, limits }: ParseInput): Promise<ParsedDocument> {
  const mail = await parse(bytes, limits);
  const { subject = "", attachments } = mail;
  const body = bodyOf(mail, limits);
  const elements: DocumentElement[] = [
    ...(subject === "" ? [] : [{ category: "heading" as const, content: { level: 1, text: subject } }]),
    headersOf(mail),
    ...body,
    ...(attachments.length === 0 ? [] : [{
      category: "list" as const,
      summary: "Attachments",
      content: { items: attachments.map(attachmentText) },
    }]),
  ];
  const pages = toParts(elements, subject || fileName);
  return {
    facts: {
      title: subject || undefined,
      pageCount: pages.length,
      pageTitles: pages.map(({ title }) => title),
      headings: [subject, ...addressesOf(mail.from), ...addressesOf(mail.to)].filter((text) => text !== ""),
      opening: openingOf(body),
      losses: attachments.length === 0 ? [] : [`Attachments are named, and not shown: ${attachments.length}`],
    },
    page: (index) => pages[index] ?? { title: "", elements: [] },
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

function bodyOf({ text, html }: Email, limits: ParseLimits): DocumentElement[] {
  if (text !== undefined && text.trim() !== "") {
    return text.replace(/\r\n?/g, "\n").split(/\n{2,}/).map((part) => part.trim()).filter((part) =>
      part !== ""
    )
      .map((part) => ({ category: "text", content: { text: part } }));
  }
  return html === undefined ? [] : [...readHtml(html, limits).elements];
}

function headersOf({ from, to, cc, date, messageId }: Email): DocumentElement {
  const rows: [string, string][] = [
    ["From", addressesOf(from).join(", ")],
    ["To", addressesOf(to).join(", ")],
    ["Cc", addressesOf(cc).join(", ")],
    ["Date", date ?? ""],
    ["Message-ID", messageId ?? ""],
  ];
  const filled = rows.filter(([, value]) => value !== "");
  return {
    category: "table",
    content: { headers: ["header", "value"], rows: filled, total_rows: filled.length },
  };
}

function addressesOf(addresses: Address | readonly Address[] | undefined): string[] {
  const list = addresses === undefined ? [] : [addresses].flat() as readonly Address[];
  return list.map(({ name, address = "" }) =>
    name === "" || name === address ? address : `${name} <${address}>`
  );
}

function attachmentText({ filename, mimeType, content }: Email["attachments"][number]): string {
  const size = typeof content === "string" ? content.length : content.byteLength;
  return `${filename ?? "unnamed"} (${mimeType}, ${size} bytes)`;
}
