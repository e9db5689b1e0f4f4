import { type Attributes, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { FastifyInstance } from "fastify";

export interface Tracing {
  instrument(server: FastifyInstance): Promise<void>;
  recordQuery(statement: string, milliseconds: number, failed: boolean): void;
  stop(): Promise<void>;
}

const disabledTracing: Tracing = {
  instrument: () => Promise.resolve(),
  recordQuery: () => undefined,
  stop: () => Promise.resolve(),
};

/** Exports traces if an endpoint is set. Without one, the OpenTelemetry SDK isn't loaded. */
export async function startTracing(service: string, endpoint: string | undefined): Promise<Tracing> {
  if (endpoint === undefined) return disabledTracing;
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }, otel] =
    await Promise.all([
      import("@opentelemetry/sdk-trace-node"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
      import("@fastify/otel"),
    ]);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ "service.name": service }),
    spanProcessors: [
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, "")}/v1/traces` })),
    ],
  });
  provider.register();
  const instrumentation = new otel.FastifyOtelInstrumentation({
    instrumentHooks: false,
    // The plugin sets `url.path` to the whole URL with its query string; traces must contain the route's pattern only.
    requestHook: (span, request) => span.setAttribute("url.path", request.routeOptions.url ?? "unknown"),
  });
  instrumentation.setTracerProvider(provider);
  const tracer = trace.getTracer(service);

  return {
    async instrument(server) {
      await server.register(instrumentation.plugin());
    },
    recordQuery(statement, milliseconds, failed) {
      const attributes: Attributes = { "db.system.name": "postgresql", "db.query.text": statement };
      const end = Date.now();
      const span = tracer.startSpan("query", { kind: SpanKind.CLIENT, startTime: end - milliseconds, attributes });
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(end);
    },
    stop: () => provider.shutdown(),
  };
}
