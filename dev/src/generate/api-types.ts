import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";

interface ApiDocument {
  paths: Record<string, Record<string, { operationId: string }>>;
}

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Types of everything that a service's document describes, and of its operations by method and path. */
export async function generateApiTypes(document: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "ehr-marketplace-types-"));
  try {
    const [input, output] = [join(directory, "openapi.json"), join(directory, "types")];
    await writeFile(input, document);
    await createClient({
      input,
      output,
      logs: { level: "silent", file: false },
      plugins: [{ name: "@hey-api/typescript", comments: false }],
    });
    return `${await readFile(join(output, "types.gen.ts"), "utf8")}\n${listOperations(JSON.parse(document) as ApiDocument)}`;
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The names are those that `@hey-api/typescript` derives from the operation's id. */
function listOperations({ paths }: ApiDocument): string {
  const lines = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => {
      const name = capitalise(operationId);
      return `    '${method.toUpperCase()} ${path}': { request: ${name}Data; responses: ${name}Responses };\n`;
    }),
  );
  return `export interface Operations {\n${lines.join("")}}\n`;
}
