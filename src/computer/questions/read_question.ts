/** Reads the question of an MCP server: what can be asked, and why not. Pure. */
import type { Question } from "../../mcp/call_options.ts";
import { type QuestionField, readForm } from "../../protocol/question_form.ts";
import { findSecretField } from "../../protocol/secret_fields.ts";
import { fitsApproximately } from "../../json/measure.ts";
import { describeError, shorten } from "../../text.ts";

const MAX_MESSAGE_LENGTH = 16_384;
const MAX_SCHEMA_BYTES = 65_536;
const MAX_URL_LENGTH = 8_192;
const MAX_REASON_LENGTH = 200;

export type ReadableQuestion =
  | {
    readonly mode: "form";
    readonly message: string;
    readonly fields: readonly QuestionField[];
    readonly schema: Readonly<Record<string, unknown>>;
  }
  | { readonly mode: "url"; readonly message: string; readonly url: string };

/** A question as it was read: one that can be asked, or the reason why not, for the model. */
export type QuestionReading =
  | { readonly question: ReadableQuestion; readonly refusal?: undefined }
  | { readonly question?: undefined; readonly refusal: string };

export function readQuestion(question: Question): QuestionReading {
  const { message } = question;
  if (message.length > MAX_MESSAGE_LENGTH) return { refusal: "its text is too long" };
  if (question.mode === "form") return readFormQuestion(message, question.schema);
  // In the normal form of URLs nothing is invisible, and every host is spelled in ASCII.
  const url = URL.parse(question.url);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return { refusal: "its URL is not one of the web" };
  }
  if (url.username !== "" || url.password !== "") return { refusal: "its URL has a user name in it" };
  if (url.href.length > MAX_URL_LENGTH) return { refusal: "its URL is too long" };
  return { question: { mode: "url", message, url: url.href } };
}

function readFormQuestion(message: string, schema: Readonly<Record<string, unknown>>): QuestionReading {
  if (!fitsApproximately(schema, MAX_SCHEMA_BYTES)) return { refusal: "its form is too large" };
  let fields: QuestionField[];
  try {
    fields = readForm(schema);
  } catch (error) {
    return { refusal: `its form is not one of MCP (${shorten(describeError(error), MAX_REASON_LENGTH)})` };
  }
  const secret = findSecretField(fields, schema);
  if (secret === undefined) return { question: { mode: "form", message, fields, schema } };
  const name = shorten(secret.name, MAX_REASON_LENGTH);
  return { refusal: `its field "${name}" looks like a secret, and a form must not ask for secrets` };
}
