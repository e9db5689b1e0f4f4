import { once } from "node:events";
import { createServer } from "node:net";

export interface Ports {
  marketplace: number;
  ehr: number;
  idp: number;
  demoApp: number;
  workerHealth: number;
  /** Of the debuggers (`--inspect`), one for each service process. */
  inspect: { marketplace: number; worker: number; ehr: number };
}

function readPort(name: string, fallback: number): number {
  const given = process.env[name];
  const value = given === undefined || given === "" ? fallback : Number(given);
  if (!Number.isInteger(value) || value < 1 || value > 65_533) {
    throw new Error(
      `${name}="${given}" is not a port. Use a whole number from 1 to 65533, or leave it unset for ${fallback}.`,
    );
  }
  return value;
}

export function readPorts(): Ports {
  const idp = readPort("IDP_PORT", 8082);
  const inspect = readPort("INSPECT_PORT", 9229);
  return {
    marketplace: readPort("MARKETPLACE_PORT", 8080),
    ehr: readPort("EHR_PORT", 8081),
    idp,
    demoApp: idp + 1,
    workerHealth: idp + 2,
    inspect: { marketplace: inspect, worker: inspect + 1, ehr: inspect + 2 },
  };
}

/** All ports of a stack at once: those of another one are taken together. */
function suggestPorts(variable: string): string {
  const { marketplace, ehr, idp, inspect } = readPorts();
  if (variable === "INSPECT_PORT") return `INSPECT_PORT=${inspect.marketplace + 1_000}`;
  return `MARKETPLACE_PORT=${marketplace + 1_000} EHR_PORT=${ehr + 1_000} IDP_PORT=${idp + 1_000}`;
}

/** Throws if the port is taken. `variable` sets the port, which is `above` higher than the variable's value. */
export async function assertFree(port: number, variable: string, above = 0): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    const explanation = above === 0 ? "" : ` (it is ${variable} + ${above})`;
    throw new Error(
      `Port ${port}${explanation} is taken, perhaps by another stack. Stop that one, or choose other ports: ${suggestPorts(variable)} npm run dev`,
    );
  }
  server.close();
  await once(server, "close");
}
