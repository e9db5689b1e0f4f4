/** The form that PostgreSQL accepts. The `uuid` format of ajv-formats also accepts `urn:uuid:…`. */
export const uuidFormat = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
