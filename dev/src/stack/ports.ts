import { once } from "node:events";
import { createServer } from "node:net";

export interface Ports {
  web: number;
  marketplace: number;
  ehr: number;
  idp: number;
  demoApp: number;
  workerHealth: number;
  /** Of the debuggers (`--inspect`), one for each service process. */
  inspect: { marketplace: number; worker: number; ehr: number; web: number };
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
    web: readPort("WEB_PORT", 8090),
    marketplace: readPort("MARKETPLACE_PORT", 8080),
    ehr: readPort("EHR_PORT", 8081),
    idp,
    demoApp: idp + 1,
    workerHealth: idp + 2,
    inspect: { marketplace: inspect, worker: inspect + 1, ehr: inspect + 2, web: inspect + 3 },
  };
}

/** Where a stack that isn't ephemeral keeps its data, relative to the repository. */
export const readDataDirectory = (): string => process.env["DATA_DIRECTORY"] || ".dev";

interface NamedPort {
  port: number;
  /** The variable that sets the port, with the number that is added to its value. */
  name: string;
}

function listPorts({ inspect, ...ports }: Ports, withInspect: boolean): NamedPort[] {
  const above = (variable: string, first: number, port: number): NamedPort => ({
    port,
    name: port === first ? variable : `${variable} + ${port - first}`,
  });
  return [
    above("WEB_PORT", ports.web, ports.web),
    above("MARKETPLACE_PORT", ports.marketplace, ports.marketplace),
    above("EHR_PORT", ports.ehr, ports.ehr),
    ...[ports.idp, ports.demoApp, ports.workerHealth].map((port) => above("IDP_PORT", ports.idp, port)),
    ...(withInspect ? Object.values(inspect) : []).map((port) => above("INSPECT_PORT", inspect.marketplace, port)),
  ];
}

/** Throws if two of the ports are equal, or if another program has one of them. */
export async function assertUsable(ports: Ports, withInspect: boolean): Promise<void> {
  const used = listPorts(ports, withInspect);
  for (const { port, name } of used) {
    const other = used.find((each) => each.port === port);
    if (other !== undefined && other.name !== name) {
      throw new Error(`${other.name} and ${name} are both ${port}. Each needs a port of its own; change one of them.`);
    }
  }
  for (const each of used) await assertFree(each, ports);
}

/** All ports of a stack at once: those of another one are taken together. */
function suggestPorts(name: string, { web, marketplace, ehr, idp, inspect }: Ports): string {
  if (name.startsWith("INSPECT_PORT")) return `INSPECT_PORT=${inspect.marketplace + 1_000}`;
  return `WEB_PORT=${web + 1_000} MARKETPLACE_PORT=${marketplace + 1_000} EHR_PORT=${ehr + 1_000} IDP_PORT=${idp + 1_000}`;
}

async function assertFree({ port, name }: NamedPort, ports: Ports): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    const explanation = name.includes("+") ? ` (it is ${name})` : "";
    throw new Error(
      `Port ${port}${explanation} is taken, perhaps by another stack. Stop that one, or choose other ports: ${suggestPorts(name, ports)} npm run dev`,
    );
  }
  server.close();
  await once(server, "close");
}
