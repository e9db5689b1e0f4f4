// An HTTP receiver that responds 204 after a delay and reports each request's arrival time to its parent process.
import { createServer } from "node:http";

const [delayText = "0"] = process.argv.slice(2);
const delayMs = Number(delayText);
const arrivals: [string, number][] = [];

const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  const hangs = request.url?.startsWith("/hangs") === true;
  request.resume();
  request.on("end", () => {
    arrivals.push([String(request.headers["x-bench-id"] ?? request.headers["x-marketplace-delivery-id"]), at]);
    if (hangs) return;
    if (delayMs === 0) response.writeHead(204).end();
    else setTimeout(() => response.writeHead(204).end(), delayMs);
  });
}).listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" && address !== null ? address.port : 0 });
});
process.on("message", (query) => {
  if (query === "count") process.send?.({ count: arrivals.length });
  else process.send?.({ arrivals: arrivals.splice(0) });
});
