import { ehrLogin, marketplaceLogin, webLogin } from "@ehr-marketplace/dev/postgres";
import { mediaDirectory } from "@ehr-marketplace/dev/service-environments";
import type { Templates } from "@ehr-marketplace/test-kit";

/** Template databases and their login roles: two of the marketplace, the EHR's with the demo organisations, and the web's. */
export const templates: Templates = {
  empty: { database: "template_empty", login: marketplaceLogin },
  demo: { database: "template_demo", login: marketplaceLogin },
  ehr: { database: "template_ehr", login: ehrLogin },
  web: { database: "template_web", login: webLogin },
};

export const demoSettings = {
  publicUrl: "http://127.0.0.1:8080",
  demoAppUrl: "http://127.0.0.1:8083",
  ehrUrl: "http://127.0.0.1:8081",
  get mediaDirectory(): string {
    return mediaDirectory();
  },
};
