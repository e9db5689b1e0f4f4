import type { Persona } from "@ehr-marketplace/dev/identity-provider";
import { type Publisher, publishWith } from "@ehr-marketplace/test-kit/publisher";
import { sendApiRequest } from "./callers.ts";

export { completeDraft, drawPng, freePlan, type Publisher } from "@ehr-marketplace/test-kit/publisher";

/** A publisher with the tokens of personas, or of callers that the test has made up. */
export const createPublisher = <Who extends string = Persona>(
  url: string,
  token: (who: Who | "operator") => string,
  vendor: Who,
): Publisher<Who> => publishWith<Who>((who, path, options) => sendApiRequest(url, path, token(who), options), vendor);
