import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";
import { Text } from "@mantine/core";
import { texts } from "../texts.ts";

/** Says so if the app of a live subscription has left the catalog. */
export function NoLongerOffered({
  isOffered,
  status,
}: { isOffered?: boolean | undefined } & Pick<ListedSubscriptionDto, "status">) {
  if (isOffered !== false || status === "cancelled") return undefined;
  return (
    <Text size="xs" className="attention">
      {texts.noLongerOffered(status === "active")}
    </Text>
  );
}
