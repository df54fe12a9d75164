/** The HTTP part of a connection: a session over polling, which is upgraded to a WebSocket, as the official clients do. */

/** The time limit for a handshake or an answer, in milliseconds. */
const DEADLINE_MS = 60_000;
const HEAD_BYTES = 4 * 1024;
const HEAD_END = "\r\n\r\n";

/** A WebSocket on a TCP connection, and the bytes that were read behind the HTTP answer. */
export interface OpenWebSocket {
  readonly conn: Deno.TcpConn;
  readonly first: Uint8Array;
}

/** Opens a session over polling and a WebSocket for it. The upgrade is complete after a probe, see Engine.IO 4. */
export async function openWebSocket(
  { port, version }: { readonly port: number; readonly version: string },
): Promise<OpenWebSocket> {
  const query = `EIO=4&a2c_version=${version}`;
  const session = await openSession(port, `${query}&transport=polling`);
  const key = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));
  const conn = await request(port, `${query}&transport=websocket&sid=${session}`, [
    "Connection: Upgrade",
    "Upgrade: websocket",
    `Sec-WebSocket-Key: ${key}`,
    "Sec-WebSocket-Version: 13",
  ]);
  const { text, bytes } = await readUntil(conn, (text) => text.includes(HEAD_END));
  if (!text.startsWith("HTTP/1.1 101")) {
    conn.close();
    throw new TypeError(`Cannot open a WebSocket: "${text.split("\r\n")[0]}"`);
  }
  return { conn, first: bytes.subarray(text.indexOf(HEAD_END) + HEAD_END.length) };
}

/** Settles like `promise`, or rejects after the time limit. */
export async function beforeDeadline<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new TypeError(`Cannot wait longer for ${what}`)), DEADLINE_MS);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves to the id of a new session. */
async function openSession(port: number, query: string): Promise<string> {
  using conn = await request(port, query, ["Connection: close"]);
  const session = /"sid":"([^"]+)"/;
  const { text } = await readUntil(conn, (text) => session.test(text));
  const [, id] = session.exec(text) ?? [];
  if (id === undefined) throw new TypeError(`Cannot open a session: "${text.split("\r\n")[0]}"`);
  return id;
}

async function request(port: number, query: string, headers: readonly string[]): Promise<Deno.TcpConn> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  conn.setNoDelay(true);
  const lines = [`GET /socket.io/?${query} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...headers];
  await conn.write(new TextEncoder().encode(`${lines.join("\r\n")}${HEAD_END}`));
  return conn;
}

/** Reads until the text is complete or the Server ends the connection. */
async function readUntil(
  conn: Deno.TcpConn,
  isComplete: (text: string) => boolean,
): Promise<{ text: string; bytes: Uint8Array }> {
  const chunk = new Uint8Array(HEAD_BYTES);
  let length = 0;
  let text = "";
  while (length < chunk.length && !isComplete(text)) {
    const count = await beforeDeadline(conn.read(chunk.subarray(length)), "an HTTP answer");
    if (count === null) break;
    length += count;
    text = new TextDecoder("latin1").decode(chunk.subarray(0, length));
  }
  return { text, bytes: chunk.subarray(0, length) };
}
