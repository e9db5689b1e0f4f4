import ts from "typescript";

/** The right column of docs/glossary.md's table of terms: each word with what we write instead. */
const replacements = new Map(
  Object.entries({
    response: ["answer", "answers", "answered", "answering"],
    "request or call": ["ask", "asks", "asked", "asking", "asker", "question", "want", "wants", "wanted"],
    "max…": ["most", "longest", "deepest"],
    "slot, cursor or pointer": ["place", "places", "placed"],
    "ordering key": ["lane", "lanes"],
    "duplicate request": ["twin", "twins"],
    lock: ["hold", "holds", "holding"],
    held: ["silence", "silenced"],
    reactivate: ["forgive", "forgiven"],
    "encrypt or decrypt": ["seal", "seals", "sealed", "sealing", "unseal", "reseal", "resealed"],
    "scheduled job or maintenance": ["chore", "chores", "tend", "tends", "tending", "housekeeping", "wind", "winding"],
    unavailable: ["away"],
    "validate or check": ["fit", "fits", "judge", "judged"],
    outcome: ["verdict", "verdicts", "course", "deed", "deeds"],
    "redeliver, retry or restart": ["again", "anew"],
    batch: ["together"],
    "module or package": ["house", "room", "door", "wall", "foundation"],
  }).flatMap(([use, words]) => words.map((word) => [word, use] as const)),
);

/** Words that are the standard term where they are used; each with the reason. */
const allowed = new Map([
  ["findMostPopular", "a superlative, not a limit"],
  ["findLongestUnreconciled", "a superlative, not a limit"],
  ["longestUnreconciledMs", "a superlative, not a limit"],
  ["failuresToHold", "the status that follows is held"],
  ["OPERATOR_HOLD", "a pause reason of the interface"],
  ["again", "a key in the data of queued jobs"],
  ["chore", "a key in the data of queued jobs"],
  ["fit", "an option of sharp"],
]);

export interface FoundTerm {
  line: number;
  text: string;
  use: string;
}

const wordsOf = (text: string): string[] =>
  text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/);

function refusedTerm(text: string): string | undefined {
  if (allowed.has(text)) return undefined;
  const word = wordsOf(text).find((each) => replacements.has(each));
  return word === undefined ? undefined : replacements.get(word);
}

const isText = (node: ts.Node): boolean => ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

const logLevels = new Set(["trace", "debug", "info", "warn", "error", "fatal"]);

/** The message of `logger.warn(fields, "message")`, whatever the logger is called. */
function logMessages(node: ts.Node): readonly ts.Node[] {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const isLogger = /(^|[.])log(ger)?$/i.test(node.expression.expression.getText());
  if (!isLogger || !logLevels.has(node.expression.name.text)) return [];
  return node.arguments.filter(isText);
}

/** The text of a message that isn't an argument of a logger: it is passed on, as to `runRepeatedly`, or in a variable first. */
const isFailureMessage = (node: ts.Node): boolean =>
  isText(node) && /^.failed to /.test(node.getText()) && logMessages(node.parent).length === 0;

const isDeclaredName = (node: ts.Node): node is ts.Identifier =>
  ts.isIdentifier(node) &&
  "name" in node.parent &&
  node.parent.name === node &&
  !ts.isPropertyAccessExpression(node.parent) &&
  !ts.isImportSpecifier(node.parent);

/** Terms of our former dialect in the names that a file declares and in the messages that it logs. */
export function findTerms(path: string, source: string): FoundTerm[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const found: FoundTerm[] = [];
  const check = (node: ts.Node, text: string): void => {
    const use = refusedTerm(text);
    if (use === undefined) return;
    found.push({ line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1, text, use });
  };
  const visit = (node: ts.Node): void => {
    if (isDeclaredName(node)) check(node, node.text);
    for (const message of logMessages(node)) check(message, message.getText());
    if (isFailureMessage(node)) check(node, node.getText());
    ts.forEachChild(node, visit);
  };
  const name = path.slice(path.lastIndexOf("/") + 1);
  const use = refusedTerm(name);
  if (use !== undefined) found.push({ line: 1, text: name, use });
  visit(file);
  return found;
}
