// Builds the pages into dist: node scripts/build.ts
import { buildPages } from "./build-pages.ts";

const isBuilt = await buildPages();
console.log(isBuilt ? "services/web/dist is built." : "services/web/dist is up to date.");
