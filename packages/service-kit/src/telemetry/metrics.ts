import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface Metrics {
  registry: Registry;
  observeRequest(method: string, route: string, status: number, seconds: number): void;
  /** Counts a request that Node's HTTP parser refused before routing. */
  countParserRefusal(code: string): void;
  watchPool(pool: { totalCount: number; idleCount: number; waitingCount: number }): void;
}

/** Label values are defined by the code: never a tenant, a vendor, an address or a URL. */
export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });

  const requests = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from the first byte of a request to the last byte of its response",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const parserRefusals = new Counter({
    name: "http_requests_refused_by_parser_total",
    help: "Requests that were refused before a route was found, by problem code",
    labelNames: ["code"],
    registers: [registry],
  });
  // Hashing the labels on every request costs more than the observation itself.
  const series = new Map<string, ReturnType<typeof requests.labels>>();

  return {
    registry,
    observeRequest(method, route, status, seconds) {
      const key = `${method} ${status} ${route}`;
      let labelled = series.get(key);
      if (labelled === undefined) {
        labelled = requests.labels(method, route, String(status));
        series.set(key, labelled);
      }
      labelled.observe(seconds);
    },
    countParserRefusal: (code) => parserRefusals.inc({ code }),
    watchPool(pool) {
      new Gauge({
        name: "database_pool_connections",
        help: "Open and idle connections of the pool, and requests waiting for one",
        labelNames: ["state"],
        registers: [registry],
        collect() {
          this.set({ state: "open" }, pool.totalCount);
          this.set({ state: "idle" }, pool.idleCount);
          this.set({ state: "waiting" }, pool.waitingCount);
        },
      });
    },
  };
}

/** Registers a gauge that is read at each scrape. If reading fails, the gauge is omitted and the other metrics are still served. */
export function registerGauge(registry: Registry, name: string, help: string, read: () => Promise<number>): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      try {
        this.set(await read());
      } catch {
        this.remove();
      }
    },
  });
}
