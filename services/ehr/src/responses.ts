import type { Failure } from "@ehr-marketplace/contracts";
import { type ErrorShape, errorResponses } from "@ehr-marketplace/service-kit/http";

export interface Success<T> {
  success: true;
  message: string;
  data: T;
}

export const success = <T>(message: string, data: T): Success<T> => ({ success: true, message, data });

/** The spec's wrapper, for errors. */
export const wrapperShape: ErrorShape = {
  mediaType: "application/json",
  write(problem) {
    const failure: Failure = { success: false, message: problem.message, data: null };
    return JSON.stringify(failure);
  },
};

/** Error responses of routes that fetch an app from the marketplace if a subscription to it is unconfirmed. */
export const appFetchFailures = {
  429: "Too many requests, or the app waits for confirmation and the organisation's requests to the marketplace's catalog are used up; try again after `Retry-After` seconds",
  503: "The app waits for confirmation and the marketplace can't be reached, the service is overloaded, or a dependency is unavailable; retry after `Retry-After` seconds",
};

export const failureResponses = errorResponses("application/json", "Failure");
