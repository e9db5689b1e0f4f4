import { registerGauge } from "@ehr-marketplace/service-kit/telemetry";
import type { Kysely } from "kysely";
import type { Registry } from "prom-client";
import type { DB } from "../database-schema.ts";
import { addBusinessDays } from "./business-days.ts";
import { businessDaysBeforeDue } from "./notify-of-due-reviews.ts";
import { countReviews } from "./review-store.ts";

export function registerReviewMetrics(registry: Registry, database: Kysely<DB>, clock: () => Date): void {
  const count = () => countReviews(database, addBusinessDays(clock(), businessDaysBeforeDue));
  registerGauge(
    registry,
    "marketplace_reviews_open",
    "Reviews that wait for a decision",
    async () => (await count()).open,
  );
  registerGauge(
    registry,
    "marketplace_reviews_due_soon",
    "Open reviews that are due within two business days, or overdue",
    async () => (await count()).dueSoon,
  );
}
