export {
  type AppDto,
  type AppPage,
  appDto,
  appPage,
  type CategoryDto,
  categoryDto,
  type PricingPlanDto,
  pricingPlanDto,
} from "./catalog.ts";
export {
  type ListAppsQuery,
  listAppsQuery,
  type SearchAppsQuery,
  searchAppsQuery,
  slugPattern,
  sortProperties,
  withoutNul,
} from "./catalog-requests.ts";
export { type ProblemDocument, problemDocument } from "./problem.ts";
