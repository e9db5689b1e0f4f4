import { networks, port, readEnvironment, str, wholeNumber } from "@ehr-marketplace/service-kit/config";
import { assertFitForProduction, databaseUrl, sealingKeys } from "./config.ts";

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

export function readWorkerConfig(environment: NodeJS.ProcessEnv) {
  const read = readEnvironment(environment, {
    NODE_ENV: str({
      desc: "Production asks for everything that protects it",
      choices: ["production", "development", "test"],
      default: "production",
    }),
    HOST: str({ desc: "Address to listen on", default: "0.0.0.0" }),
    WORKER_PORT: port({ desc: "Port for health and metrics", default: 8084 }),
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: wholeNumber({ min: 2, max: 500 })({ desc: "Connections of one process", default: 10 }),
    LOG_LEVEL: str({
      desc: "Least severe level that is logged",
      choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
      default: "info",
    }),
    METRICS_TOKEN: str({ desc: "Bearer token that /metrics asks for; production needs one", default: "" }),
    ENCRYPTION_KEYS: sealingKeys,
    VENDOR_ALLOWED_NETWORKS: networks({
      desc: "Networks that vendors' endpoints may be in although they are private, comma-separated",
      default: [],
    }),
    DELIVERIES_IN_FLIGHT: wholeNumber({ min: 1, max: 10_000 })({
      desc: "Most requests that one process has out at a time",
      default: 128,
    }),
    DELIVERIES_PER_RECIPIENT: wholeNumber({ min: 1, max: 1_000 })({
      desc: "Most of them to one recipient",
      default: 8,
    }),
    DELIVERY_LOG_DAYS: wholeNumber({ min: 1, max: 3_650 })({ desc: "How long attempts are kept", default: 90 }),
    OTEL_EXPORTER_OTLP_ENDPOINT: str({ desc: "Where traces are sent (OTLP over HTTP)", default: "" }),
  });
  if (read.NODE_ENV === "production") assertFitForProduction({ metricsToken: read.METRICS_TOKEN });
  return {
    host: read.HOST,
    port: read.WORKER_PORT,
    database: { url: read.DATABASE_URL, poolSize: read.DATABASE_POOL_SIZE, statementTimeoutMs: 10_000 },
    logLevel: read.LOG_LEVEL,
    metricsToken: read.METRICS_TOKEN === "" ? undefined : read.METRICS_TOKEN,
    encryptionKeys: read.ENCRYPTION_KEYS,
    vendorNetworks: read.VENDOR_ALLOWED_NETWORKS,
    mostInFlight: read.DELIVERIES_IN_FLIGHT,
    mostPerRecipient: read.DELIVERIES_PER_RECIPIENT,
    logDays: read.DELIVERY_LOG_DAYS,
    tracesEndpoint: read.OTEL_EXPORTER_OTLP_ENDPOINT === "" ? undefined : read.OTEL_EXPORTER_OTLP_ENDPOINT,
  };
}
