import { runProcess } from "@ehr-marketplace/service-kit/process";
import { createApp } from "./app.ts";
import { readConfig } from "./config.ts";

await runProcess("web", "WEB_PORT", readConfig, createApp);
