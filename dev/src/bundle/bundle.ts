// Bundles the services into services/*/bundle, and builds the pages of the web: node dev/src/bundle/bundle.ts
import { buildPages } from "@ehr-marketplace/web/build";
import { readArguments } from "../command-line.ts";
import { bundleServices } from "./bundle-services.ts";

const usage = `Usage: npm run build

Bundles each service into services/*/bundle, as images have it, and builds the pages of the web into services/web/dist.
Development and tests in one process need neither bundle: Node runs the source.

  --help  print this text

Examples:
  npm run build
  npm run build && node services/marketplace/bundle/api.js`;

readArguments(usage, {});
await Promise.all([bundleServices(), buildPages()]);
