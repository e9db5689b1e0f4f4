export { createLogger, type Logger } from "./logger.ts";
export { createMetrics, type Metrics, registerGauge } from "./metrics.ts";
export { startTracing, type Tracing } from "./tracing.ts";
