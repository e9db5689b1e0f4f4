import { ehrLogin, marketplaceLogin } from "@ehr-marketplace/dev/postgres";
import { mediaDirectory } from "@ehr-marketplace/dev/service-environments";
import type { Templates } from "@ehr-marketplace/test-kit";

/** Template databases and their login roles: two of the marketplace, and the EHR's with the demo organisations. */
export const templates: Templates = {
  empty: { database: "template_empty", login: marketplaceLogin },
  demo: { database: "template_demo", login: marketplaceLogin },
  ehr: { database: "template_ehr", login: ehrLogin },
};

export const demoSettings = {
  publicUrl: "http://127.0.0.1:8080",
  demoAppUrl: "http://127.0.0.1:8083",
  ehrUrl: "http://127.0.0.1:8081",
  get mediaDirectory(): string {
    return mediaDirectory();
  },
};
