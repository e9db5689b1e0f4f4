import type { MessagePort } from "node:worker_threads";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { LRUCache } from "lru-cache";

export interface CheckTask {
  /** The schema's JSON. */
  schema: string;
  config: unknown;
  /** Told when the work begins: that is when its time begins to run. */
  begun: MessagePort;
}

export interface WrongValue {
  pointer: string;
  detail: string;
}

export type CheckResult =
  | { kind: "valid" }
  | { kind: "invalid"; wrong: WrongValue[] }
  /** The schema is none, or no end is found in it. */
  | { kind: "unusable"; why: string };

const mostShown = 20;
const longestReason = 300;

const metaSchemas = new Ajv2020({ strict: false, logger: false });
/** Compiling costs more than checking; a few of them, because what is compiled takes memory. */
const compiled = new LRUCache<string, ValidateFunction>({ max: 10 });

function compile(text: string): ValidateFunction {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const schema = JSON.parse(text) as object;
  if (metaSchemas.validateSchema(schema) !== true) {
    throw new Error(metaSchemas.errorsText(metaSchemas.errors, { dataVar: "schema" }));
  }
  // One of its own for each: two schemas may have the same $id. Without `loadSchema` nothing is ever fetched.
  const ajv = new Ajv2020({ allErrors: true, strict: false, logger: false, validateSchema: false, meta: false });
  addFormats.default(ajv);
  const validate = ajv.compile(schema);
  // What it answers is a promise, which would always be taken for a yes.
  if ("$async" in validate) throw new Error("$async is not supported");
  compiled.set(text, validate);
  return validate;
}

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

function wrongValue({ keyword, instancePath, params, message }: ErrorObject): WrongValue {
  const { missingProperty, additionalProperty, unevaluatedProperty, propertyName } = params as Record<string, string>;
  const unknown = additionalProperty ?? unevaluatedProperty;
  const leaf = missingProperty ?? unknown ?? (keyword === "propertyNames" ? propertyName : undefined);
  const detail =
    missingProperty === undefined
      ? unknown === undefined
        ? (message ?? "is invalid")
        : "is not known to this app"
      : "is required";
  return { pointer: `${instancePath}${leaf === undefined ? "" : `/${escaped(leaf)}`}`, detail };
}

/** Runs in a thread of its own, which is ended when it takes too long. */
export default function checkConfig({ schema, config, begun }: CheckTask): CheckResult {
  begun.postMessage(null, []);
  begun.close();
  try {
    const validate = compile(schema);
    if (validate(config)) return { kind: "valid" };
    return { kind: "invalid", wrong: (validate.errors ?? []).slice(0, mostShown).map(wrongValue) };
  } catch (error) {
    const why = error instanceof RangeError ? "it refers to itself without end" : (error as Error).message;
    return { kind: "unusable", why: why.slice(0, longestReason) };
  }
}
