export { closePastMonths } from "./close-past-months.ts";
export { demoOrganisations } from "./demo-organisations.ts";
export { insertEhrOrganisations } from "./insert-ehr-organisations.ts";
export { type DemoPlaces, loadDemoData } from "./load-demo-data.ts";
export { loadPastMonths } from "./load-past-months.ts";
export { loadSubscribers } from "./load-subscribers.ts";
