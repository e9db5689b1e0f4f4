import { port, readEnvironment, wholeNumber } from "@ehr-marketplace/service-kit/config";
import { findMarketplaceErrors, marketplaceConfig, marketplaceEnvironment } from "./config.ts";
import { findMailErrors, mailConfig, mailEnvironment } from "./mail-config.ts";

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

export function readWorkerConfig(environment: NodeJS.ProcessEnv) {
  const specs = {
    ...marketplaceEnvironment,
    ...mailEnvironment,
    WORKER_PORT: port({ desc: "Port for health and metrics", default: 8084 }),
    DATABASE_POOL_SIZE: wholeNumber({ min: 1, max: 500 })({
      desc: "Maximum number of database connections per process",
      default: 10,
    }),
    DELIVERIES_IN_FLIGHT: wholeNumber({ min: 1, max: 10_000 })({
      desc: "Maximum concurrent requests of one process",
      default: 128,
    }),
    DELIVERIES_PER_RECIPIENT: wholeNumber({ min: 1, max: 1_000 })({
      desc: "Maximum concurrent requests to one recipient",
      default: 8,
    }),
    DELIVERY_LOG_DAYS: wholeNumber({ min: 1, max: 3_650 })({
      desc: "Retention of delivery attempts in days",
      default: 90,
    }),
  };
  const read = readEnvironment(environment, specs, (given) => ({
    ...findMarketplaceErrors(given),
    ...findMailErrors(given),
  }));
  return {
    ...marketplaceConfig(read),
    port: read.WORKER_PORT,
    database: { url: read.DATABASE_URL, poolSize: read.DATABASE_POOL_SIZE, statementTimeoutMs: 10_000 },
    maxInFlight: read.DELIVERIES_IN_FLIGHT,
    maxPerRecipient: read.DELIVERIES_PER_RECIPIENT,
    logDays: read.DELIVERY_LOG_DAYS,
    mail: mailConfig(read),
  };
}
