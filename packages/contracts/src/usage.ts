import { type Static, Type } from "typebox";
import { noNulPattern } from "./catalog-requests.ts";
import { instant, nullable, requestTime } from "./wire-types.ts";

const maxUsageRecords = 500;
/** No spaces, and nothing that could be a name. */
export const usageRecordIdPattern = "^[A-Za-z0-9._:-]+$";

export const usageRecord = Type.Object(
  {
    id: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: usageRecordIdPattern,
      description:
        "Your identifier of the record, unique within the subscription and the day (UTC) of `occurredAt`. Letters, digits and `.` `_` `:` `-`; nothing about a patient",
      examples: ["note-8f14e45f"],
    }),
    metric: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: noNulPattern,
        description: "The plan's metric",
        examples: ["notes"],
      }),
    ),
    quantity: Type.Optional(
      Type.Union([Type.Number(), Type.String({ maxLength: 40 })], {
        description:
          "At least 0, with at most 15 digits and 6 decimals; as a string it is exact whatever your JSON library does",
        examples: [1, "12.5"],
      }),
    ),
    occurredAt: requestTime("When it was used: at most 35 days ago, and at most 5 minutes ahead"),
    void: Type.Optional(
      Type.Boolean({ description: "Takes back the record with this `id` and day; without metric and quantity" }),
    ),
  },
  { additionalProperties: false },
);
export type UsageRecord = Static<typeof usageRecord>;

export const reportUsageBody = Type.Object(
  { records: Type.Array(usageRecord, { minItems: 1, maxItems: maxUsageRecords }) },
  { additionalProperties: false },
);
/** The same, whatever its records are. */
export const reportUsageEnvelope = Type.Object(
  { records: Type.Array(Type.Unknown(), { minItems: 1, maxItems: maxUsageRecords }) },
  { additionalProperties: false },
);
export type ReportUsageBody = Static<typeof reportUsageBody>;

export const usageResults = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        id: Type.String({ description: "The record's `id`; empty if that isn't a text" }),
        status: Type.Enum(["accepted", "duplicate", "rejected"], {
          description:
            "`accepted`: counted, or taken back. `duplicate`: it was before, and isn't counted twice. `rejected`: not counted; `reason` says why",
        }),
        reason: nullable(Type.String(), "Why it was rejected; null otherwise"),
      }),
      { description: "One for each record, in the order sent" },
    ),
  },
  { $id: "UsageResults", title: "UsageResults" },
);
export type UsageResults = Static<typeof usageResults>;
export type UsageResult = UsageResults["results"][number];

export const usageGranularities = ["hour", "day", "month"] as const;
export type UsageGranularity = (typeof usageGranularities)[number];

const timeOrDate = (description: string) =>
  Type.Union(
    [
      Type.String({ format: "date-time", maxLength: 40 }),
      Type.String({ format: "date", maxLength: 10, examples: ["2027-01-31"] }),
    ],
    { description },
  );

export const readUsageQuery = Type.Object({
  from: Type.Optional(timeOrDate("Begin, widened to a whole bucket; by default the begin of the month")),
  to: Type.Optional(timeOrDate("End, widened to a whole bucket; a date is included; by default now")),
  granularity: Type.Optional(
    Type.Enum([...usageGranularities], {
      default: "day",
      description: "The buckets, in UTC: at most 31 days of hours, or 400 days of days or months",
    }),
  ),
});
export type ReadUsageQuery = Static<typeof readUsageQuery>;

export const usageAggregations = ["SUM", "COUNT", "MAX", "LATEST"] as const;
export type UsageAggregation = (typeof usageAggregations)[number];

export const usageDto = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        metric: Type.String({ description: "The metric" }),
        aggregation: Type.Enum([...usageAggregations], { description: "That of the plan in force" }),
        from: instant("Begin of the bucket"),
        to: instant("End of the bucket, exclusive"),
        quantity: Type.String({
          pattern: "^\\d+(\\.\\d+)?$",
          description: "By the plan's aggregation, as a decimal",
          examples: ["12.5"],
        }),
      }),
      { description: "The buckets that have usage, the oldest first" },
    ),
  },
  { $id: "UsageDto", title: "UsageDto" },
);
export type UsageDto = Static<typeof usageDto>;
