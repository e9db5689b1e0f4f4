import type { ListedSubscriptionDto } from "@ehr-marketplace/client/marketplace";

type Listed = Pick<ListedSubscriptionDto, "id" | "status" | "pendingScopes">;

/** Apps that can't sign in, ask for more access or are paused come before the others: the overview shows only some. */
export function putAttentionFirst<T extends Listed>(live: readonly T[], canNotSignIn: ReadonlySet<string>): T[] {
  const needsAttention = ({ id, status, pendingScopes }: Listed): boolean =>
    canNotSignIn.has(id) || pendingScopes !== "" || status === "paused";
  return [...live.filter(needsAttention), ...live.filter((each) => !needsAttention(each))];
}
