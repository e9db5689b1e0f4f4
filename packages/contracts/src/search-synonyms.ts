import { type Static, Type } from "typebox";
import { noNulPattern } from "./catalog-requests.ts";

const phrase = (description: string) =>
  Type.String({ minLength: 1, maxLength: 80, pattern: noNulPattern, description });

const synonymGroup = Type.Object(
  {
    term: Type.Optional(phrase("If given, only this word or phrase also means the synonyms, and they don't mean it")),
    synonyms: Type.Array(phrase("A word or phrase"), {
      minItems: 1,
      maxItems: 40,
      description: "Without `term`, all of them mean the same; then there must be at least two",
    }),
  },
  {
    additionalProperties: false,
    examples: [{ synonyms: ["telehealth", "video visit", "virtual care"] }, { term: "cardiology", synonyms: ["ECG"] }],
  },
);
export type SynonymGroup = Static<typeof synonymGroup>;

const fields = { synonyms: Type.Array(synonymGroup, { maxItems: 3_000 }) };

/** The whole set: operators read it, edit it and replace it. */
export const searchSynonyms = Type.Object(fields, { $id: "SearchSynonyms", title: "SearchSynonyms" });
export const putSearchSynonymsBody = Type.Object(fields, { additionalProperties: false });
export type SearchSynonyms = Static<typeof searchSynonyms>;
