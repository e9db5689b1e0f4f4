// The bare reference: Fastify with nothing but routes that send the same bytes. Bodies come in over IPC.
import Fastify from "fastify";

process.once("message", (bodies: Record<string, string>) => {
  const server = Fastify();
  for (const [path, body] of Object.entries(bodies)) {
    const bytes = Buffer.from(body, "base64");
    server.get(path, (_request, reply) => reply.header("content-type", "application/json; charset=utf-8").send(bytes));
  }
  server.get("/cpu", () => process.cpuUsage());
  server
    .listen({ host: "127.0.0.1", port: 0 })
    .then((url) => process.send?.({ url }))
    .catch((error: unknown) => {
      throw error;
    });
});
