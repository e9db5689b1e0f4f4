import { type CleanedEnv, cleanEnv, makeValidator, type ValidatorSpec } from "envalid";
import { canonicalNetwork } from "../addresses/admit-address.ts";

export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

type Specs = Record<string, ValidatorSpec<unknown>>;

/** Why a variable can't be used, by its name. */
export type Complaints = Record<string, string | undefined>;

function explain(variable: string, reason: string, spec: ValidatorSpec<unknown> | undefined): string {
  const example = spec?.example === undefined ? "" : ` For example: ${variable}=${spec.example}`;
  return `  ${variable}: ${reason}. ${spec?.desc ?? ""}.${example}`;
}

/** The message goes to logs and screens, where no password may follow it. */
function withoutSecret(message: string, variable: string, value: string): string {
  const secret = /secret|token|password|key/i.test(variable) || value.includes("@");
  return secret ? message.replaceAll(value, "[redacted]") : message;
}

/**
 * Checks every variable and names all that are wrong at once, so that a person fixes them in one go. An empty one is
 * not set: that is what a deployment's template leaves where nobody filled it in. `check` finds what is wrong with those that
 * are right by themselves.
 */
export function readEnvironment<S extends Specs>(
  environment: NodeJS.ProcessEnv,
  specs: S,
  check: (read: Partial<CleanedEnv<S>>) => Complaints = () => ({}),
): CleanedEnv<S> {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  return cleanEnv(set, specs, {
    reporter: ({ errors, env }) => {
      const wrong = Object.entries(errors).map(([variable, error]) => {
        const value = set[variable];
        if (value === undefined) return explain(variable, "is not set, and has no default", specs[variable]);
        return explain(variable, withoutSecret(lowerFirst(String(error?.message)), variable, value), specs[variable]);
      });
      const complaints = Object.entries(check(env as Partial<CleanedEnv<S>>));
      const lines = [
        ...wrong,
        ...complaints.flatMap(([variable, complaint]) =>
          complaint === undefined || variable in errors ? [] : [explain(variable, complaint, specs[variable])],
        ),
      ];
      if (lines.length === 0) return;
      throw new ConfigurationError(`The configuration can't be used:\n${lines.join("\n")}`);
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

/** Other schemes would be read as PostgreSQL's: `pg` ignores the scheme. The message leaves out the value, which has a password. */
export const databaseUrl: ReturnType<typeof makeValidator<string>> = makeValidator<string>((input) => {
  if (/^(?:postgres(?:ql)?:\/\/|socket:|\/)/.test(input)) return input;
  throw new Error("is not a connection string of PostgreSQL, which begins with postgres:// or postgresql://");
});

function listed(input: string): string[] {
  return input
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Origins of web pages, comma-separated, as browsers send them. */
export const origins: ReturnType<typeof makeValidator<string[]>> = makeValidator<string[]>((input) => {
  const parts = listed(input);
  const wrong = parts.find((part) => !/^https?:/.test(part) || !URL.canParse(part) || new URL(part).origin !== part);
  if (wrong !== undefined) throw new Error(`"${wrong}" is not an origin such as https://console.example.com`);
  return parts;
});

function parseNetworks(input: string): string[] {
  const parts = listed(input);
  const wrong = parts.find((part) => canonicalNetwork(part) === undefined);
  if (wrong !== undefined) throw new Error(`"${wrong}" is neither an IP address nor a network such as 10.0.0.0/8`);
  return parts;
}

/** Addresses and networks, comma-separated. */
export const networks: ReturnType<typeof makeValidator<string[]>> = makeValidator<string[]>(parseNetworks);

/** The same, or `none`. */
export const networksOrNone: ReturnType<typeof makeValidator<string[] | "none">> = makeValidator<string[] | "none">(
  (input) => (input.trim() === "none" ? "none" : parseNetworks(input)),
);
