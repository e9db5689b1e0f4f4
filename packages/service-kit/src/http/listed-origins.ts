import cors from "@fastify/cors";
import type { FastifyInstance } from "fastify";
import { exposedHeaders } from "./any-origin.ts";

/** Allows pages of these origins only to call the routes of this scope. */
export async function allowListedOrigins(scope: FastifyInstance, origins: string[]): Promise<void> {
  if (origins.length === 0) return;
  scope.addHook("onRoute", (route) => {
    if (route.method === "OPTIONS") route.config = { ...route.config, access: "anyone" };
  });
  await scope.register(cors, {
    origin: origins,
    methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    exposedHeaders: [...exposedHeaders, "Location"],
    maxAge: 86_400,
    strictPreflight: false,
  });
}
