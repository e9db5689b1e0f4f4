export const basePath = "/api/v1";

export const apiDescription = {
  title: "EHR Marketplace API",
  version: "1.0.0",
  basePath,
  description: `The application marketplace for electronic health record systems.

Browse what is published without an account: list, filter, sort and search apps, and read their prices.

- **Errors** are problem documents (RFC 9457). \`code\` is stable; \`type\` leads to a page that says what to do.
- **Unknown query parameters** are ignored; a parameter given twice is refused.
- **Caching**: answers carry an \`ETag\`; send it back as \`If-None-Match\` and an unchanged answer costs you nothing.
- **Limits**: each address may send 6,000 requests a minute. Above that, 429 tells when to come back.`,
  tags: [{ name: "Catalog", description: "What anyone may browse" }],
};
