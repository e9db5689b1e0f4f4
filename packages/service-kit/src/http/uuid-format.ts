/** As PostgreSQL takes it: JSON Schema's own would let `urn:uuid:…` pass as well. */
export const uuidFormat = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
