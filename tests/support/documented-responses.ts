import assert from "node:assert/strict";

interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}
interface Document {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
}

export interface DocumentedResponses {
  /** Every status of every operation in the document: `getInstallation 404`. */
  documented: string[];
  /** Those for which a response has been checked. */
  observed: Set<string>;
  /** Validates a response against the document; responses of undocumented paths are ignored. */
  checkResponse: (method: string, path: string, response: Response) => Promise<void>;
}

/** Sets `additionalProperties: false` where the document doesn't set it, so that undocumented fields fail. */
function closeObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeObjects);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closeObjects(value)]));
  return copy["type"] === "object" && "properties" in copy ? { additionalProperties: false, ...copy } : copy;
}

const jsonPointer = (...names: string[]): string =>
  names.map((name) => `/${encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))}`).join("");

/** Fetches a service's OpenAPI document, against which its responses are validated. */
export async function loadDocumentedResponses(documentUrl: string): Promise<DocumentedResponses> {
  const document = closeObjects(await (await fetch(documentUrl)).json()) as Document;
  const { createStrictAjv } = await import("@ehr-marketplace/service-kit/http");
  const ajv = createStrictAjv({ allErrors: true, strict: false });
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
  const observed = new Set<string>();

  return {
    observed,
    documented: operations.flatMap(({ operation: { operationId, responses } }) =>
      Object.keys(responses).map((status) => `${operationId} ${status}`),
    ),
    async checkResponse(method, path, response) {
      const [pathname = ""] = path.split("?");
      const body = await response.text();
      const found = operations.find((each) => each.method.toUpperCase() === method && each.pattern.test(pathname));
      if (found === undefined) return;
      const { template, operation } = found;
      const operationAndStatus = `${operation.operationId} ${response.status}`;
      const documented = operation.responses[response.status];
      assert.ok(documented !== undefined, `${operationAndStatus} is not in the document: ${body}`);
      observed.add(operationAndStatus);
      const [mediaType] = Object.keys(documented.content ?? {});
      if (mediaType === undefined) {
        assert.equal(body, "", operationAndStatus);
        return;
      }
      assert.equal(response.headers.get("content-type")?.split(";")[0], mediaType, operationAndStatus);
      const schemaPointer = jsonPointer(
        "paths",
        template,
        found.method,
        "responses",
        String(response.status),
        "content",
        mediaType,
      );
      const validate = ajv.getSchema(`document#${schemaPointer}/schema`);
      assert.ok(validate !== undefined, `${operationAndStatus} has no schema`);
      const texts = mediaType === "application/x-ndjson" ? body.trimEnd().split("\n") : [body];
      for (const text of texts) {
        assert.ok(
          validate(JSON.parse(text)),
          `${operationAndStatus}: ${ajv.errorsText(validate.errors)}\n${text.slice(0, 500)}`,
        );
      }
    },
  };
}
