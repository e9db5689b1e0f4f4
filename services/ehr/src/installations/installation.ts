/** Names the row that a sealed configuration belongs to. */
export const configOwner = (installationId: string): string => `installations/${installationId}/config`;
