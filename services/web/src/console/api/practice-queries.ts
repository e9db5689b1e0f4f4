import type { InstallationDto } from "@ehr-marketplace/client/ehr";
import { ApiError } from "@ehr-marketplace/client/errors";
import { queryOptions } from "@tanstack/react-query";
import { ehr, marketplace } from "./apis.ts";

/** What screens read. Each key begins with the practice, so that an action can have everything of one read again. */
export const practiceKey = (alias: string) => ["practice", alias] as const;

export const organisationQuery = (alias: string) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "organisation"],
    queryFn: ({ signal }) => marketplace("GET /organisations/{alias}", { path: { alias }, signal }),
  });

export const subscriptionsQuery = (alias: string) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "subscriptions"],
    queryFn: ({ signal }) => marketplace("GET /subscriptions", { query: { orgAlias: alias, expand: "app" }, signal }),
  });

export const estimateQuery = (alias: string, id: string) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "estimate", id],
    queryFn: ({ signal }) => marketplace("GET /subscriptions/{id}/estimate", { path: { id }, signal }),
  });

export const statementQuery = (alias: string, month: string) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "statement", month],
    queryFn: async ({ signal }) => {
      const statement = await marketplace("GET /organisations/{alias}/statements/{month}", {
        path: { alias, month },
        query: { format: "json" },
        signal,
      });
      if (typeof statement === "string") throw new Error("The statement isn't JSON.");
      return statement;
    },
  });

const statementsOnAPage = 12;

export const statementsQuery = (alias: string, after: string | undefined) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "statements", after],
    queryFn: ({ signal }) =>
      marketplace("GET /organisations/{alias}/statements", {
        path: { alias },
        query: { limit: statementsOnAPage, ...(after !== undefined && { after }) },
        signal,
      }),
  });

export const installationsQuery = (alias: string) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "installations"],
    queryFn: async ({ signal }) => {
      const { data } = await ehr("GET /app-installations", { headers: { "x-org-alias": alias }, signal });
      return data;
    },
  });

/** Null if the app isn't installed. */
export const installationQuery = (alias: string, appSlug: string) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "installation", appSlug],
    queryFn: async ({ signal }): Promise<InstallationDto | null> => {
      try {
        const input = { path: { appSlug }, headers: { "x-org-alias": alias }, signal };
        return (await ehr("GET /app-installations/{appSlug}", input)).data;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
  });
