export { gaugeOf } from "./gauge-of.ts";
export { createLogger, type Logger } from "./logger.ts";
export { createMetrics, type Metrics } from "./metrics.ts";
export { startTracing, type Tracing } from "./tracing.ts";
