import assert from "node:assert/strict";
import {
  appDto,
  appPage,
  auditEntry,
  auditPage,
  categoryDto,
  eventApp,
  organisationDto,
  organisationPage,
  pricingPlanDto,
  problemDocument,
  subscriptionDto,
  subscriptionEvent,
} from "@ehr-marketplace/contracts";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
addFormats.default(ajv);
const closed = (schema: object): object => ({ ...schema, additionalProperties: false });
const shapes = [
  appDto,
  appPage,
  auditEntry,
  auditPage,
  categoryDto,
  eventApp,
  organisationDto,
  organisationPage,
  pricingPlanDto,
  problemDocument,
  subscriptionDto,
  subscriptionEvent,
];
for (const schema of shapes) ajv.addSchema(closed(schema));

/** Holds a value against a wire shape of the contracts, to the letter: a field too many fails as well. */
export function assertShape(
  name:
    | "AppDto"
    | "AppPage"
    | "AuditPage"
    | "CategoryDto"
    | "OrganisationDto"
    | "OrganisationPage"
    | "PricingPlanDto"
    | "Problem"
    | "SubscriptionDto"
    | "SubscriptionEvent",
  value: unknown,
): void {
  const validate = ajv.getSchema(name);
  assert.ok(validate, `no wire shape is called ${name}`);
  assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)?.slice(0, 500)}`);
}

export async function assertProblem(answer: Response, status: number, code: string): Promise<Record<string, unknown>> {
  const text = await answer.text();
  assert.equal(answer.status, status, text.slice(0, 300));
  assert.equal(answer.headers.get("content-type"), "application/problem+json");
  const problem = JSON.parse(text) as Record<string, unknown>;
  assertShape("Problem", problem);
  assert.equal(problem["code"], code);
  assert.equal(problem["status"], status);
  assert.equal(problem["type"], `/problems/${code}`);
  return problem;
}
