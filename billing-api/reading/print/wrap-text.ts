const words = new Intl.Segmenter('en', { granularity: 'word' });
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Ends with an opening bracket or quotation mark, behind which no line ends. */
const OPENS = /[\p{Ps}\p{Pi}]$/u;
/** Begins with a mark that belongs to the word before it, so that no line begins with it. */
const CLOSES = /^[\p{Pe}\p{Pf}\p{Po}]/u;

/** What a line has room for. */
export type Room = {
  readonly width: number;
  readonly widthOf: (text: string) => number;
  /** The sum of what its letters take, each by itself: it costs far less than the exact width. */
  readonly roughWidthOf: (text: string) => number;
};

/** A text whose letters take less than this part of the room fits, whatever their neighbours do. */
const SURELY = 0.5;
/** One whose letters take so many times the room does not. */
const NEVER = 3;

function fits(text: string, { width, widthOf, roughWidthOf }: Room): boolean {
  const rough = roughWidthOf(text);
  if (rough < width * SURELY || rough > width * NEVER) return rough < width;
  return widthOf(text) <= width;
}

/** Words with the marks around them, as long as both fit on a line together. */
function wordsOf(text: string, room: Room): readonly string[] {
  const found: string[] = [];
  for (const { segment } of words.segment(text)) {
    const last = found.at(-1);
    const isOne = last !== undefined && last !== ' ' && (OPENS.test(last) || CLOSES.test(segment));
    if (isOne && fits(`${last}${segment}`, room)) found.splice(-1, 1, `${last}${segment}`);
    else found.push(segment);
  }
  return found;
}

/** The pieces between which a line may end: words, and letters of a word that is too wide. */
function pieces(text: string, room: Room): readonly string[] {
  return wordsOf(text, room).flatMap((word) =>
    fits(word, room) ? [word] : [...graphemes.segment(word)].map((letter) => letter.segment),
  );
}

/** How many pieces are as wide as a line, by their letters; one at least. */
function roughlyOnLine(all: readonly string[], { width, roughWidthOf }: Room): number {
  let [count, sum] = [0, 0];
  for (const piece of all) {
    sum += roughWidthOf(piece);
    if (sum > width) break;
    count += 1;
  }
  return Math.max(1, count);
}

const lineOf = (all: readonly string[], count: number): string =>
  all.slice(0, count).join('').trimEnd();

/**
 * How many pieces fit on a line; one at least. To measure a line takes long, so it begins near the
 * end and goes from there, instead of measuring each beginning of the line.
 */
function onLine(all: readonly string[], room: Room): number {
  let count = roughlyOnLine(all, room);
  const isTooWide = (tried: number): boolean => tried > 1 && !fits(lineOf(all, tried), room);
  if (isTooWide(count)) {
    do count -= 1;
    while (isTooWide(count));
    return count;
  }
  while (count < all.length && !isTooWide(count + 1)) count += 1;
  return count;
}

/** A text as lines that fit. */
export function wrapText(text: string, room: Room): readonly string[] {
  const whole = text.replaceAll(/\s+/g, ' ').trim();
  if (fits(whole, room)) return [whole];
  const lines: string[] = [];
  let rest = pieces(whole, room);
  while (rest.length > 0) {
    const count = onLine(rest, room);
    lines.push(lineOf(rest, count));
    rest = rest.slice(rest[count] === ' ' ? count + 1 : count);
  }
  return lines;
}
