const maxDepth = 64;

/** The detail of the problem response. */
export const tooDeepDetail = `nests deeper than ${maxDepth} levels`;

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = Array.from('"\\[]{}', (character) =>
  character.charCodeAt(0),
);

/**
 * Checks the text before it is parsed: a hostile text costs one scan, and code that recurses into parsed values can't overflow the
 * stack. Invalid JSON is left to the parser.
 */
export function isNestedTooDeep(json: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (isInString) {
      if (code === backslash) index += 1;
      else if (code === quote) isInString = false;
    } else if (code === quote) {
      isInString = true;
    } else if (code === openBracket || code === openBrace) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === closeBracket || code === closeBrace) {
      depth -= 1;
    }
  }
  return false;
}
