// npm run bench -- catalog [--apps 100000]
import { catalogBench } from "./catalog/catalog-bench.ts";
import { printFigures } from "./figures.ts";

const benches: Record<string, typeof catalogBench> = { catalog: catalogBench };

const [name = "", ...options] = process.argv.slice(2);
const bench = benches[name];
if (bench === undefined) {
  console.error(`Usage: npm run bench -- ${Object.keys(benches).join("|")}`);
  process.exitCode = 1;
} else {
  const figures = await bench(options);
  process.exitCode = printFigures(name, figures) ? 0 : 1;
}
