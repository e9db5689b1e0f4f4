import type { LaunchLogResponse } from "@ehr-marketplace/client/ehr";
import { ApiError } from "@ehr-marketplace/client/errors";
import { queryOptions } from "@tanstack/react-query";
import type { NoticesSearch } from "../search-params.ts";
import { ehr, marketplace } from "./apis.ts";
import { practiceKey } from "./practice-queries.ts";

/** Of notices that are counted beside the link. */
export const countedNotices = 50;
const pageSize = 50;

/** What nobody at the practice has read, as far as it is counted. */
export const unreadNoticesQuery = (alias: string) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "notices", "unread"],
    queryFn: ({ signal }) =>
      marketplace("GET /organisations/{alias}/notices", {
        path: { alias },
        query: { unread: true, limit: countedNotices },
        signal,
      }),
  });

export const noticesQuery = (alias: string, { unread, after }: NoticesSearch) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "notices", { unread, after }],
    queryFn: ({ signal }) =>
      marketplace("GET /organisations/{alias}/notices", {
        path: { alias },
        query: { unread: unread === true, limit: 20, ...(after !== undefined && { after }) },
        signal,
      }),
  });

export const noticeSettingsQuery = (alias: string) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "notice-settings"],
    queryFn: ({ signal }) => marketplace("GET /organisations/{alias}/notice-settings", { path: { alias }, signal }),
  });

export interface AuditFilters {
  from?: string;
  to?: string;
  action?: string;
  targetId?: string;
  after?: string;
}

/** For admins. */
export const auditQuery = (alias: string, filters: AuditFilters) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "audit", filters],
    queryFn: ({ signal }) =>
      marketplace("GET /organisations/{alias}/audit", {
        path: { alias },
        query: { limit: pageSize, ...filters },
        signal,
      }),
  });

/** What the practice's EHR has told the marketplace last: readable also while the EHR is down. */
export const connectionQuery = (alias: string, id: string) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "connection", id],
    queryFn: ({ signal }) => marketplace("GET /subscriptions/{id}/connection", { path: { id }, signal }),
  });

/** For admins. Null if the app was never installed. */
export const launchesQuery = (alias: string, appSlug: string, after: string | undefined) =>
  queryOptions({
    queryKey: [...practiceKey(alias), "launches", appSlug, after],
    queryFn: async ({ signal }): Promise<LaunchLogResponse["data"] | null> => {
      try {
        const { data } = await ehr("GET /app-installations/{appSlug}/launches", {
          path: { appSlug },
          query: { limit: pageSize, ...(after !== undefined && { after }) },
          headers: { "x-org-alias": alias },
          signal,
        });
        return data;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
  });
