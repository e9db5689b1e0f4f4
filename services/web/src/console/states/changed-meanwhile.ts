/** Somebody has saved since a form was filled in: what was entered isn't saved unasked. */
export class ChangedMeanwhileError<T> extends Error {
  /** What is stored now. */
  readonly stored: T;
  constructor(stored: T) {
    super("It has been changed meanwhile.");
    this.stored = stored;
  }
}

/** A whole is saved, not a difference: without this, the last one to save would undo the changes of others. */
export function refuseIfChanged<T>(base: unknown, current: unknown, stored: T): void {
  if (JSON.stringify(base) !== JSON.stringify(current)) throw new ChangedMeanwhileError(stored);
}
