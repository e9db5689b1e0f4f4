import assert from "node:assert/strict";
import {
  appDto,
  appPage,
  auditEntry,
  auditPage,
  categoryDto,
  eventApp,
  failure,
  listedSubscriptionDto,
  organisationDto,
  organisationPage,
  pricingPlanDto,
  problemDocument,
  subscriptionDto,
  subscriptionEvent,
} from "@ehr-marketplace/contracts";
import { strictAjv } from "@ehr-marketplace/service-kit/http";
import { assertGuarded } from "./raw-answer.ts";

const ajv = strictAjv({ allErrors: true });
const closed = (schema: object): object => ({ ...schema, additionalProperties: false });
const shapes = [
  appDto,
  appPage,
  auditEntry,
  auditPage,
  categoryDto,
  eventApp,
  failure,
  listedSubscriptionDto,
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
    | "Failure"
    | "ListedSubscriptionDto"
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

/** Nothing that only we know: no SQL, no stack, no file, no address, no name of a library. */
const internal =
  /\b(select|insert|update|delete) .*\b(from|into|set)\b|postgres|pgboss|fastify|FST_|node_modules|\.ts\b|\n\s+at |ECONN|127\.0\.0\.1/i;

/** Holds an error of the EHR against the spec's wrapper, to the letter; answers its message. */
export async function assertFailure(answer: Response, status: number): Promise<string> {
  const text = await answer.text();
  assert.equal(answer.status, status, text.slice(0, 300));
  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assertGuarded(answer);
  const failed = JSON.parse(text) as { message: string };
  assertShape("Failure", failed);
  assert.ok(failed.message.trim() !== "", "it says why");
  assert.doesNotMatch(failed.message, internal);
  return failed.message;
}
