/** The column that an encrypted secret is bound to. */
export const secretOwner = (alias: string): string => `organisations/${alias}/secret`;
/** The previous secret has its own owner: if the two are swapped in the database, neither can be decrypted. */
export const previousSecretOwner = (alias: string): string => `organisations/${alias}/previous-secret`;
