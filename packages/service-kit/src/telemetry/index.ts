export { createLogger, type Logger } from "./logger.ts";
export { createMetrics, type Metrics } from "./metrics.ts";
export { registerGauge } from "./register-gauge.ts";
export { startTracing, type Tracing } from "./tracing.ts";
