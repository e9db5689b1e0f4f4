import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fhirBaseUrlOf, isBrowserUrl, launchUrlOf } from "./launch-url.ts";

const iss = "https://fhir.example/riverside-clinic";
const launch = "Zm9vYmFy-_x";

const piece = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }).map((text) => text.replace(/[#&\ud800-\udfff]/g, "")),
  fc.constantFrom("iss=https://elsewhere.example", "launch=old", "launch", "i%73s=x", "?iss=1", "Launch=1", "=", ""),
  fc.stringMatching(/^[a-z]{1,4}=[a-z %+]{0,6}$/),
);
const query = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join("&"));
const appUrls = fc
  .tuple(
    fc.webUrl({ withFragments: false, withQueryParameters: false }),
    fc.option(query),
    fc.option(fc.webFragments()),
  )
  .map(
    ([url, search, fragment]) =>
      `${url}${search === null ? "" : `?${search}`}${fragment === null ? "" : `#${fragment}`}`,
  );

const isOurs = (name: string): boolean => name === "iss" || name === "launch";

for (const [type, parameters] of [
  ["smart", { iss, launch }],
  ["standalone", { iss }],
] as const) {
  test(`${type}: any app URL keeps all but its own iss and launch, and gets ours once`, () => {
    fc.assert(
      fc.property(appUrls, (appUrl) => {
        const given = new URL(appUrl);
        const made = new URL(launchUrlOf(appUrl, parameters));
        const parameter = (url: URL, ours: boolean) => [...url.searchParams].filter(([name]) => isOurs(name) === ours);
        assert.deepEqual(parameter(made, true), Object.entries(parameters));
        assert.deepEqual(parameter(made, false), parameter(given, false));
        const rest = ({ origin, pathname, hash }: URL): string[] => [origin, pathname, hash];
        assert.deepEqual(rest(made), rest(given));
      }),
      { numRuns: 2_000 },
    );
  });
}

test("keeps the query of the app's URL byte for byte", () => {
  const written = "https://a.example/launch?x=%7e+1%20&flag&&y=%C3%A9&x=2;z";
  assert.equal(
    launchUrlOf(written, { iss: "https://f.example/a b" }),
    `${written}&iss=https%3A%2F%2Ff.example%2Fa%20b`,
  );
});

test("iss is the organisation's FHIR server, with the alias encoded", () => {
  assert.equal(
    fhirBaseUrlOf("https://fhir.example/{orgAlias}/r4", "riverside-clinic"),
    "https://fhir.example/riverside-clinic/r4",
  );
  assert.equal(fhirBaseUrlOf("https://fhir.example", "riverside-clinic"), "https://fhir.example");
  assert.equal(
    fhirBaseUrlOf("https://{orgAlias}.example/{orgAlias}", "a/$&?b"),
    "https://a%2F%24%26%3Fb.example/a%2F%24%26%3Fb",
  );
});

for (const url of [
  "javascript:alert(1)",
  "data:text/html,x",
  "ftp://a.example/",
  "http://",
  "https://a:99999/",
  "//a.example",
  "",
]) {
  test(`rejects ${url === "" ? "an empty URL" : url}`, () => assert.equal(isBrowserUrl(url), false));
}
