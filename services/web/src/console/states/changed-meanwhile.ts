/** Somebody has saved since a form was filled in: what was entered isn't saved unasked. */
export class ChangedMeanwhileError extends Error {
  /** What is stored now. */
  readonly stored: unknown;
  constructor(stored: unknown) {
    super("It has been changed meanwhile.");
    this.stored = stored;
  }
}

/** A whole is saved, not a difference: without this, the last one to save would undo the changes of others. */
export function refuseIfChanged(base: unknown, current: unknown, stored: unknown): void {
  if (JSON.stringify(base) !== JSON.stringify(current)) throw new ChangedMeanwhileError(stored);
}
