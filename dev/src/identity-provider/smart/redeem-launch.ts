import { errors } from "oidc-provider";

/** What the EHR was asked to redeem: who it is, is for it to check. */
export interface Redemption {
  launch: string;
  orgAlias: string;
  appSlug: string;
  user: string;
}

export interface LaunchContext {
  patient: string | null;
  encounter: string | null;
  orgAlias: string;
}

/** The EHR gives the context behind a launch once. Nothing of its answer may get into an error or a log: it names a patient. */
export async function redeemLaunch(ehrUrl: string, token: string, redemption: Redemption): Promise<LaunchContext> {
  const unavailable = () => new errors.TemporarilyUnavailable("the EHR did not say what this launch is for");
  const answer = await fetch(`${ehrUrl}/api/internal/launch-contexts/consume`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(redemption),
    redirect: "error",
    signal: AbortSignal.timeout(5_000),
  }).catch(() => {
    throw unavailable();
  });
  if (answer.status === 410 || answer.status === 400) {
    throw new errors.AccessDenied("the launch was used before, has expired, or is not this user's");
  }
  const said = (await answer.json().catch(() => undefined)) as { data?: LaunchContext } | undefined;
  if (answer.status !== 200 || typeof said?.data !== "object") throw unavailable();
  return said.data;
}
