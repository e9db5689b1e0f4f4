import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";

const socketsOfLongRequests = new WeakSet<Socket>();

/** Node has one time limit for receiving a request, for all routes. A route that calls this limits the time by itself. */
export function allowLongRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { socket } = request.raw;
  socketsOfLongRequests.add(socket);
  reply.raw.once("close", () => socketsOfLongRequests.delete(socket));
}

export const isLongRequest = (socket: Socket): boolean => socketsOfLongRequests.has(socket);
