import swagger from "@fastify/swagger";
import scalar from "@scalar/fastify-api-reference";
import type { FastifyInstance } from "fastify";
import { allowAnyone } from "./access.ts";
import { icon } from "./html-page.ts";
import { type FieldSchema, withOptionalNulls } from "./optional-fields.ts";
import { createRepresentation, preparePayload, type Representation, sendRepresentation } from "./representation.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The body's schema in the API reference, where the handler validates what the route's own schema doesn't. */
    documentedBody?: object;
  }
}

export interface ApiDescription {
  title: string;
  version: string;
  description: string;
  basePath: string;
  tags: { name: string; description: string }[];
  /** Describes how to get a token. */
  tokens: string;
  /** OpenAPI's `webhooks`, and the schemas that they refer to. */
  webhooks?: { requests: Record<string, object>; shapes: object[] };
}

const cacheControl = "public, max-age=300";

/** Prevents the reference page from loading anything from other origins. */
const pagePolicy = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
].join("; ");

const iconPath = "/favicon.ico";
const brand = `
.light-mode { --scalar-color-accent: #0b6e7a; --scalar-background-accent: #0b6e7a14; }
.dark-mode { --scalar-color-accent: #5cc6d0; --scalar-background-accent: #5cc6d01f; }
:root { --scalar-font: system-ui, sans-serif; --scalar-font-code: ui-monospace, monospace; }`;

interface Document {
  paths?: Record<
    string,
    Record<
      string,
      {
        operationId?: string;
        parameters?: { in: string; required?: boolean; allowEmptyValue?: boolean }[];
        requestBody?: { required: boolean };
      }
    >
  >;
}

/** Sets properties that the plugin has no option for: `allowEmptyValue` of query parameters, and optional request bodies. */
function withOptionalParts(document: Document, optionalBodies: ReadonlySet<unknown>): Document {
  const operations = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path));
  for (const parameter of operations.flatMap(({ parameters = [] }) => parameters)) {
    if (parameter.in === "query" && parameter.required !== true) parameter.allowEmptyValue = true;
  }
  for (const { operationId, requestBody } of operations) {
    if (requestBody !== undefined && optionalBodies.has(operationId)) requestBody.required = false;
  }
  return document;
}

/** Describes every route registered after it: the document at `{basePath}/openapi.json`, the reference at `/docs`. */
export async function apiReference(server: FastifyInstance, api: ApiDescription): Promise<void> {
  const { title, version, description, tags } = api;
  const optionalBodies = new Set<unknown>();
  await server.register(swagger, {
    stripBasePath: true,
    openapi: {
      openapi: "3.1.0",
      info: { title, version, description, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
      servers: [{ url: api.basePath }],
      tags,
      components: {
        securitySchemes: {
          accessToken: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: api.tokens },
        },
      },
    },
    transform: ({ schema: own, url, route }) => {
      const { access, bodyMayBeOmitted, documentedBody } = route.config ?? {};
      if (own === undefined) return { schema: own, url };
      if (bodyMayBeOmitted === true) optionalBodies.add(own.operationId);
      const body = documentedBody ?? own.body;
      const schema = body === undefined ? own : { ...own, body: withOptionalNulls(body as FieldSchema) };
      if (access === undefined || access === "anyone") return { schema, url };
      const describedAccess = `${schema.description}\n\nFor: ${access.map((role) => `\`${role}\``).join(", ")}.`;
      return { schema: { ...schema, description: describedAccess, security: [{ accessToken: [] }] }, url };
    },
    refResolver: { buildLocalReference: (json) => json["$id"] as string },
  });

  const { webhooks } = api;
  // Added in a scope without routes, because Fastify compiles all schemas of a scope for each response of its routes.
  await server.register(async (scope) => {
    for (const shape of webhooks?.shapes ?? []) scope.addSchema(shape);
  });

  const documentPath = `${api.basePath}/openapi.json`;
  // JSON.stringify omits `webhooks` if it is undefined.
  const describe = (): string =>
    JSON.stringify({
      ...withOptionalParts(server.swagger() as Document, optionalBodies),
      webhooks: webhooks?.requests,
    });
  let document: Representation | undefined;
  const hidden = { schema: { hide: true }, config: { access: "anyone" } } as const;
  server.get(documentPath, hidden, (request, reply) => {
    document ??= createRepresentation(describe(), {
      contentType: "application/json",
      cacheControl,
    });
    return sendRepresentation(request, reply.header("access-control-allow-origin", "*"), document);
  });

  server.get(iconPath, hidden, (_request, reply) =>
    reply.headers({ "content-type": "image/svg+xml", "cache-control": "public, max-age=86400" }).send(icon),
  );

  await server.register(async (docs) => {
    // The page's script has several megabytes, so it is compressed once instead of on every request.
    const pages = new Map<string | undefined, Representation>();
    docs.addHook("onSend", async (request, reply, payload) => {
      if (reply.statusCode !== 200 || typeof payload !== "string") return payload;
      const contentType = String(reply.getHeader("content-type"));
      const page = pages.get(request.routeOptions.url) ?? createRepresentation(payload, { contentType, cacheControl });
      pages.set(request.routeOptions.url, page);
      reply.headers({ "content-security-policy": pagePolicy, "referrer-policy": "no-referrer" });
      return preparePayload(request, reply, page);
    });
    allowAnyone(docs);
    await docs.register(scalar, {
      routePrefix: "/docs",
      configuration: {
        url: documentPath,
        pageTitle: title,
        favicon: iconPath,
        // Features that call or link to third-party servers are disabled.
        telemetry: false,
        withDefaultFonts: false,
        agent: { disabled: true },
        mcp: { disabled: true },
        showDeveloperTools: "never",
        hideClientButton: true,
        defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
        customCss: brand,
      },
    });
  });
}
