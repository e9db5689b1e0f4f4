import type { InstallationDto } from "@ehr-marketplace/client/ehr";
import { texts } from "../texts.ts";

type Connection = Pick<NonNullable<InstallationDto["connection"]>, "status" | "reason">;
type Installed = { connection: Connection | null };

export interface DescribedConnection {
  text: string;
  /** In the EHR's words. */
  reason: string | undefined;
  /** What to do, if anything. */
  advice: string | undefined;
  isFailed: boolean;
}

/** How far an app has come in the EHR, for a live subscription. Undefined: it isn't installed yet. */
export function describeConnection(installation: Installed | undefined): DescribedConnection {
  const { connection: words, connections } = texts;
  const settled = { reason: undefined, advice: undefined, isFailed: false };
  if (installation === undefined) return { ...settled, text: words.waiting, advice: connections.advice.waiting };
  const { connection } = installation;
  if (connection === null) return { ...settled, text: words.installed };
  const reason = connection.reason === null || connection.reason === "" ? undefined : connection.reason;
  const { status } = connection;
  const advice = status === "ready" ? undefined : connections.advice[status];
  return { text: words[status], reason, advice, isFailed: status === "failed" };
}
