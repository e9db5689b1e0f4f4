import { ehrLogin, marketplaceLogin, webLogin } from "@ehr-marketplace/dev/postgres";
import type { Template, TemplateName } from "@ehr-marketplace/test-kit";

/** The databases of a cluster that tests clone, with the login of the service that each belongs to. */
export const templates: Record<TemplateName, Template> = {
  empty: { database: "template_empty", login: marketplaceLogin },
  demo: { database: "template_demo", login: marketplaceLogin },
  stack: { database: "template_stack", login: marketplaceLogin },
  ehr: { database: "template_ehr", login: ehrLogin },
  web: { database: "template_web", login: webLogin },
};
