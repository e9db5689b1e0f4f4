export { type DemoPlaces, loadDemoData } from "./load-demo-data.ts";
