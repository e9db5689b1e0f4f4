import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";

const block = /^(?<indent> *)```(?<language>\w*)\n(?<content>.*?)^\k<indent>```$/gms;
const inlineStatement = /`((?:select|insert|update|delete|alter|reindex|vacuum) [^`…]+)`/g;

/** Extracts the SQL of a Markdown file: its `sql` blocks and the inline statements in its text. */
function statementsOf(markdown: string): string[] {
  const blocks = [...markdown.matchAll(block)].filter(({ groups }) => groups?.["language"] === "sql");
  const text = markdown.replaceAll(block, "");
  return [
    ...blocks.map(({ groups }) => groups?.["content"] ?? ""),
    ...[...text.matchAll(inlineStatement)].map(([, statement = ""]) => statement),
  ];
}

for (const { guide, template, atLeast } of [
  { guide: "ehr-operator.md", template: "ehr", atLeast: 4 },
  { guide: "marketplace-operator.md", template: "demo", atLeast: 8 },
  { guide: "web-operator.md", template: "web", atLeast: 1 },
] as const) {
  test(`every SQL statement of ${guide} runs on the service's schema`, async (t) => {
    const markdown = await readFile(new URL(`../../docs/guides/${guide}`, import.meta.url), "utf8");
    const statements = statementsOf(markdown);
    assert.ok(statements.length >= atLeast, `${statements.length} statements`);

    const { ownerUrl } = await cloneDatabase(cleanUpAfter(t), template);
    for (const statement of statements) {
      await withClient(ownerUrl, (client) =>
        assert.doesNotReject(async () => {
          await client.query(statement);
        }, statement),
      );
    }
  });
}
