import { once } from "node:events";
import { createServer } from "node:net";

export interface Ports {
  marketplace: number;
  ehr: number;
  idp: number;
  demoApp: number;
  workerHealth: number;
}

function portFrom(name: string, fallback: number): number {
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
  const idp = portFrom("IDP_PORT", 8082);
  return {
    marketplace: portFrom("MARKETPLACE_PORT", 8080),
    ehr: portFrom("EHR_PORT", 8081),
    idp,
    demoApp: idp + 1,
    workerHealth: idp + 2,
  };
}

export async function assertFree(port: number, variable: string): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    throw new Error(
      `Port ${port} is taken, perhaps by another stack. Stop that one, or choose another port: ${variable}=${port + 1000} npm run dev`,
    );
  }
  server.close();
  await once(server, "close");
}
