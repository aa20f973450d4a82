const words = new Intl.Segmenter('en', { granularity: 'word' });
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Ends with an opening bracket or quotation mark, behind which no line ends. */
const OPENS = /[\p{Ps}\p{Pi}]$/u;
/** Begins with a mark that belongs to the word before it, so that no line begins with it. */
const CLOSES = /^[\p{Pe}\p{Pf}\p{Po}]/u;

/** Words with the marks around them, as long as both fit on a line together. */
function wordsOf(text: string, fits: (line: string) => boolean): readonly string[] {
  const found: string[] = [];
  for (const { segment } of words.segment(text)) {
    const last = found.at(-1);
    const isOne = last !== undefined && last !== ' ' && (OPENS.test(last) || CLOSES.test(segment));
    if (isOne && fits(`${last}${segment}`)) found.splice(-1, 1, `${last}${segment}`);
    else found.push(segment);
  }
  return found;
}

/** The pieces between which a line may end: words, and letters of a word that is too wide. */
function pieces(text: string, fits: (line: string) => boolean): readonly string[] {
  return wordsOf(text, fits).flatMap((word) =>
    fits(word) ? [word] : [...graphemes.segment(word)].map((letter) => letter.segment),
  );
}

/** A text as lines that fit. */
export function wrapText(text: string, fits: (line: string) => boolean): readonly string[] {
  const whole = text.replaceAll(/\s+/g, ' ').trim();
  if (fits(whole)) return [whole];
  const lines: string[] = [];
  let line = '';
  for (const piece of pieces(whole, fits)) {
    if (line !== '' && !fits(`${line}${piece}`.trimEnd())) {
      lines.push(line.trimEnd());
      line = '';
    }
    if (line !== '' || piece !== ' ') line += piece;
  }
  return [...lines, line.trimEnd()];
}
