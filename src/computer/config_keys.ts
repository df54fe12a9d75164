/** Members of a configuration that have no meaning: a misspelt `forbidden_tools` forbids nothing. */
import type { MCPServerConfig } from "../protocol/config.ts";

const SERVER_KEYS: ReadonlySet<string> = new Set([
  "name",
  "type",
  "disabled",
  "forbidden_tools",
  "tool_meta",
  "default_tool_meta",
  "vrl",
  "server_parameters",
]);
const HTTP_KEYS = ["url", "headers", "timeout", "sse_read_timeout"];
const PARAMETER_KEYS: Readonly<Record<MCPServerConfig["type"], ReadonlySet<string>>> = {
  stdio: new Set(["command", "args", "env", "cwd", "encoding", "encoding_error_handler"]),
  streamable: new Set([...HTTP_KEYS, "terminate_on_close"]),
  sse: new Set(HTTP_KEYS),
};
const TOOL_META_KEYS: ReadonlySet<string> = new Set(["auto_apply", "alias", "tags", "ret_object_mapper"]);

/** A warning for each member of a server's configuration that nothing reads. */
export function unknownKeys(config: MCPServerConfig): string[] {
  const { name, type, server_parameters, tool_meta, default_tool_meta } = config;
  const metas = Object.entries(tool_meta).map(([tool, meta]) => [`tool_meta.${tool}`, meta] as const);
  const places: (readonly [path: string, value: object, known: ReadonlySet<string>])[] = [
    ["", config, SERVER_KEYS],
    ["server_parameters", server_parameters, PARAMETER_KEYS[type]],
    ...metas.map(([path, meta]) => [path, meta, TOOL_META_KEYS] as const),
    ["default_tool_meta", default_tool_meta ?? {}, TOOL_META_KEYS],
  ];
  return places.flatMap(([path, value, known]) =>
    Object.keys(value).filter((key) => !known.has(key)).map((key) => {
      const place = path === "" ? key : `${path}.${key}`;
      return `"${place}" of server "${name}" has no meaning here; known are ${[...known].join(", ")}`;
    })
  );
}
