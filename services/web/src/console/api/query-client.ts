import { ApiError } from "@ehr-marketplace/client/errors";
import { QueryClient } from "@tanstack/react-query";

const maxRetries = 2;

/** Whether the same request may succeed a little later. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);

export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        retry: (failures, error) => failures < maxRetries && mayPass(error),
        retryDelay: (failures) => 500 * 2 ** failures,
        networkMode: "always",
      },
      // A change is repeated by the person, with the same idempotency key.
      mutations: { retry: false, networkMode: "always" },
    },
  });
