/** A tool that an MCP server of this project answers itself: its definition, and its failures in words for a model. */
import { toSeenError } from "../text/safe_text.ts";
import { ArgumentError, Arguments } from "./arguments.ts";
import { errorResult, type Json, type McpTool, type McpToolResult } from "./mcp.ts";

/** What every tool knows of its call. */
export interface CallContext {
  readonly signal: AbortSignal;
}

/** A tool, and what it has to know of a call. */
export interface LocalToolOf<Context extends CallContext> {
  readonly definition: McpTool;
  /** Runs it. A failure is a result with `isError` whose text says what to do; it rejects only when `signal` is aborted. */
  run(args: Json, context: Context): Promise<McpToolResult>;
}

export interface LocalToolParts<Context extends CallContext> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly properties: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
  readonly outputSchema?: Json;
  readonly annotations: Json;
  /** @throws {ArgumentError} an argument is wrong. Any other error becomes a failure, too. */
  readonly run: (args: Arguments, context: Context) => McpToolResult | Promise<McpToolResult>;
}

/** Makes a tool, which takes no other arguments than those of its schema. */
export function makeLocalTool<Context extends CallContext>(
  { name, title, description, properties, required, outputSchema, annotations, run }: LocalToolParts<Context>,
): LocalToolOf<Context> {
  const definition: McpTool = {
    name,
    title,
    description,
    inputSchema: {
      type: "object",
      properties,
      ...(required === undefined ? {} : { required }),
      additionalProperties: false,
    },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: { title, ...annotations },
  };
  return {
    definition,
    async run(args, context) {
      try {
        return await run(new Arguments(name, args, Object.keys(properties)), context);
      } catch (error) {
        context.signal.throwIfAborted();
        if (error instanceof ArgumentError) return errorResult(error.message);
        return errorResult(`Cannot complete "${name}": ${toSeenError(error)}`);
      }
    },
  };
}
