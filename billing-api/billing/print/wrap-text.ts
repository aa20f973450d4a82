const words = new Intl.Segmenter('en', { granularity: 'word' });
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** The pieces between which a line may end: words, and letters of a word that is too wide. */
function pieces(text: string, fits: (line: string) => boolean): readonly string[] {
  return [...words.segment(text)].flatMap(({ segment }) =>
    fits(segment) ? [segment] : [...graphemes.segment(segment)].map((letter) => letter.segment),
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
