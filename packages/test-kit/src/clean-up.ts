import { after, type TestContext } from "node:test";

export type CleanUp = (undo: () => Promise<unknown>) => void;

/** Runs the registered functions in reverse order when the suite ends, or the test whose context is given. */
export function cleanUpAfter(test?: TestContext): CleanUp {
  const undos: (() => Promise<unknown>)[] = [];
  const undoAll = async (): Promise<void> => {
    for (const undo of undos.splice(0).toReversed()) await undo();
  };
  if (test === undefined) after(undoAll);
  else test.after(undoAll);
  return (undo) => undos.push(undo);
}
