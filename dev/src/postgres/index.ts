export { type DebianCluster, dumpDatabase, startDebianCluster } from "./debian-cluster.ts";
export { ehrLogin, prepareEhrDatabase } from "./ehr-database.ts";
export { marketplaceLogin, prepareMarketplaceDatabase } from "./marketplace-database.ts";
export { type Cluster, type ClusterOptions, startCluster } from "./start-cluster.ts";
export { makeTemporaryFolder } from "./temporary-folder.ts";
export { throwawaySettings } from "./throwaway-settings.ts";
export { prepareWebDatabase, webLogin } from "./web-database.ts";
