// Prints an access token of a persona, for use with the running stack:
//   npm run --silent token -- riverside-admin
import { readPorts } from "../stack/ports.ts";
import { isPersona, personaNames, personas } from "./personas.ts";
import { requestAccessToken } from "./request-access-token.ts";

const usage = [
  "Usage: npm run --silent token -- PERSONA",
  "",
  ...personaNames.map((name) => `  ${name.padEnd(22)}${personas[name].displayName}`),
].join("\n");

async function requestToken(words: string[]): Promise<string> {
  const name = words.join(" ");
  if (name === "") throw new Error(`A persona is required. ${usage}`);
  if (!isPersona(name)) throw new Error(`There is no persona "${name}". ${usage}`);
  const issuer = `http://127.0.0.1:${readPorts().idp}`;
  return requestAccessToken(issuer, name);
}

try {
  console.log(await requestToken(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
