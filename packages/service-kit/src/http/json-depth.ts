const maxDepth = 64;

/** For whoever sent a text that nests deeper. */
export const tooDeep = `nests deeper than ${maxDepth} levels`;

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = Array.from('"\\[]{}', (character) =>
  character.charCodeAt(0),
);

/**
 * Checks the text and not the parsed value: a hostile text costs one scan, and nothing that walks parsed values can run
 * out of stack. A text that is no JSON is left to the parser.
 */
export function nestsTooDeep(json: string): boolean {
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
