import { Skeleton, Stack, VisuallyHidden } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { texts } from "../texts.ts";
import { ErrorNotice, StaleNotice } from "./notices.tsx";

export interface QueryViewProps<T> {
  query: UseQueryResult<T>;
  /** Has the shape of what is loaded. */
  skeleton: ReactNode;
  children: (data: T) => ReactNode;
}

/** Shows what was read, or that it is being read, can't be read, or couldn't be read anew. */
export function QueryView<T>({ query, skeleton, children }: QueryViewProps<T>) {
  const { data, error, dataUpdatedAt, refetch } = query;
  if (data === undefined) {
    return error === null ? <Loading>{skeleton}</Loading> : <ErrorNotice error={error} onRetry={refetch} />;
  }
  return (
    <>
      {error !== null && <StaleNotice at={dataUpdatedAt} onRetry={refetch} />}
      {children(data)}
    </>
  );
}

/** A placeholder, which assistive technology hears as "Loading". */
export function Loading({ children }: { children: ReactNode }) {
  return (
    <div aria-busy="true">
      <VisuallyHidden role="status">{texts.loading}</VisuallyHidden>
      <div aria-hidden="true">{children}</div>
    </div>
  );
}

/** As high as the rows of a table. */
export function RowsSkeleton({ rows }: { rows: number }) {
  return (
    <Stack gap="sm" py="sm">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={28} />
      ))}
    </Stack>
  );
}
