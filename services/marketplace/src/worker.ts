import { runProcess } from "@ehr-marketplace/service-kit/process";
import { createWorker } from "./worker-app.ts";
import { readWorkerConfig } from "./worker-config.ts";

await runProcess("marketplace-worker", "WORKER_PORT", readWorkerConfig, createWorker);
