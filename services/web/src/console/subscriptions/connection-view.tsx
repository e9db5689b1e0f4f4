import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { formatTime } from "../../storefront/format.ts";
import { installationsQuery } from "../api/practice-queries.ts";
import { connectionQuery } from "../api/record-queries.ts";
import { Loading, RowsSkeleton } from "../states/query-view.tsx";
import { texts } from "../texts.ts";
import { type DescribedConnection, describeConnection } from "./connection-text.ts";

const t = texts.connections;

/** The state in words, why it is so, and what to do. */
export function ConnectionView({ text, reason, advice, isFailed }: DescribedConnection) {
  return (
    <div className="connection">
      <Text inherit className={isFailed ? "failed" : undefined}>
        {text}
      </Text>
      {reason !== undefined && (
        <Text size="sm" className="entered">
          {t.reason(reason)}
        </Text>
      )}
      {advice !== undefined && (
        <Text size="sm" c="dimmed">
          {advice}
        </Text>
      )}
    </div>
  );
}

/** As the EHR says; or, while it can't be asked, what it has reported to the marketplace. */
export function ConnectionOf({ alias, subscriptionId }: { alias: string; subscriptionId: string }) {
  const installations = useQuery(installationsQuery(alias));
  const connection = useQuery(connectionQuery(alias, subscriptionId));
  const { updatedAt = null } = connection.data ?? {};
  const reported = updatedAt !== null && (
    <Text size="xs" c="dimmed">
      {t.reportedAt(formatTime(new Date(updatedAt)))}
    </Text>
  );
  if (installations.data !== undefined) {
    const installation = installations.data.find((each) => each.subscriptionId === subscriptionId);
    return (
      <>
        <ConnectionView {...describeConnection(installation)} />
        {installation?.connection && reported}
      </>
    );
  }
  if (installations.error === null) {
    return (
      <Loading>
        <RowsSkeleton rows={1} />
      </Loading>
    );
  }
  if (connection.data === undefined || updatedAt === null) return <Text>{texts.connection.unknown}</Text>;
  return (
    <>
      <ConnectionView {...describeConnection({ connection: connection.data })} />
      <Text size="sm" c="dimmed">
        {t.fromMarketplace}
      </Text>
      {reported}
    </>
  );
}
