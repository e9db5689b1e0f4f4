import { Gauge, type Registry } from "prom-client";

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
