import { Button, Group } from "@mantine/core";
import { type RefObject, useEffect, useRef } from "react";
import { texts } from "../texts.ts";

export interface PagerProps {
  /** Where the shown page begins. */
  after: string | undefined;
  next: string | null | undefined;
  /** To the page after this cursor, or to the first one. */
  onGo: (after: string | undefined) => void;
}

/** To older items, and back to the newest. Also there if a page can't be shown, since its cursor may be the reason. */
export function Pager({ after, next, onGo }: PagerProps) {
  const hasNext = next !== null && next !== undefined;
  if (after === undefined && !hasNext) return null;
  return (
    <Group component="nav" aria-label={texts.paging.label} className="pager">
      {after !== undefined && (
        <Button variant="default" onClick={() => onGo(undefined)}>
          {texts.paging.newest}
        </Button>
      )}
      {hasNext && (
        <Button variant="default" onClick={() => onGo(next)}>
          {texts.paging.older}
        </Button>
      )}
    </Group>
  );
}

/** Moves the focus to the list when another page of it is shown: the button that was pressed may be gone. */
export function usePageFocus(after: string | undefined): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  const previous = useRef(after);
  useEffect(() => {
    if (previous.current !== after) list.current?.focus({ preventScroll: true });
    previous.current = after;
  }, [after]);
  return list;
}
