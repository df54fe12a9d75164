/** A Server behind TLS, with a certificate that is made for the test. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "@std/path";
import { SmcpServer } from "../../server.ts";

/** What a certificate says. */
export interface CertificateOptions {
  /** The host it is for; `localhost` by default. */
  readonly host?: string;
  /** Whether its time is over; false by default. */
  readonly isExpired?: boolean;
  /** Its key, as openssl names it; `ec:prime256v1` by default. */
  readonly kind?: string;
}

/** Makes a self-signed certificate with openssl; gives the paths of its files. */
export async function makeCertificate(
  folder: string,
  { host = "localhost", isExpired = false, kind = "ec:prime256v1" }: CertificateOptions = {},
): Promise<{ readonly certFile: string; readonly keyFile: string }> {
  const [certFile = "", keyFile = "", request = "", extensions = ""] = ["pem", "key", "csr", "ext"]
    .map((end) => join(folder, `${host}-${isExpired}.${end}`));
  await Deno.writeTextFile(extensions, `subjectAltName=DNS:${host}\n`);
  const [, curve] = /^ec:(.+)$/.exec(kind) ?? [];
  const newKey = curve === undefined ? [kind] : ["ec", "-pkeyopt", `ec_paramgen_curve:${curve}`];
  const key = ["-newkey", ...newKey, "-nodes", "-keyout", keyFile];
  await runOpenssl(["req", ...key, "-subj", `/CN=${host}`, "-out", request]);
  const days = ["-days", isExpired ? "-1" : "2"];
  const files = ["-in", request, "-signkey", keyFile, "-extfile", extensions, "-out", certFile];
  await runOpenssl(["x509", "-req", ...days, ...files]);
  return { certFile, keyFile };
}

async function runOpenssl(args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("openssl", { args: [...args] }).output();
  if (!success) throw new TypeError(`openssl failed: ${new TextDecoder().decode(stderr)}`);
}

/** A Server that speaks TLS on a free port of this machine. */
export class TlsServer implements AsyncDisposable {
  readonly port: number;
  readonly #close: () => Promise<void>;

  private constructor(port: number, close: () => Promise<void>) {
    this.port = port;
    this.#close = close;
  }

  static async listen(
    files: { readonly certFile: string; readonly keyFile: string },
    { path }: { readonly path?: string } = {},
  ): Promise<TlsServer> {
    const http = createServer({
      cert: Deno.readTextFileSync(files.certFile),
      key: Deno.readTextFileSync(files.keyFile),
    });
    const server = SmcpServer.attach(http, { allowAnonymous: true, path });
    await new Promise<void>((resolve) => http.listen(0, resolve));
    return new TlsServer(portOf(http.address()), () => server.close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
