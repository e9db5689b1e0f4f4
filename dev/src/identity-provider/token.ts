// Prints an access token of a persona, for use with the running stack:
//   npm run --silent token -- riverside-admin
import { exitWithUsage, readArguments } from "../command-line.ts";
import { readPorts } from "../stack/ports.ts";
import { isPersona, personaNames, personas } from "./personas.ts";
import { requestAccessToken } from "./request-access-token.ts";

const usage = `Usage: npm run --silent token -- PERSONA

Prints an access token of a persona (a demo user) of the running local stack. The personas:

${personaNames.map((name) => `  ${name.padEnd(22)}${personas[name].displayName}`).join("\n")}

  --help                print this text

Environment: IDP_PORT (8082), as the stack has it.

Examples:
  npm run --silent token -- riverside-admin
  curl -H "Authorization: Bearer $(npm run --silent token -- operator)" http://127.0.0.1:8080/api/v1/admin/audit`;

const { positionals } = readArguments(usage, { allowPositionals: true });
const name = positionals.join(" ");
if (name === "") exitWithUsage("A persona is required.", usage);
if (!isPersona(name)) {
  console.error(`There is no persona "${name}". The personas: ${personaNames.join(", ")}.`);
  process.exit(1);
}
try {
  console.log(await requestAccessToken(`http://127.0.0.1:${readPorts().idp}`, name));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
