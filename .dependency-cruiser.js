// The boundaries of ARCHITECTURE.md, as rules. tests/boundaries holds them against a fixture that breaks each one.
const feature = "^(?:tests/boundaries/fixture/)?services/([^/]+)/src/([^/]+)/";
const testFile = "[.]test(-support|-fixture)?[.]ts$";

export default {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "services-never-import-each-other",
      severity: "error",
      from: { path: "services/([^/]+)/" },
      to: { path: "services/([^/]+)/", pathNot: "services/$1/" },
    },
    {
      name: "packages-never-import-services",
      severity: "error",
      from: { path: "(^|/)packages/" },
      to: { path: "(^|/)services/" },
    },
    {
      name: "tests-of-packages-load-no-service",
      comment: "What starts a service is in tests/support; test-kit needs none",
      severity: "error",
      from: { path: "(^|/)packages/" },
      to: { path: "(^|/)tests/support/" },
    },
    {
      name: "test-kit-is-for-tests",
      severity: "error",
      from: { path: "(^|/)(packages|services)/", pathNot: `${testFile}|(^|/)packages/test-kit/` },
      to: { path: "(^|/)packages/test-kit/" },
    },
    {
      name: "contracts-stand-alone",
      comment: "Wire shapes depend on nothing but the library that they are written in",
      severity: "error",
      from: { path: "(^|/)packages/contracts/", pathNot: testFile },
      to: { pathNot: "(^|/)packages/contracts/|node_modules/typebox/" },
    },
    {
      name: "config-schema-has-no-io",
      comment: "Services, a command line and a browser validate with it",
      severity: "error",
      from: { path: "(^|/)packages/config-schema/", pathNot: testFile },
      to: { pathNot: "(^|/)packages/config-schema/|node_modules/(re2js|ajv-formats)/" },
    },
    {
      name: "listing-rules-have-no-io",
      comment: "The service, a command line and an editor in a browser check drafts and render Markdown with them",
      severity: "error",
      from: { path: "(^|/)packages/(listing-rules|markdown)/", pathNot: testFile },
      to: { pathNot: "(^|/)packages/(listing-rules|markdown|config-schema|contracts)/|node_modules/markdown-it/" },
    },
    {
      name: "outbound-http-stands-alone",
      comment: "The client for strangers' URLs depends on no package of ours, so that it can be reviewed by itself",
      severity: "error",
      from: { path: "(^|/)packages/outbound-http/", pathNot: testFile },
      to: { path: "(^|/)(packages|services)/", pathNot: "(^|/)packages/outbound-http/|node_modules/" },
    },
    {
      name: "stores-never-leave-their-feature",
      comment: "Tests may run another feature's statements, as those of bounded reads do",
      severity: "error",
      from: { path: feature, pathNot: testFile },
      to: { path: "-store[.]ts$", pathNot: "services/$1/src/$2/" },
    },
    {
      name: "stores-are-for-features-only",
      severity: "error",
      from: { pathNot: "services/[^/]+/src/[^/]+/" },
      to: { path: "services/[^/]+/src/.*-store[.]ts$" },
    },
    {
      name: "features-meet-in-use-cases",
      comment: "A feature's routes are for the process to register, not for another feature",
      severity: "error",
      from: { path: feature },
      to: { path: "-routes[.]ts$", pathNot: "services/$1/src/$2/" },
    },
    {
      name: "processes-are-entered-not-imported",
      severity: "error",
      from: {},
      to: { path: "services/[^/]+/src/(api|worker|web|migrate|reencrypt)[.]ts$" },
    },
    {
      name: "production-never-imports-dev-or-tests",
      severity: "error",
      from: { path: "(^|/)(packages|services)/", pathNot: testFile },
      to: { path: "^(tests/boundaries/fixture/)?(dev|bench|tests)/(?!boundaries/fixture/(services|packages)/)" },
    },
    {
      name: "no-catch-all-modules",
      severity: "error",
      from: {},
      to: { path: "/(utils|helpers|common)(/|[.]ts$)", pathNot: "node_modules" },
    },
    { name: "imports-resolve", severity: "error", from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(tests/boundaries/fixture|services/web/dist|services/[^/]+/bundle)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
  },
};
