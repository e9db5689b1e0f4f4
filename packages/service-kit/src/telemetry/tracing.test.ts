import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import { type CleanUp, cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { sql } from "kysely";
import { connectDatabase } from "../database/connect.ts";
import { startTestServer } from "../http/server.test-support.ts";
import { createLogger } from "./logger.ts";
import { startTracing, type Tracing } from "./tracing.ts";

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}
interface Export {
  resourceSpans: { resource: { attributes: Span["attributes"] }; scopeSpans: { spans: Span[] }[] }[];
}

/** An OpenTelemetry collector that stores the received spans. */
async function startCollector(cleanUp: CleanUp) {
  const received: { path: string | undefined; body: string }[] = [];
  const collector = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      received.push({ path: request.url, body });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  cleanUp(async () => collector.close());
  const address = collector.address();
  const exports = (): Export["resourceSpans"] =>
    received.flatMap(({ body }) => {
      const sent: Export = JSON.parse(body);
      return sent.resourceSpans;
    });
  const spans = (): Span[] => exports().flatMap((each) => each.scopeSpans.flatMap((scope) => scope.spans));
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`, received, exports, spans };
}

async function askTraced(cleanUp: CleanUp, tracing: Tracing, path: string, headers = {}): Promise<void> {
  const running = await startTestServer(cleanUp, {
    tracing,
    routes: (server) => server.get("/people/:name", () => ({})),
  });
  await (await fetch(`${running.url}${path}`, { headers })).text();
  await running.server.close();
}

const traceId = "0af7651916cd43dd8448eb211c80319c";
const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };

// A process can register one tracer only, so the tests share it and each filters the spans of its own requests.
describe("tracing", () => {
  test("sends nothing without an endpoint, whatever the environment", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const collector = await startCollector(cleanUp);
    process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url;
    cleanUp(async () => delete process.env["OTEL_EXPORTER_OTLP_ENDPOINT"]);
    const tracing = await startTracing("untraced", undefined);
    await askTraced(cleanUp, tracing, "/people/jane", headers);
    tracing.recordQuery("select 1", 1, false);
    await tracing.stop();
    assert.deepEqual(collector.received, []);
  });

  test("creates a span per request in the caller's trace, with a child span per query", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const collector = await startCollector(cleanUp);
    const tracing = await startTracing("traced", `${collector.url}/`);
    const { serviceUrl: url } = await cloneDatabase(cleanUp);
    const logger = createLogger({ service: "test", level: "silent" });
    const database = connectDatabase({
      url,
      service: "traced",
      poolSize: 1,
      statementTimeoutMs: 5_000,
      logger,
      tracing,
    });
    cleanUp(() => database.query.destroy());
    const running = await startTestServer(cleanUp, {
      tracing,
      routes: (server) => {
        server.get<{ Params: { name: string } }>("/people/:name", async ({ params }) => {
          await sql`select ${params.name}::text`.execute(database.query);
          await sql`select broken ${params.name}`.execute(database.query).catch(() => undefined);
          return {};
        });
        server.get("/broken/:name", () => Promise.reject(new Error("it broke")));
      },
    });
    for (const path of ["people/jane", "broken/jane", "nothing/jane", "people/jane%00"]) {
      await (await fetch(`${running.url}/${path}?diagnosis=flu`, { headers })).text();
    }
    await tracing.stop();

    assert.deepEqual([...new Set(collector.received.map(({ path }) => path))], ["/v1/traces"]);
    const service = collector.exports()[0]?.resource.attributes.find(({ key }) => key === "service.name");
    assert.deepEqual(service?.value, { stringValue: "traced" });
    const spans = collector.spans();
    const requests = spans.filter((span) => span.parentSpanId === "b7ad6b7169203331");
    assert.equal(requests.length, 4);
    for (const span of spans) assert.equal(span.traceId, traceId);
    const routes = requests.map((span) =>
      String(span.attributes.find(({ key }) => key === "url.path")?.value["stringValue"]),
    );
    assert.deepEqual(routes.toSorted(), ["/broken/:name", "/people/:name", "/people/:name", "unknown"]);

    const queries = spans.filter((span) => span.name === "query");
    assert.equal(queries.length, 2);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    for (const query of queries) {
      const handler = byId.get(query.parentSpanId ?? "");
      assert.ok(requests.some((request) => request.spanId === handler?.parentSpanId || request === handler));
    }
    assert.match(JSON.stringify(queries), /select \$1::text/);
    assert.doesNotMatch(collector.received.map(({ body }) => body).join(), /jane|diagnosis|flu/);
  });

  test("an unavailable endpoint doesn't affect requests", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const tracing = await startTracing("lost", "http://127.0.0.1:1");
    await askTraced(cleanUp, tracing, "/people/jane");
    await tracing.stop().catch(() => undefined);
  });
});
