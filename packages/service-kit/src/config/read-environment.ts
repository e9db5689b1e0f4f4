import { canonicaliseNetwork } from "@ehr-marketplace/outbound-http/addresses";
import { type CleanedEnv, cleanEnv, makeValidator, type ValidatorSpec } from "envalid";

export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

type Specs = Record<string, ValidatorSpec<unknown>>;

/** Why each variable can't be used, by variable name. */
export type VariableErrors = Record<string, string | undefined>;

function describeError(variable: string, reason: string, spec: ValidatorSpec<unknown> | undefined): string {
  const example = spec?.example === undefined ? "" : ` For example: ${variable}=${spec.example}`;
  return `  ${variable}: ${reason}. ${spec?.desc ?? ""}.${example}`;
}

/** Redacts the value of a secret variable, because the message is logged and printed. */
function redactValue(message: string, variable: string, value: string): string {
  const secret = /secret|token|password|key/i.test(variable) || value.includes("@");
  return secret ? message.replaceAll(value, "[redacted]") : message;
}

/**
 * Validates every variable and reports all errors at once. An empty variable counts as unset, because deployment templates leave it
 * empty when no value is given. `check` returns further errors of variables that are valid by themselves.
 */
export function readEnvironment<S extends Specs>(
  environment: NodeJS.ProcessEnv,
  specs: S,
  check: (read: Partial<CleanedEnv<S>>) => VariableErrors = () => ({}),
): CleanedEnv<S> {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  return cleanEnv(set, specs, {
    reporter: ({ errors, env }) => {
      const invalid = Object.entries(errors).map(([variable, error]) => {
        const value = set[variable];
        if (value === undefined) return describeError(variable, "is required", specs[variable]);
        return describeError(
          variable,
          redactValue(lowerFirst(String(error?.message)), variable, value),
          specs[variable],
        );
      });
      const checked = Object.entries(check(env as Partial<CleanedEnv<S>>));
      const lines = [
        ...invalid,
        ...checked.flatMap(([variable, error]) =>
          error === undefined || variable in errors ? [] : [describeError(variable, error, specs[variable])],
        ),
      ];
      if (lines.length === 0) return;
      throw new ConfigurationError(`The configuration is invalid:\n${lines.join("\n")}`);
    },
  });
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, "");
}

export const wholeNumber = (range: { min: number; max: number }): ReturnType<typeof makeValidator<number>> =>
  makeValidator<number>((input) => {
    const value = Number(input);
    if (!/^\d+$/.test(input) || value < range.min || value > range.max) {
      throw new Error(`"${input}" is not a whole number from ${range.min} to ${range.max}`);
    }
    return value;
  });

/** Checks the scheme, because `pg` ignores it. The message omits the value, which contains a password. */
export const databaseUrl: ReturnType<typeof makeValidator<string>> = makeValidator<string>((input) => {
  if (/^(?:postgres(?:ql)?:\/\/|socket:|\/)/.test(input)) return input;
  throw new Error("is not a PostgreSQL connection string, which begins with postgres:// or postgresql://");
});

function splitList(input: string): string[] {
  return input
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function findOriginError(part: string): string | undefined {
  if (part === "*") return '"*" is not an origin: list each origin whose pages may call';
  if (!/^https?:\/\//.test(part)) return `"${part}" is not an origin: it must begin with https:// or http://`;
  const origin = URL.canParse(part) ? new URL(part).origin : undefined;
  if (origin === part) return undefined;
  if (origin === undefined) return `"${part}" is not an origin such as https://console.example.com`;
  return `"${part}" is not an origin, which has only scheme, host and port: write ${origin}`;
}

/** Origins of web pages, comma-separated, in the form of the Origin header. */
export const origins: ReturnType<typeof makeValidator<string[]>> = makeValidator<string[]>((input) => {
  const parts = splitList(input);
  const error = parts.map(findOriginError).find((each) => each !== undefined);
  if (error !== undefined) throw new Error(error);
  return parts;
});

function parseNetworks(input: string): string[] {
  const parts = splitList(input);
  const wrong = parts.find((part) => canonicaliseNetwork(part) === undefined);
  if (wrong !== undefined) throw new Error(`"${wrong}" is neither an IP address nor a network such as 10.0.0.0/8`);
  return parts;
}

/** Addresses and networks, comma-separated. */
export const networks: ReturnType<typeof makeValidator<string[]>> = makeValidator<string[]>(parseNetworks);

/** Addresses and networks, comma-separated, or `none`. */
export const networksOrNone: ReturnType<typeof makeValidator<string[] | "none">> = makeValidator<string[] | "none">(
  (input) => (input.trim() === "none" ? "none" : parseNetworks(input)),
);
