/** The reverse proxies of Debian's packages with the files of `deploy/`. */
import { findTool, ROOT, type Tool } from "./_tools.ts";

export const nginx = findTool("nginx", ["debian/nginx"]);
const caddy = findTool("caddy", ["debian/caddy"]);

/** Writes the configuration of a proxy for these ports, and returns the words that start it. */
export type Configure = (ports: {
  readonly folder: string;
  readonly listen: number;
  readonly servers: readonly number[];
}) => Promise<{ readonly words: readonly string[]; readonly env?: Readonly<Record<string, string>> }>;

export const configureNginx: Configure = async ({ folder, listen, servers }) => {
  const shipped = await Deno.readTextFile(`${ROOT}deploy/nginx.conf`);
  const config = shipped.replace("listen 8080", `listen 127.0.0.1:${listen}`)
    .replace(
      /^ *server 127\.0\.0\.1:3000 .*$/m,
      (line) => servers.map((port) => line.replace("3000", `${port}`)).join("\n"),
    );
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `  ${name}_temp_path ${folder}/${name};\n`).join("");
  const http = `http {\n  access_log off;\n${places}${config}}\n`;
  const text = `daemon off;\npid ${folder}/nginx.pid;\nworker_processes auto;\nevents {}\n${http}`;
  await Deno.writeTextFile(`${folder}/nginx.conf`, text);
  return { words: [nginx.command, "-p", folder, "-c", `${folder}/nginx.conf`, "-e", "stderr"] };
};

const configureCaddy: Configure = async ({ folder, listen, servers }) => {
  const shipped = await Deno.readTextFile(`${ROOT}deploy/Caddyfile`);
  await Deno.writeTextFile(`${folder}/Caddyfile`, `{\n\tadmin off\n}\n${shipped}`);
  const words = [caddy.command, "run", "--config", `${folder}/Caddyfile`, "--adapter", "caddyfile"];
  const upstreams = servers.map((port) => `127.0.0.1:${port}`).join(" ");
  const balance: Readonly<Record<string, string>> = servers.length > 1 ? { A2C_BALANCE: "several" } : {};
  const env = { A2C_SITE: `http://:${listen}`, A2C_SERVERS: upstreams, HOME: folder, XDG_DATA_HOME: folder };
  return { words, env: { ...env, ...balance } };
};

/** The proxies, each with what writes its configuration. */
export const proxies: readonly (readonly [Tool, Configure])[] = [[nginx, configureNginx], [
  caddy,
  configureCaddy,
]];

/** A port for a program that cannot choose one. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** The status of an answer; 0 without one. */
export async function fetchStatus(url: string): Promise<number> {
  try {
    const answer = await fetch(url);
    await answer.body?.cancel();
    return answer.status;
  } catch {
    return 0;
  }
}
