import { useQuery } from "@tanstack/react-query";
import { formatTimeIn } from "../../storefront/format.ts";
import { organisationQuery } from "../api/practice-queries.ts";

/** Formats times in the time zone of the practice, with its name; in UTC until that is known. */
export function useFormatTime(alias: string): (instant: Date) => string {
  const { data } = useQuery(organisationQuery(alias));
  return (instant) => formatTimeIn(data?.timeZone ?? "UTC", instant);
}
