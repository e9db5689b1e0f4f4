import type { NoticeDto } from "@ehr-marketplace/client/marketplace";
import { Alert, Button, Checkbox, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { marketplace } from "../api/apis.ts";
import { practiceKey } from "../api/practice-queries.ts";
import { noticesQuery } from "../api/record-queries.ts";
import { useSession } from "../api/session.ts";
import { Page } from "../shell/page.tsx";
import { Pager, usePageFocus } from "../shell/pager.tsx";
import { EmptyNotice, ErrorNotice } from "../states/notices.tsx";
import { QueryView, RowsSkeleton } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { describeNotice } from "./describe-notice.ts";
import { MailSettings } from "./mail-settings.tsx";
import { NoticeList } from "./notice-list.tsx";

const t = texts.notices;
const route = getRouteApi("/practice/$alias/notices");

/** What the practice should know or do. The filter and the page are in the URL. */
export function NoticesPage() {
  const { alias } = route.useParams();
  const search = route.useSearch();
  const { unread, after } = search;
  const navigate = route.useNavigate();
  const isAdmin = useSession().practices.some((practice) => practice.alias === alias && practice.isAdmin);
  const notices = useQuery(noticesQuery(alias, search));
  const list = usePageFocus(after);
  const read = useMarkRead(alias);
  const clear = (): void => void navigate({ search: {} });
  return (
    <Page title={t.title}>
      {!isAdmin && <Text c="dimmed">{t.memberNote}</Text>}
      <Checkbox
        label={t.unreadOnly}
        checked={unread === true}
        onChange={(event) =>
          void navigate({ search: event.currentTarget.checked ? { unread: true } : {}, replace: true })
        }
      />
      <MarkResult read={read} />
      <div ref={list} tabIndex={-1} className="results">
        <QueryView query={notices} skeleton={<RowsSkeleton rows={6} />}>
          {({ items }) => {
            if (items.length > 0) {
              return (
                <NoticeList
                  alias={alias}
                  items={items}
                  actions={(notice) => isAdmin && notice.readAt === null && <MarkRead notice={notice} read={read} />}
                />
              );
            }
            if (unread !== true && after === undefined) {
              return <EmptyNotice title={t.empty} text={isAdmin ? t.emptyText : t.emptyTextMember} />;
            }
            return (
              <EmptyNotice title={t.noMatch} text={t.noMatchText}>
                <Button variant="default" onClick={clear}>
                  {t.clear}
                </Button>
              </EmptyNotice>
            );
          }}
        </QueryView>
      </div>
      <Pager
        after={after}
        next={notices.data?.next}
        onGo={(cursor) =>
          void navigate({
            search: { ...(unread === true && { unread }), ...(cursor !== undefined && { after: cursor }) },
          })
        }
      />
      <MailSettings alias={alias} isAdmin={isAdmin} />
    </Page>
  );
}

type MarkReadMutation = ReturnType<typeof useMarkRead>;

/** Without a dialog: nothing is lost by it, since the notice stays in the list. */
function useMarkRead(alias: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id }: NoticeDto) =>
      marketplace("POST /organisations/{alias}/notices/{id}/read", { path: { alias, id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: [...practiceKey(alias), "notices"] }),
  });
}

function MarkRead({ notice, read }: { notice: NoticeDto; read: MarkReadMutation }) {
  return (
    <Button
      variant="default"
      size="compact-sm"
      loading={read.isPending && read.variables.id === notice.id}
      aria-label={t.markReadOf(describeNotice(notice).subject)}
      onClick={() => read.mutate(notice)}
    >
      {t.markRead}
    </Button>
  );
}

/** Gets the focus, because the button that was pressed is gone. */
function MarkResult({ read }: { read: MarkReadMutation }) {
  const result = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (read.isSuccess) result.current?.focus({ preventScroll: true });
  }, [read.isSuccess, read.variables]);
  return (
    <div role="status" ref={result} tabIndex={-1} className="results">
      {read.isSuccess && (
        <Alert color="positive" variant="light" className="notice">
          {t.marked(describeNotice(read.variables).subject)}
        </Alert>
      )}
      {read.error !== null && <ErrorNotice error={read.error} />}
    </div>
  );
}
