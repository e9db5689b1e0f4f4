export { demoOrganisations } from "./demo-organisations.ts";
export { type DemoPlaces, loadDemoData } from "./load-demo-data.ts";
