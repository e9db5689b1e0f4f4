import { useQuery } from "@tanstack/react-query";
import { unreadNoticesQuery } from "../api/record-queries.ts";
import { useSession } from "../api/session.ts";
import { countUnread } from "../notices/describe-notice.ts";
import { texts } from "../texts.ts";
import { AuditIcon, NoticesIcon } from "./icons.tsx";
import { NavigationLink } from "./links.tsx";

/** To what a practice is told and what is recorded of it. Members don't read the audit log. */
export function RecordLinks({ alias }: { alias: string }) {
  const isAdmin = useSession().practices.some((practice) => practice.alias === alias && practice.isAdmin);
  const { data: unread } = useQuery(unreadNoticesQuery(alias));
  return (
    <>
      <NavigationLink
        to="/practice/$alias/notices"
        params={{ alias }}
        activeOptions={{ includeSearch: false }}
        label={texts.notices.link(unread === undefined ? "" : countUnread(unread))}
        leftSection={<NoticesIcon />}
      />
      {isAdmin && (
        <NavigationLink
          to="/practice/$alias/audit"
          params={{ alias }}
          activeOptions={{ includeSearch: false }}
          label={texts.audit.link}
          leftSection={<AuditIcon />}
        />
      )}
    </>
  );
}
