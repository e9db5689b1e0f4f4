// npm run bench -- catalog [--apps 100000]
// npm run bench -- subscriptions [--subscriptions 1000000]
// npm run bench -- webhooks [--held 1000000] [--log-rows 10000000] [--seconds 60] [--figures 1,2,3,4]
// npm run bench -- cost [--scenarios 100,100-ehr,200,200-ehr,250] [--seconds 20] [--sustained-seconds 60] [--profiles DIRECTORY]
// npm run bench -- search [--queries FILE]
// npm run bench -- ehr [--installations 1000000] [--seconds 60] [--figures 1,2,3,4]
import { catalogBench } from "./catalog/catalog-bench.ts";
import { costBench } from "./cost/cost-bench.ts";
import { ehrBench } from "./ehr/ehr-bench.ts";
import { printFigures } from "./figures.ts";
import { searchBench } from "./search/search-bench.ts";
import { subscriptionsBench } from "./subscriptions/subscriptions-bench.ts";
import { webhooksBench } from "./webhooks/webhooks-bench.ts";

const benches: Record<string, typeof catalogBench> = {
  catalog: catalogBench,
  cost: costBench,
  ehr: ehrBench,
  search: searchBench,
  subscriptions: subscriptionsBench,
  webhooks: webhooksBench,
};

const [name = "", ...options] = process.argv.slice(2);
const bench = benches[name];
if (bench === undefined) {
  console.error(`Usage: npm run bench -- ${Object.keys(benches).join("|")}`);
  process.exitCode = 1;
} else {
  const figures = await bench(options);
  process.exitCode = printFigures(name, figures) ? 0 : 1;
}
