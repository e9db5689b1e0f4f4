import { errors } from "oidc-provider";

/** The launch to redeem. The EHR checks that it belongs to this organisation, app and user. */
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
  /** The scopes that the organisation has agreed to. */
  fhirScopes: string;
}

/** Redeems a launch; the EHR returns its context once. Neither errors nor logs may contain the response, which names a patient. */
export async function redeemLaunch(ehrUrl: string, token: string, redemption: Redemption): Promise<LaunchContext> {
  const unavailable = () => new errors.TemporarilyUnavailable("the EHR did not say what this launch is for");
  const response = await fetch(`${ehrUrl}/api/internal/launch-contexts/consume`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(redemption),
    redirect: "error",
    signal: AbortSignal.timeout(5_000),
  }).catch(() => {
    throw unavailable();
  });
  if (response.status === 410 || response.status === 400) {
    throw new errors.AccessDenied("the launch was used before, has expired, or is not this user's");
  }
  const body = (await response.json().catch(() => undefined)) as { data?: LaunchContext } | undefined;
  if (response.status !== 200 || typeof body?.data !== "object") throw unavailable();
  return body.data;
}
