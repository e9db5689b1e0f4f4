import { ApiError } from "@ehr-marketplace/client/errors";
import { texts } from "../texts.ts";

export interface DescribedError {
  title: string;
  /** What happened, in the API's words. */
  detail: string | undefined;
  advice: string;
  requestId: string | undefined;
}

type Kind = keyof typeof texts.error.titles;

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** The path of an API's requests, and what is said if it doesn't respond. */
const upstreams = [
  ["/bff/ehr/", "ehrUnavailable"],
  ["/bff/marketplace/", "marketplaceUnavailable"],
] as const;

/** The service that doesn't respond, if the web or that service itself says so. The web's own outages have another code. */
function findUpstream({ code, url }: ApiError): Kind | undefined {
  if (code !== "upstream-unavailable" && code !== undefined) return undefined;
  const path = URL.parse(url ?? "")?.pathname ?? "";
  return upstreams.find(([prefix]) => path.startsWith(prefix))?.[1];
}

function kindOf(error: ApiError): Kind {
  const { status, code } = error;
  if (code === "sign-in-unavailable") return "signInUnavailable";
  if (status === 0) return "unreachable";
  if (status === 404 || status === 410) return "notFound";
  if (status === 401 || status === 403) return "refused";
  if (status === 409) return "conflict";
  if (status === 429) return "tooMany";
  if (status === 502 || status === 503 || status === 504) return findUpstream(error) ?? "unavailable";
  return status < 500 ? "invalid" : "failed";
}

/** Outages are described for people, not for developers. */
const ownWords = new Set<Kind>([
  "unreachable",
  "unavailable",
  "ehrUnavailable",
  "marketplaceUnavailable",
  "signInUnavailable",
]);

/** What a person needs to know about an error: what happened, why, what to do, and what to tell support. */
export function describeError(error: unknown): DescribedError {
  const { titles, advice } = texts.error;
  if (!(error instanceof ApiError)) {
    return { title: titles.failed, detail: undefined, advice: advice.failed, requestId: undefined };
  }
  const { codes } = texts.error;
  const known = error.code !== undefined && Object.hasOwn(codes, error.code) ? codes[error.code] : undefined;
  if (known !== undefined) return { ...known, detail: undefined, requestId: error.requestId };
  const kind = kindOf(error);
  const isOurs = ownWords.has(kind);
  return {
    title: isOurs ? titles[kind] : (error.title ?? titles[kind]),
    detail: isOurs ? undefined : error.message,
    advice: advice[kind],
    requestId: error.requestId,
  };
}
