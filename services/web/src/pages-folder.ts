import { join } from "node:path";

/** Where `npm run build` puts the pages. This file is in the folder `src`, whose place a bundle of the service takes. */
export const pagesFolder = join(import.meta.dirname, "../dist");
