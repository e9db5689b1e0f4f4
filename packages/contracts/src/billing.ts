import { type Static, Type } from "typebox";
import { currency, nullable, rate, uuid } from "./wire-types.ts";

export const monthPattern = "^\\d{4}-(0[1-9]|1[0-2])$";
export const month = (description: string) =>
  Type.String({ pattern: monthPattern, maxLength: 7, description, examples: ["2027-04"] });

/** Serialised exactly, also if it is more than a JavaScript number can represent. */
export const money = (description: string) =>
  Type.Unsafe<bigint>(Type.Integer({ description: `${description}, in the currency's minor unit` }));

export const chargeLine = Type.Object(
  {
    description: Type.String({ description: "The plan, and what is charged of it", examples: ["Team, provider"] }),
    quantity: Type.String({ description: "Units, as a decimal", examples: ["3"] }),
    unitAmount: Type.Union(rate.anyOf, { description: "The price of a unit, in the currency's minor unit" }),
    days: nullable(Type.Integer(), "The days that are charged; null for usage"),
    intervalDays: nullable(Type.Integer(), "The days of the month, or of the year for a yearly plan; null for usage"),
    amount: money(
      "`quantity` × `unitAmount`, × `days` ÷ `intervalDays` where they are given; exact, and rounded half up once",
    ),
  },
  { $id: "ChargeLine", title: "ChargeLine" },
);
export type ChargeLine = Static<typeof chargeLine>;

const lines = Type.Array(Type.Ref("ChargeLine#"), { description: "What is charged" });

const onReached = Type.Enum(["notify", "pause"], {
  description:
    "At 80 % and at 100 % the organisation is told. `pause`: at 100 % the subscription is paused, too, for SPEND_LIMIT",
});
const limitAmount = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "What the subscription may cost in a calendar month (UTC), in the currency's minor unit",
  examples: [25_000],
});

export const spendLimitBody = Type.Object(
  {
    amount: limitAmount,
    onReached,
    confirm: Type.Optional(
      Type.Boolean({ description: "Sets a limit below what the month has cost already, which is reached at once" }),
    ),
  },
  { additionalProperties: false },
);
export type SpendLimitBody = Static<typeof spendLimitBody>;

/** The limit with which a subscription begins. */
export const firstSpendLimit = Type.Object({ amount: limitAmount, onReached }, { additionalProperties: false });

export const spendLimitDto = Type.Object(
  {
    // The default is 0 for a currency without one.
    amount: Type.Integer({ ...limitAmount, minimum: 0 }),
    currency,
    onReached,
    isDefault: Type.Boolean({
      description: "Whether it is the marketplace's default for plans with usage, until the practice sets its own",
    }),
  },
  { $id: "SpendLimitDto", title: "SpendLimitDto" },
);
export type SpendLimitDto = Static<typeof spendLimitDto>;

export const estimateDto = Type.Object(
  {
    month: month("The current month, in UTC"),
    currency,
    lines,
    total: money("The month so far, today included, less what was credited in it"),
    projectedTotal: money(
      "The whole month, if the subscription stays as it is and usage goes on at its rate, less what was credited in it",
    ),
    credited: money(
      "What was credited this month: lines with a negative amount. A spend limit is compared with `total` + `credited`",
    ),
    spendLimit: nullable(Type.Ref("SpendLimitDto#"), "The limit; null if there is none, and for vendors"),
    leastLimit: nullable(
      Type.Integer({ minimum: 0 }),
      "How far the limit has to be raised, at least, before the subscription can be resumed this month, because usage was rejected; null if it needn't be, and for vendors",
    ),
  },
  { $id: "EstimateDto", title: "EstimateDto" },
);
export type EstimateDto = Omit<Static<typeof estimateDto>, "lines" | "spendLimit"> & {
  lines: ChargeLine[];
  spendLimit: SpendLimitDto | null;
};

export const quoteBody = Type.Object(
  {
    pricingPlanId: uuid("One of the app's plans, from `/apps/{slug}/pricing`"),
    quantity: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "Units; for PER_UNIT and TIERED plans only" }),
    ),
    usage: Type.Optional(
      Type.Union([Type.Number(), Type.String({ maxLength: 40 })], {
        description: "Of the plan's metric in a month, at least 0; for USAGE plans only",
        examples: [250],
      }),
    ),
    trial: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          "Whether a trial of the plan counts. An organisation has one trial of an app, and a change of plan begins none: send false then",
      }),
    ),
  },
  { additionalProperties: false },
);
export type QuoteBody = Static<typeof quoteBody>;

const quotedMonth = (description: string) =>
  Type.Object({ month: month("The month, in UTC"), lines, total: money("What it costs") }, { description });

export const quoteDto = Type.Object(
  {
    currency,
    firstMonth: quotedMonth(
      "This month, if the subscription begins now: without the days before, and those of a trial, unless `trial` is false",
    ),
    fullMonth: quotedMonth("The next month, without a trial"),
    spendLimit: nullable(
      Type.Ref("SpendLimitDto#"),
      "The limit that the subscription begins with, unless `spendLimit` sets another one; null for plans without usage",
    ),
  },
  { $id: "QuoteDto", title: "QuoteDto" },
);
type QuotedMonth = { month: string; lines: ChargeLine[]; total: bigint };
export type QuoteDto = {
  currency: string;
  firstMonth: QuotedMonth;
  fullMonth: QuotedMonth;
  spendLimit: SpendLimitDto | null;
};
