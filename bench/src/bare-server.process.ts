// The bare reference: Fastify with routes that send the same bytes, and with the same token verification if an issuer is given.
// The bodies and the issuer arrive over IPC.
import Fastify from "fastify";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";

interface BareServerOptions {
  bodies: Record<string, string>;
  tokens?: { issuer: string; audience: string; keys: JSONWebKeySet };
}

process.once("message", ({ bodies, tokens }: BareServerOptions) => {
  const server = Fastify();
  if (tokens !== undefined) {
    const keys = createLocalJWKSet(tokens.keys);
    const { issuer, audience } = tokens;
    const checks = { issuer, audience, algorithms: ["RS256"], clockTolerance: 30, requiredClaims: ["exp", "sub"] };
    server.addHook("onRequest", async ({ url, headers }) => {
      if (url !== "/cpu") await jwtVerify(headers.authorization?.slice("Bearer ".length) ?? "", keys, checks);
    });
  }
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
