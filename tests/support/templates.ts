import { tmpdir } from "node:os";
import { join } from "node:path";

export const templates = { empty: "template_empty", demo: "template_demo" } as const;

export const demoPlaces = {
  publicUrl: "http://127.0.0.1:8080",
  demoAppUrl: "http://127.0.0.1:8083",
  ehrUrl: "http://127.0.0.1:8081",
  mediaDirectory: join(tmpdir(), "ehr-marketplace-tests-media"),
};
