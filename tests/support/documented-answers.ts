import assert from "node:assert/strict";
import { strictAjv } from "@ehr-marketplace/service-kit/http";

interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}
interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
}

export interface DocumentedAnswers {
  /** Every status of every operation: `getInstallation 404`. */
  promised: string[];
  /** Those of them that an answer was held against. */
  seen: Set<string>;
  /** Holds an answer against the document; one to a path that isn't in it is let by. */
  hold: (method: string, path: string, answer: Response) => Promise<void>;
}

/** A field too many is a broken promise too, unless the document says that there may be others. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return copy["type"] === "object" && "properties" in copy ? { additionalProperties: false, ...copy } : copy;
}

const pointer = (...names: string[]): string =>
  names.map((name) => `/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("");

/** Reads the OpenAPI document that a service serves, and holds its answers against it, to the letter. */
export async function documentedAnswers(documentUrl: string): Promise<DocumentedAnswers> {
  const document = closed(await (await fetch(documentUrl)).json()) as Document;
  const ajv = strictAjv({ allErrors: true, strict: false });
  ajv.addSchema(document, "document");
  const base = document.servers[0]?.url ?? "";
  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      template,
      method,
      operation,
      pattern: new RegExp(`^${base}${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    })),
  );
  const seen = new Set<string>();

  return {
    seen,
    promised: operations.flatMap(({ operation: { operationId, responses } }) =>
      Object.keys(responses).map((status) => `${operationId} ${status}`),
    ),
    async hold(method, path, answer) {
      const [asked = ""] = path.split("?");
      const body = await answer.text();
      const found = operations.find((each) => each.method.toUpperCase() === method && each.pattern.test(asked));
      if (found === undefined) return;
      const { template, operation } = found;
      const what = `${operation.operationId} ${answer.status}`;
      const promised = operation.responses[answer.status];
      assert.ok(promised !== undefined, `${what} is not in the document: ${body}`);
      seen.add(what);
      const [mediaType] = Object.keys(promised.content ?? {});
      if (mediaType === undefined) {
        assert.equal(body, "", what);
        return;
      }
      assert.equal(answer.headers.get("content-type")?.split(";")[0], mediaType, what);
      const place = pointer("paths", template, found.method, "responses", String(answer.status), "content", mediaType);
      const validate = ajv.getSchema(`document#${place}/schema`);
      assert.ok(validate !== undefined, `${what} has a schema`);
      assert.ok(validate(JSON.parse(body)), `${what}: ${ajv.errorsText(validate.errors)}\n${body.slice(0, 500)}`);
    },
  };
}
