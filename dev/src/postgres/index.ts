export { type DebianCluster, startDebianCluster } from "./debian-cluster.ts";
export {
  dropDatabase,
  type MarketplaceDatabase,
  prepareMarketplaceDatabase,
  urlsOf,
  withClient,
} from "./marketplace-database.ts";
export { type Cluster, type ClusterOptions, startCluster } from "./start-cluster.ts";
