/** Bytes of others, written in Base64. */
const DATA_URL = /^\s*data:([^,;]{0,255})((?:;[^,;]{0,255})*),/i;

/**
 * Reads Base64, also in lines, without padding, in the alphabet for URLs, or as a `data:` URL. `undefined` for what is
 * none.
 */
export function readBase64(
  text: string,
): { readonly base64: string; readonly mimeType: string | undefined } | undefined {
  const [head = "", type = "", parameters = ""] = DATA_URL.exec(text) ?? [];
  const mimeType = type.trim().toLowerCase() || undefined;
  try {
    const rest = text.slice(head.length);
    const data = head !== "" && rest.includes("%") ? decodeURIComponent(rest) : rest;
    const isText = head !== "" && !/;\s*base64\s*$/i.test(parameters);
    const base64 = isText ? new TextEncoder().encode(data).toBase64() : toStandard(data);
    return base64 === undefined ? undefined : { base64, mimeType };
  } catch {
    return undefined;
  }
}

function toStandard(data: string): string | undefined {
  const text = data.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/").replace(/={1,2}$/, "");
  if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) return undefined;
  return text + "=".repeat((4 - text.length % 4) % 4);
}
