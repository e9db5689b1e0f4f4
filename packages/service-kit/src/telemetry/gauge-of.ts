import { Gauge, type Registry } from "prom-client";

/** A gauge that is read when it is asked for. What can't be read now is left out: all else is needed the more. */
export function gaugeOf(registry: Registry, name: string, help: string, read: () => Promise<number>): void {
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
