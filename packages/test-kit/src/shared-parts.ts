import { relative } from "node:path";

const loaded = new Map<string, Promise<unknown>>();

async function load(name: string): Promise<unknown> {
  const { TEST_PARTS_URL: url } = process.env;
  if (url === undefined) {
    const file = relative(process.cwd(), process.argv[1] ?? "FILE");
    throw new Error(`This test needs what npm test starts (${name}). Run it with: npm test -- ${file}`);
  }
  const response = await fetch(`${url}/${name}`);
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

/** Returns what describes a part that all test files share, such as a database cluster. `npm test` starts it when it is first needed. */
export function getSharedPart<T>(name: string): Promise<T> {
  const part = loaded.get(name) ?? load(name);
  loaded.set(name, part);
  return part as Promise<T>;
}
