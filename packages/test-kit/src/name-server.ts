import { createServer, Packet } from "dns2";

type CleanUp = (undo: () => Promise<unknown>) => void;

/** Maps a name to its addresses, or to a failure. Queries are counted from 0, for each name and type. */
type Zone = Record<string, (query: number, family: 4 | 6) => readonly string[] | "no such name" | "broken" | "silence">;

export interface NameServer {
  servers: string[];
  /** The number of queries for a name, over both types of addresses. */
  queries(name: string): number;
}

const isSix = (address: string): boolean => address.includes(":");

/** A name server on loopback, with names of the test's own. */
export async function startNameServer(cleanUp: CleanUp, zone: Zone): Promise<NameServer> {
  const counts = new Map<string, number>();
  const server = createServer({
    udp: true,
    handle: (request, send) => {
      const response = Packet.createResponseFromRequest(request);
      const { name = "", type } = request.questions[0] ?? {};
      const query = counts.get(`${name} ${type}`) ?? 0;
      counts.set(`${name} ${type}`, query + 1);
      const result = zone[name]?.(query, type === Packet.TYPE.AAAA ? 6 : 4) ?? "no such name";
      if (result === "silence") return;
      if (result === "no such name") response.header.rcode = Packet.RCODE.NXDOMAIN;
      else if (result === "broken") response.header.rcode = Packet.RCODE.SERVFAIL;
      else {
        const matching = result.filter((address) => isSix(address) === (type === Packet.TYPE.AAAA));
        for (const address of matching) {
          const record = { name, type: type as number, class: Packet.CLASS.IN, ttl: 0, address };
          response.answers.push(record as (typeof response.answers)[number]);
        }
      }
      void send(response);
    },
  });
  const { udp } = await server.listen({ udp: { port: 0, address: "127.0.0.1" } });
  cleanUp(() => server.close());
  const types = [Packet.TYPE.A, Packet.TYPE.AAAA];
  return {
    servers: [`127.0.0.1:${udp?.port}`],
    queries: (name) => types.reduce((sum, type) => sum + (counts.get(`${name} ${type}`) ?? 0), 0),
  };
}
