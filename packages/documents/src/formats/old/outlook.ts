/** Messages of Outlook (`.msg`), and those that are attached to them. */
import library, { type FieldsData } from "@kenjiuno/msgreader";
import { decodeText } from "../decode_text.ts";
import { type ParsedDocument, type ParseInput, unreadable } from "../format.ts";
import { metaEncoding } from "../html/dom.ts";
import { type Mail, openMails } from "../mail.ts";
import { open as openText } from "../text.ts";
import { isCompoundFile } from "../zip.ts";
import { openDisguised } from "./disguise.ts";

type MsgReader = InstanceType<typeof library.default>;

/** The most messages that are read of those attached to one another. */
const MAX_MESSAGES = 100;
/** The code pages of texts that the library decodes by itself: none, UTF-16, UTF-8. */
const PLAIN_CODE_PAGES = [0, 1200, 65001];

/** Opens a message. Other programs have texts of this name. */
export async function open(input: ParseInput): Promise<ParsedDocument> {
  const { bytes } = input;
  if (!isCompoundFile(bytes)) return await openDisguised(input) ?? openText(input);
  return await openMails(readMessages(bytes), { ...input, losses: [] });
}

function readMessages(bytes: Uint8Array<ArrayBuffer>): readonly [Mail, ...Mail[]] {
  try {
    const { reader, fields } = readFields(bytes);
    if (fields.messageClass === undefined) throw new TypeError("It has no class of message");
    const inner = innerMessages(fields).take(MAX_MESSAGES).map((message) => toMail(message, reader));
    return [toMail(fields, reader), ...inner];
  } catch (cause) {
    throw unreadable("damaged", "the file is damaged, or no message of Outlook", { cause });
  }
}

function readFields(bytes: Uint8Array<ArrayBuffer>, ansiEncoding?: string): {
  readonly reader: MsgReader;
  readonly fields: FieldsData;
} {
  const reader = new library.default(new DataView(bytes.buffer));
  reader.parserConfig = { ansiEncoding };
  const fields = reader.getFileData();
  const { messageCodepage: page = 0 } = fields;
  return ansiEncoding !== undefined || PLAIN_CODE_PAGES.includes(page)
    ? { reader, fields }
    : readFields(bytes, `cp${page}`);
}

function* innerMessages({ attachments = [] }: FieldsData): Generator<FieldsData, void> {
  for (const { innerMsgContentFields } of attachments) {
    if (innerMsgContentFields === undefined) continue;
    yield innerMsgContentFields;
    yield* innerMessages(innerMsgContentFields);
  }
}

function toMail(message: FieldsData, reader: MsgReader): Mail {
  const { subject, senderName = "", senderEmail = "", messageId, body = "" } = message;
  const { attachments = [], recipients = [], clientSubmitTime, messageDeliveryTime } = message;
  const date = new Date(clientSubmitTime ?? messageDeliveryTime ?? NaN);
  const addressesOf = (type: string) =>
    recipients.filter(({ recipType = "to" }) => recipType === type)
      .map(({ name = "", smtpAddress, email }) => toAddress(name, smtpAddress ?? email ?? ""));
  const sender = toAddress(senderName, message.senderSmtpAddress ?? senderEmail);
  const files = attachments.filter(({ innerMsgContent }) => innerMsgContent !== true);
  return {
    subject,
    ...(sender.name === "" && sender.address === "" ? {} : { from: sender }),
    to: addressesOf("to"),
    cc: addressesOf("cc"),
    date: Number.isNaN(date.getTime()) ? undefined : date.toISOString(),
    messageId,
    text: body,
    html: message.html === undefined
      ? message.bodyHtml
      : decodeText(new Uint8Array(message.html), metaEncoding).text,
    attachments: files.map((file) => ({
      filename: file.fileName ?? file.fileNameShort ?? file.name ?? null,
      mimeType: file.attachMimeTag ?? "application/octet-stream",
      content: reader.getAttachment(file).content,
    })),
  };
}

/** Addresses within an organization are paths that say nothing to a person. */
function toAddress(name: string, address: string): { name: string; address: string } {
  const shown = address.startsWith("/") ? "" : address;
  return { name: name || shown, address: shown };
}
