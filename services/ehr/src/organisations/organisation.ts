/** Names the row that a sealed secret belongs to. */
export const secretOwner = (alias: string): string => `organisations/${alias}/secret`;
/** The one before has a place of its own: swapped in the database, neither opens. */
export const previousSecretOwner = (alias: string): string => `organisations/${alias}/previous-secret`;
