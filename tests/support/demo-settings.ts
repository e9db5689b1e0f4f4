import { mediaDirectory } from "@ehr-marketplace/dev/service-environments";

/** Where the demo apps and their practices are, in the databases of tests. */
export const demoUrls = {
  publicUrl: "http://127.0.0.1:8080",
  demoAppUrl: "http://127.0.0.1:8083",
  ehrUrl: "http://127.0.0.1:8081",
};

export const demoSettings = {
  ...demoUrls,
  get mediaDirectory(): string {
    return mediaDirectory();
  },
};
