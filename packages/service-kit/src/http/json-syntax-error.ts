// All characters from the space on, without " and \
const string = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const otherScalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

const isWhitespace = (character: string | undefined): boolean =>
  character === " " || character === "\n" || character === "\r" || character === "\t";

/**
 * Returns where the first token begins that is not valid JSON there, or undefined if the text is valid. `JSON.parse` names the position
 * in only some of its messages, and quotes the text in others. Recursive, so the depth of the text must be bounded.
 */
export function findSyntaxError(text: string): { line: number; column: number } | undefined {
  // The parser ignores a byte order mark.
  let offset = text.startsWith("\ufeff") ? 1 : 0;
  const skipWhitespace = (): void => {
    while (isWhitespace(text[offset])) offset += 1;
  };
  const takeCharacter = (character: string): boolean => {
    if (text[offset] !== character) return false;
    offset += 1;
    skipWhitespace();
    return true;
  };
  const takeMatch = (token: RegExp): boolean => {
    token.lastIndex = offset;
    if (!token.test(text)) return false;
    offset = token.lastIndex;
    skipWhitespace();
    return true;
  };
  const takeItems = (takeItem: () => boolean, end: string): boolean => {
    if (takeCharacter(end)) return true;
    do {
      if (!takeItem()) return false;
    } while (takeCharacter(","));
    return takeCharacter(end);
  };
  const takeMember = (): boolean => takeMatch(string) && takeCharacter(":") && takeValue();
  const takeValue = (): boolean => {
    if (takeCharacter("{")) return takeItems(takeMember, "}");
    if (takeCharacter("[")) return takeItems(takeValue, "]");
    return takeMatch(text[offset] === '"' ? string : otherScalar);
  };

  skipWhitespace();
  if (takeValue() && offset === text.length) return undefined;
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf("\n"); end !== -1 && end < offset; end = text.indexOf("\n", lineStart)) {
    line += 1;
    lineStart = end + 1;
  }
  return { line, column: offset - lineStart + 1 };
}
