/** The schema of the file that `--config` of the Server names, made from the table of options. */
import { logOptions } from "../src/cli/options.ts";
import { flagOf, OPTION_NAMES, rangeOf, rowOf } from "../src/server/options/checks.ts";
import type { OptionName } from "../src/server/options/table.ts";

type Schema = Readonly<Record<string, unknown>>;

const SIZE = "^\\d+(\\.\\d+)?\\s*([kKmMgG]?[iI]?[bB])?$";
const TIME = "^\\d+(\\.\\d+)?(ms|s|m|h)?$";
const WHOLE = "^\\d+$";

/** @param id Where the schema is published. */
export function buildServerSchema(id: string): Schema {
  const names = OPTION_NAMES.filter((name) => name !== "config");
  const log = logOptions().map(({ long, description, argChoices }) => [
    long?.slice(2),
    { description, type: "string", ...argChoices && { enum: argChoices } },
  ]);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: id,
    title: "Options of an A2C-SMCP Server",
    description: "The file of --config: a key is a flag without its dashes.",
    type: "object",
    allowComments: true,
    allowTrailingCommas: true,
    properties: {
      $schema: { description: "Where the editor finds this schema.", type: "string" },
      ...Object.fromEntries(names.map((name) => [flagOf(name).slice(2), propertyOf(name)])),
      ...Object.fromEntries(log),
    },
    additionalProperties: false,
  };
}

function propertyOf(name: OptionName): Schema {
  const { help, otherwise, default: value } = rowOf(name);
  const description = otherwise === undefined ? help : `${help} (default: ${otherwise})`;
  return { description, ...typeOf(name), ...value !== undefined && { default: value } };
}

function typeOf(name: OptionName): Schema {
  const { least: minimum, most: maximum } = rangeOf(name);
  const { kind } = rowOf(name);
  switch (kind) {
    case "text":
      return { type: "string" };
    case "switch":
      return { type: "boolean" };
    case "texts":
    case "words":
      return { type: ["string", "array"], items: { type: "string" } };
    case "port":
      return numberOr(WHOLE, { minimum, maximum });
    case "count":
      return numberOr(WHOLE, { minimum });
    case "bytes":
      return numberOr(SIZE, { minimum });
    case "ms":
      return numberOr(TIME, { minimum, maximum });
  }
}

/** A whole number, or a text such as the command line takes. */
function numberOr(pattern: string, range: Schema): Schema {
  return { anyOf: [{ type: "integer", ...range }, { type: "string", pattern }] };
}
