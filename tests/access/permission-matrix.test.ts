import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { personaNames } from "@ehr-marketplace/dev/identity-provider";
import { cleanUpAfter, cloneDatabase } from "@ehr-marketplace/test-kit";
import { type RunningMarketplace, startMarketplace } from "@ehr-marketplace/tests/support/marketplace";
import {
  assertDeclaredAccess,
  assertMatrixRow,
  assertPublicRoute,
  type CallerKinds,
  createCallerKinds,
  parseMatrix,
} from "@ehr-marketplace/tests/support/permission-matrix";
import { singleConnectionPool } from "@ehr-marketplace/tests/support/single-connection-pool";
import { prepareMarketplace } from "./prepare-marketplace.ts";
import type { RequestBuilder } from "./prepare-subscriptions.ts";
import { publicRoutes } from "./public-routes.ts";

const id = "/api/v1/subscriptions/:id";
const matrix = parseMatrix(`
| route                                  | on                        | anonymous | operator | billing | auditor | riverside-admin | riverside-member | hilltop-admin | two-practices | northwind-developer | lumen-developer | ehr-service | launch-redeemer | foreign-organisation | foreign-vendor | flat-role-in-two |
| -------------------------------------- | ------------------------- | --------- | -------- | ------- | ------- | --------------- | ---------------- | ------------- | ------------- | ------------------- | --------------- | ----------- | --------------- | -------------------- | -------------- | ---------------- |
| PUT /api/v1/admin/organisations/:alias | riverside                 | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/v1/admin/organisations/:alias | riverside                 | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/v1/admin/organisations/:alias | unregistered              | 401       | 404      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/v1/admin/organisations        | all                       | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/v1/organisations/:alias | riverside | 401 | 200 | 403 | 403 | 200 | 200 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias | hilltop | 401 | 200 | 403 | 403 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias | unregistered | 401 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/audit | riverside                 | 401       | 200      | 403     | 200     | 200             | 403              | 403           | 200           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/v1/organisations/:alias/audit | hilltop                   | 401       | 200      | 403     | 200     | 403             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/v1/organisations/:alias/audit | unregistered              | 401       | 200      | 403     | 200     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/v1/subscriptions             | riverside                 | 401       | 201      | 403     | 403     | 201             | 403              | 403           | 201           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/v1/subscriptions             | hilltop                   | 401       | 201      | 403     | 403     | 403             | 403              | 201           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/v1/subscriptions             | unregistered              | 401       | 422      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET /api/v1/subscriptions              | riverside                 | 401       | 200      | 403     | 403     | 200             | 200              | 403           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/v1/subscriptions              | hilltop                   | 401       | 200      | 403     | 403     | 403             | 403              | 200           | 200           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| GET /api/v1/subscriptions              | unregistered              | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| GET ${id}                              | riverside to northwind's  | 401       | 200      | 200     | 200     | 200             | 200              | 404           | 200           | 200                 | 404             | 200         | 403             | 404                  | 404            | 403              |
| GET ${id}                              | hilltop to lumen's        | 401       | 200      | 200     | 200     | 404             | 404              | 200           | 200           | 404                 | 200             | 200         | 403             | 404                  | 404            | 403              |
| GET ${id}                              | an unknown id             | 401       | 404      | 404     | 404     | 404             | 404              | 404           | 404           | 404                 | 404             | 404         | 403             | 404                  | 404            | 403              |
| GET ${id}/connection                   | riverside to northwind's  | 401       | 200      | 403     | 200     | 200             | 200              | 404           | 200           | 200                 | 404             | 200         | 403             | 404                  | 404            | 403              |
| GET ${id}/connection                   | hilltop to lumen's        | 401       | 200      | 403     | 200     | 404             | 404              | 200           | 200           | 404                 | 200             | 200         | 403             | 404                  | 404            | 403              |
| GET ${id}/connection                   | an unknown id             | 401       | 404      | 403     | 404     | 404             | 404              | 404           | 404           | 404                 | 404             | 404         | 403             | 404                  | 404            | 403              |
| PUT ${id}/connection                   | riverside                 | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 200         | 403             | 403                  | 403            | 403              |
| PUT ${id}/connection                   | an unknown id             | 401       | 403      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 404         | 403             | 403                  | 403            | 403              |
| GET ${id}/usage                        | riverside to northwind's  | 401       | 200      | 200     | 200     | 200             | 200              | 404           | 200           | 200                 | 404             | 200         | 403             | 404                  | 404            | 403              |
| GET ${id}/usage                        | hilltop to lumen's        | 401       | 200      | 200     | 200     | 404             | 404              | 200           | 200           | 404                 | 200             | 200         | 403             | 404                  | 404            | 403              |
| GET ${id}/usage                        | an unknown id             | 401       | 404      | 404     | 404     | 404             | 404              | 404           | 404           | 404                 | 404             | 404         | 403             | 404                  | 404            | 403              |
| POST ${id}/usage                       | northwind's, by usage  | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST ${id}/usage                       | an unknown id             | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST ${id}/pause                       | riverside, ORG_REQUEST    | 401       | 200      | 403     | 403     | 200             | 403              | 404           | 200           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/pause                       | riverside, NON_PAYMENT    | 401       | 200      | 200     | 403     | 403             | 403              | 404           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/pause                       | riverside, OPERATOR_HOLD  | 401       | 200      | 403     | 403     | 403             | 403              | 404           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/pause                       | riverside, SECURITY       | 401       | 200      | 403     | 403     | 403             | 403              | 404           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/pause                       | hilltop, ORG_REQUEST      | 401       | 200      | 403     | 403     | 404             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/resume                      | riverside, ORG_REQUEST    | 401       | 200      | 403     | 403     | 200             | 403              | 404           | 200           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/resume                      | riverside, NON_PAYMENT    | 401       | 200      | 200     | 403     | 403             | 403              | 404           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/resume                      | riverside, SECURITY       | 401       | 200      | 403     | 403     | 403             | 403              | 404           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/cancel                      | riverside                 | 401       | 200      | 403     | 403     | 200             | 403              | 404           | 200           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/cancel                      | hilltop                   | 401       | 200      | 403     | 403     | 404             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/cancel                      | an unknown id             | 401       | 404      | 403     | 403     | 404             | 403              | 404           | 404           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/consent                     | riverside                 | 401       | 200      | 403     | 403     | 200             | 403              | 404           | 200           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/consent                     | hilltop                   | 401       | 200      | 403     | 403     | 404             | 403              | 200           | 403           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| POST ${id}/consent                     | an unknown id             | 401       | 404      | 403     | 403     | 404             | 403              | 404           | 404           | 403                 | 403             | 403         | 403             | 404                  | 403            | 403              |
| GET ${id}/estimate | riverside to northwind's | 401 | 200 | 200 | 200 | 200 | 200 | 404 | 200 | 200 | 404 | 403 | 403 | 404 | 404 | 403 |
| GET ${id}/estimate | hilltop to lumen's | 401 | 200 | 200 | 200 | 404 | 404 | 200 | 200 | 404 | 200 | 403 | 403 | 404 | 404 | 403 |
| GET ${id}/estimate | an unknown id | 401 | 404 | 404 | 404 | 404 | 404 | 404 | 404 | 404 | 404 | 403 | 403 | 404 | 404 | 403 |
| POST ${id}/plan | riverside | 401 | 200 | 403 | 403 | 200 | 403 | 404 | 200 | 403 | 403 | 403 | 403 | 404 | 403 | 403 |
| POST ${id}/plan | hilltop | 401 | 200 | 403 | 403 | 404 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 404 | 403 | 403 |
| POST ${id}/plan | an unknown id | 401 | 404 | 403 | 403 | 404 | 403 | 404 | 404 | 403 | 403 | 403 | 403 | 404 | 403 | 403 |
| PUT ${id}/spend-limit | riverside | 401 | 200 | 403 | 403 | 200 | 403 | 404 | 200 | 403 | 403 | 403 | 403 | 404 | 403 | 403 |
| PUT ${id}/spend-limit | hilltop | 401 | 200 | 403 | 403 | 404 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 404 | 403 | 403 |
| PUT ${id}/spend-limit | an unknown id | 401 | 404 | 403 | 403 | 404 | 403 | 404 | 404 | 403 | 403 | 403 | 403 | 404 | 403 | 403 |
| DELETE ${id}/spend-limit | riverside | 401 | 204 | 403 | 403 | 204 | 403 | 404 | 204 | 403 | 403 | 403 | 403 | 404 | 403 | 403 |
| DELETE ${id}/spend-limit | hilltop | 401 | 204 | 403 | 403 | 404 | 403 | 204 | 403 | 403 | 403 | 403 | 403 | 404 | 403 | 403 |
| DELETE ${id}/spend-limit | an unknown id | 401 | 404 | 403 | 403 | 404 | 403 | 404 | 404 | 403 | 403 | 403 | 403 | 404 | 403 | 403 |
| POST ${id}/lift-block                  | riverside, NON_PAYMENT    | 401       | 200      | 200     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST ${id}/lift-block                  | riverside, SECURITY       | 401       | 200      | 403     | 403     | 403             | 403              | 403           | 403           | 403                 | 403             | 403         | 403             | 403                  | 403            | 403              |
| POST /api/v1/admin/subscriptions/:id/credits | a charged one | 401 | 201 | 201 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/admin/subscriptions/:id/credits | an unknown id | 401 | 404 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/developer/webhooks | one's own | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 201 | 201 | 403 | 403 | 403 | 422 | 403 |
| POST /api/v1/developer/webhooks | northwind's by name | 401 | 201 | 403 | 403 | 403 | 403 | 403 | 403 | 201 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/webhooks | one's own | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 200 | 403 |
| GET /api/v1/developer/webhooks | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/webhooks/:id | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| PATCH /api/v1/developer/webhooks/:id | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| DELETE /api/v1/developer/webhooks/:id | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 204 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/webhooks/:id/rotate-secret | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/webhooks/:id/promote-secret | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/webhooks/:id/enable | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/webhooks/:id/test | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 202 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/developer/webhooks/:id/deliveries | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/developer/webhooks/:id/deliveries/:deliveryId/attempts | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/webhooks/:id/deliveries/:deliveryId/redeliver | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 409 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/webhooks/:id/replays | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 202 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/developer/webhooks/:id/replays/:replayId | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| DELETE /api/v1/developer/webhooks/:id/replays/:replayId | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/developer/webhooks/:id | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/webhooks/:id | an unknown id | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/organisations/:alias/notices | riverside | 401 | 200 | 403 | 200 | 200 | 200 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/notices | hilltop | 401 | 200 | 403 | 200 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/notices | unregistered | 401 | 404 | 403 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/notice-settings | riverside | 401 | 200 | 403 | 200 | 200 | 200 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/notice-settings | hilltop | 401 | 200 | 403 | 200 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/notice-settings | unregistered | 401 | 404 | 403 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/organisations/:alias/notices/:id/read | riverside | 401 | 404 | 403 | 403 | 404 | 403 | 403 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/organisations/:alias/notices/:id/read | hilltop | 401 | 404 | 403 | 403 | 403 | 403 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| PUT /api/v1/organisations/:alias/notice-settings | riverside | 401 | 200 | 403 | 403 | 200 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| PUT /api/v1/organisations/:alias/notice-settings | hilltop | 401 | 200 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/notices | one's own | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 422 | 403 |
| GET /api/v1/developer/notices | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/developer/notices/:id/read | one's own | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 404 | 403 | 403 | 403 | 422 | 403 |
| POST /api/v1/developer/notices/:id/read | northwind's by name | 401 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/notice-settings | one's own | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 422 | 403 |
| GET /api/v1/developer/notice-settings | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| PUT /api/v1/developer/notice-settings | one's own | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 422 | 403 |
| PUT /api/v1/developer/notice-settings | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/notices | all | 401 | 200 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/admin/notices/:id/read | all | 401 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/notice-settings | all | 401 | 200 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| PUT /api/v1/admin/notice-settings | all | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/audit | all | 401 | 200 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/subscriptions | all | 401 | 200 | 200 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/subscriptions | one's own | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 200 | 403 |
| GET /api/v1/developer/subscriptions | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/statements | riverside | 401 | 200 | 200 | 200 | 200 | 200 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/statements | hilltop | 401 | 200 | 200 | 200 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/statements | unregistered | 401 | 404 | 404 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/statements/:month | riverside | 401 | 200 | 200 | 200 | 200 | 200 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/statements/:month | hilltop | 401 | 200 | 200 | 200 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/organisations/:alias/statements/:month | unregistered | 401 | 404 | 404 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/statements | one's own | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 422 | 403 |
| GET /api/v1/developer/statements | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/statements/:month | one's own | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 422 | 403 |
| GET /api/v1/developer/statements/:month | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/statements/:month | all | 401 | 200 | 200 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/webhooks/:id/deliveries/:deliveryId | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/developer/webhooks/:id/replays | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/admin/webhooks/health | all | 401 | 200 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/search-synonyms | all | 401 | 200 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| PUT /api/v1/admin/search-synonyms | all | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| PUT /api/v1/admin/vendors/:slug | northwind | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/vendors/:slug | northwind | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/admin/organisations/import | riverside | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/admin/vendors/import | northwind | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/vendors | all | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/developer/apps | northwind's by name | 401 | 201 | 403 | 403 | 403 | 403 | 403 | 403 | 201 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/apps | one's own | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 200 | 403 | 403 | 403 | 200 | 403 |
| GET /api/v1/developer/apps | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/apps/:slug | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/developer/apps/:slug | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/apps/:slug | an unknown id | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 404 | 403 | 403 | 403 | 404 | 403 |
| PATCH /api/v1/developer/apps/:slug | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| DELETE /api/v1/developer/apps/:slug | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 204 | 404 | 403 | 403 | 403 | 404 | 403 |
| DELETE /api/v1/developer/apps/:slug | northwind's by name | 401 | 204 | 403 | 403 | 403 | 403 | 403 | 403 | 204 | 403 | 403 | 403 | 403 | 403 | 403 |
| DELETE /api/v1/developer/apps/:slug | an unknown id | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/developer/apps/:slug/check | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/apps/:slug/media | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 201 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/apps/:slug/media | northwind's by name | 401 | 201 | 403 | 403 | 403 | 403 | 403 | 403 | 201 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/developer/apps/:slug/media/:id | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/developer/apps/:slug/media/:id | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| DELETE /api/v1/admin/media/:id | northwind's | 401 | 204 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| DELETE /api/v1/admin/media/:id | an unknown id | 401 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/developer/apps/:slug/submit | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/apps/:slug/withdraw | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/developer/apps/:slug/revisions | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/developer/apps/:slug/revisions/:revision | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/apps/:slug/unpublish | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/apps/:slug/republish | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/developer/apps/:slug/revisions | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/developer/apps/:slug/submit | an unknown id | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/apps/:slug/test-subscriptions | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/apps/:slug/test-subscriptions | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/developer/apps/:slug/test-subscriptions | an unknown id | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 404 | 403 | 403 | 403 | 404 | 403 |
| POST /api/v1/developer/apps/:slug/test-subscriptions | riverside | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 403 | 403 | 403 | 404 | 403 |
| DELETE /api/v1/developer/apps/:slug/test-subscriptions/:orgAlias | northwind's | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 403 | 403 | 403 | 404 | 403 |
| DELETE /api/v1/developer/apps/:slug/test-subscriptions/:orgAlias | northwind's by name | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 403 | 403 | 403 | 403 | 403 | 403 |
| DELETE /api/v1/developer/apps/:slug/test-subscriptions/:orgAlias | an unknown id | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 404 | 403 | 403 | 403 | 404 | 403 |
| DELETE /api/v1/developer/apps/:slug/test-subscriptions/:orgAlias | riverside | 401 | 400 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 403 | 403 | 403 | 404 | 403 |
| GET /api/v1/sandbox-apps/:slug | northwind's | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 200 | 403 | 403 | 404 | 403 |
| GET /api/v1/sandbox-apps/:slug/client | northwind's | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 200 | 404 | 200 | 403 | 403 | 404 | 403 |
| GET /api/v1/sandbox-apps/:slug/client | an unknown id | 401 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 404 | 404 | 403 | 403 | 404 | 403 |
| GET /api/v1/sandbox-apps/:slug | an unknown id | 401 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 404 | 404 | 403 | 403 | 404 | 403 |
| POST /api/v1/subscriptions/:id/sandbox-launches | northwind's | 401 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 204 | 403 | 403 | 403 | 403 |
| POST /api/v1/subscriptions/:id/sandbox-launches | an unknown id | 401 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 404 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/reviews | all | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/reviews/:id | northwind's | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/reviews/:id | an unknown id | 401 | 404 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/admin/reviews/:id/approve | northwind's | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/admin/reviews/:id/reject | northwind's | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/apps | all | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| GET /api/v1/admin/apps/:slug | northwind's | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/admin/apps/:slug/feature | northwind's | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/admin/apps/:slug/unfeature | northwind's | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/admin/apps/:slug/suspend | northwind's | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
| POST /api/v1/admin/apps/:slug/reinstate | northwind's | 401 | 200 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 | 403 |
`);

describe("permissions, each use case on one database connection", () => {
  const cleanUp = cleanUpAfter();
  let running: RunningMarketplace;
  let kinds: CallerKinds;
  let prepared: RequestBuilder;

  before(async () => {
    kinds = await createCallerKinds(personaNames);
    const { serviceUrl } = await cloneDatabase(cleanUp, "demo");
    running = await startMarketplace(cleanUp, serviceUrl, {
      ...kinds.callers.environment,
      ...singleConnectionPool,
      ALLOWED_ORIGINS: "https://console.example",
      VENDOR_ALLOWED_NETWORKS: "127.0.0.0/8",
    });
    const operator = kinds.callers.token("operator");
    prepared = await prepareMarketplace(running.url, operator, kinds.callers.token("northwind-developer"));
  });

  test("every route has a row and declares who may use it", () =>
    assertDeclaredAccess(running.server, matrix, publicRoutes));

  test("an auditor can only read", () => {
    const auditorRoutes = running.server.routesAndAccess.filter(
      ({ access }) => access !== "anyone" && access.includes("auditor"),
    );
    assert.deepEqual(
      [
        ...new Set(
          auditorRoutes.filter(({ method }) => method !== "HEAD").map(({ method, url }) => `${method} ${url}`),
        ),
      ].toSorted(),
      [
        "GET /api/v1/admin/audit",
        "GET /api/v1/admin/notice-settings",
        "GET /api/v1/admin/notices",
        "GET /api/v1/admin/search-synonyms",
        "GET /api/v1/admin/statements/:month",
        "GET /api/v1/admin/subscriptions",
        "GET /api/v1/admin/webhooks/health",
        "GET /api/v1/organisations/:alias/audit",
        "GET /api/v1/organisations/:alias/notice-settings",
        "GET /api/v1/organisations/:alias/notices",
        "GET /api/v1/organisations/:alias/statements",
        "GET /api/v1/organisations/:alias/statements/:month",
        `GET ${id}`,
        `GET ${id}/connection`,
        `GET ${id}/estimate`,
        `GET ${id}/usage`,
      ],
    );
  });

  for (const [route, publicRequest] of publicRoutes) {
    test(`${route} is public, with any token or none`, () =>
      assertPublicRoute({ ...running, kinds }, { method: route.split(" ")[0] ?? "", ...publicRequest }));
  }

  for (const row of matrix) {
    const { route, on } = row;
    test(`${route} on ${on}`, () =>
      assertMatrixRow({ ...running, kinds }, row, () => prepared.buildRequest(route, on)));
  }

  test("a role without an organisation, in a token with two, is refused with the reason", async () => {
    const token = kinds.valid.get("flat-role-in-two") ?? "";
    const response = await fetch(`${running.url}/api/v1/subscriptions?orgAlias=riverside-clinic`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.match(((await response.json()) as { detail: string }).detail, /org-admin is ignored.*names 2 organisations/);
  });
});
