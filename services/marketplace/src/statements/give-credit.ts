import type { CreditBody, CreditDto } from "@ehr-marketplace/contracts";
import { Problem } from "@ehr-marketplace/service-kit/http";
import type { KeyedDigest } from "@ehr-marketplace/service-kit/secrets";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { Transaction } from "kysely";
import { v7 as uuid } from "uuid";
import type { RequestContext } from "../access/request-context.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { recordCredit } from "../billing/credits.ts";
import { formatAmount } from "../billing/format-amount.ts";
import { toMonth } from "../billing/month.ts";
import type { DB } from "../database-schema.ts";
import { type IdempotentRequest, runIdempotently } from "../idempotency/run-idempotently.ts";
import { type NewNotice, subscriptionPage } from "../notices/notice.ts";
import { recordNotices } from "../notices/record-notice.ts";
import { type LockedSubscription, lockAccountOf, lockOwnSubscription } from "../subscriptions/lock-subscription.ts";
import type { ChargedLine } from "./charged-line.ts";
import type { ReadDeps } from "./read-months.ts";
import { readLinesOf } from "./read-organisation-statements.ts";
import { statementProblems } from "./statement-errors.ts";
import { listStatements } from "./statement-month.ts";
import { findStatementMonths } from "./statement-month-store.ts";

export type CreditDeps = ReadDeps & { bodyDigest: KeyedDigest };

const creditRoles: readonly Role[] = ["operator", "billing"];
/** The current one, and the three before. */
const creditedMonths = 4;
/** A credit is a line, and lines are numbered. */
const maxPerMonth = 100;

/** Gives back a part of what a subscription's account was charged: a line of the current month, which is never being closed. */
export async function giveCredit(
  { database, clock, bodyDigest }: CreditDeps,
  by: RequestContext,
  subscriptionId: string,
  { amount, text }: CreditBody,
  request: IdempotentRequest,
): Promise<CreditDto> {
  const now = clock();
  return database.transaction().execute((transaction) =>
    runIdempotently(transaction, { caller: by.caller, now, bodyDigest }, request, async () => {
      const { locked, role } = await lockOwnSubscription(transaction, by, subscriptionId, creditRoles);
      await lockAccountOf(transaction, locked);
      const { currency } = locked.row.pricing_plan;
      const lines = await readAccountLines(transaction, locked, now);
      const credited = lines.filter(({ creditId }) => creditId !== null);
      const [charged, left] = [sumOf(lines) - sumOf(credited), sumOf(lines)];
      if (BigInt(amount) > left) {
        const creditable = `${formatAmount(left < 0n ? 0n : left, currency)} ${currency}`;
        throw new Problem(
          statementProblems.creditAboveCharge,
          `At most ${creditable} can be credited: that is what is left of the charges of this month so far and the three before it.`,
        );
      }
      const month = toMonth(now);
      if (credited.filter((line) => line.month === month).length >= maxPerMonth) {
        const detail = `The organisation has ${maxPerMonth} credits for this app in ${month}.`;
        throw new Problem(statementProblems.tooManyCredits, detail);
      }
      const credit = { id: uuid(), subscriptionId, month, amount, text };
      await recordCredit(transaction, { ...credit, charged, now });
      await recordAudit(transaction, {
        by,
        role,
        at: now,
        onBehalfOf: locked.row.org_alias,
        action: "subscription.credit",
        target: { kind: "subscription", id: subscriptionId },
        before: null,
        after: { creditId: credit.id, amount, currency, text, month },
      });
      await recordNotices(transaction, noticesOf(locked, { ...credit, currency, now }));
      return { ...credit, currency, createdAt: now.toISOString() };
    }),
  );
}

/** The lines of the account on the statements of the months that count, as the organisation reads them. */
async function readAccountLines(
  transaction: Transaction<DB>,
  { row }: LockedSubscription,
  now: Date,
): Promise<(ChargedLine & { month: string })[]> {
  const known = await findStatementMonths(transaction);
  const of = { organisationId: row.organisation_id, known, now };
  const lines = [];
  for (const listed of listStatements(known, now).slice(0, creditedMonths)) {
    const { month } = listed;
    lines.push(...(await readLinesOf(transaction, of, listed)).map((line) => ({ ...line, month })));
  }
  return lines.filter(({ appId, currency }) => appId === row.app_id && currency === row.pricing_plan.currency);
}

const sumOf = (lines: readonly ChargedLine[]): bigint => lines.reduce((sum, { amount }) => sum + amount, 0n);

interface GivenCredit {
  id: string;
  month: string;
  amount: number;
  text: string;
  currency: string;
  now: Date;
}

function noticesOf(
  { row, app, vendorId }: LockedSubscription,
  { id, month, amount, text, currency, now }: GivenCredit,
): NewNotice[] {
  const given = `${formatAmount(BigInt(amount), currency)} ${currency}`;
  const notice = { kind: "credit", severity: "info", key: `credit ${id}`, at: now } as const;
  return [
    {
      ...notice,
      audience: { organisationId: row.organisation_id },
      subject: `You got a credit of ${given} for ${app.name} in ${month} (${row.org_alias})`,
      detail: `Reason: ${text}`,
      link: subscriptionPage(row.org_alias, row.id),
    },
    {
      ...notice,
      audience: { vendorId },
      subject: `${row.org_alias} got a credit of ${given} for ${app.name} in ${month}`,
      detail: `It lowers your earnings of ${month}, and the commission on them. Reason: ${text}`,
      link: null,
    },
  ];
}
