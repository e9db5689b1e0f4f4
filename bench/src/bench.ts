import { exitWithUsage, readArguments } from "@ehr-marketplace/dev/command-line";
import { buildBench } from "./build/build-bench.ts";
import { catalogBench } from "./catalog/catalog-bench.ts";
import { usage } from "./command-usage.ts";
import { connectionsBench } from "./connections/connections-bench.ts";
import { costBench } from "./cost/cost-bench.ts";
import { ehrBench } from "./ehr/ehr-bench.ts";
import { printFigures } from "./figures.ts";
import { publishingBench } from "./publishing/publishing-bench.ts";
import { searchBench } from "./search/search-bench.ts";
import { subscriptionsBench } from "./subscriptions/subscriptions-bench.ts";
import { usageBench } from "./usage/usage-bench.ts";
import { webBench } from "./web/web-bench.ts";
import { webhooksBench } from "./webhooks/webhooks-bench.ts";

const benches: Record<string, typeof catalogBench> = {
  build: buildBench,
  catalog: catalogBench,
  connections: connectionsBench,
  cost: costBench,
  ehr: ehrBench,
  publishing: publishingBench,
  search: searchBench,
  subscriptions: subscriptionsBench,
  usage: usageBench,
  web: webBench,
  webhooks: webhooksBench,
};

const [name = "", ...options] = process.argv.slice(2);
readArguments(usage, { args: [name], allowPositionals: true });
const bench = benches[name];
if (bench === undefined) exitWithUsage(name === "" ? "Name a benchmark." : `There is no benchmark "${name}".`, usage);
const figures = await bench(options);
process.exitCode = printFigures(name, figures) ? 0 : 1;
