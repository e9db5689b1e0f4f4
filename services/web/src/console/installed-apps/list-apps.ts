import type { InstallationDto } from "@ehr-marketplace/client/ehr";
import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";

type Subscribed = Pick<ListedSubscriptionDto, "id" | "appSlug" | "status"> & {
  app?: { name: string; iconUrl: string };
};

export interface ListedApp {
  subscriptionId: string;
  appSlug: string;
  name: string;
  iconUrl: string | undefined;
  status: "active" | "paused";
  /** Undefined while the EHR hasn't installed it. */
  installation: InstallationDto | undefined;
}

/** What the EHR has, and before it what it should have by now: live subscriptions that it hasn't installed yet. */
export function listApps(installed: readonly InstallationDto[], subscriptions: readonly Subscribed[]): ListedApp[] {
  const known = new Set(installed.map(({ subscriptionId }) => subscriptionId));
  const waiting = subscriptions.flatMap(({ id, appSlug, status, app }): ListedApp[] => {
    if (status === "cancelled" || known.has(id)) return [];
    const [name, iconUrl] = [app?.name ?? appSlug, app?.iconUrl];
    return [{ subscriptionId: id, appSlug, name, iconUrl, status, installation: undefined }];
  });
  const present = installed.map((installation): ListedApp => {
    const { subscriptionId, appSlug, name, iconUrl, status } = installation;
    return { subscriptionId, appSlug, name, iconUrl, status, installation };
  });
  return [...waiting, ...present];
}
