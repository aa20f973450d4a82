import { createRequire } from 'node:module';
import type bidiFactory from 'bidi-js';
import { assertPresent } from '../../../runtime/failure.js';
import { fontOf, type FontName } from './print-fonts.js';

// Its types speak of a default export, which the module of Node has not.
const createBidi = createRequire(import.meta.url)('bidi-js') as typeof bidiFactory.default;

/** A part of a line in one font and one direction; runs stand from left to right. */
export type TextRun = { readonly text: string; readonly font: FontName };

type Piece = TextRun & { readonly level: number };

const bidi = createBidi();

/**
 * Characters without a direction of their own that every font has: they belong to what they stand
 * in. The Arabic font has no brackets and no dashes.
 */
const NEUTRAL = /^[\s.,:!]$/u;

/** Letters that run from right to left, numbers of theirs, and marks that turn the direction. */
const TURNS =
  /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** The parts of a line in the order of reading. */
function piecesOf(line: string, isBold: boolean): readonly Piece[] {
  // Without any of them all letters have level 0.
  const { levels } = TURNS.test(line)
    ? bidi.getEmbeddingLevels(line)
    : { levels: new Uint8Array(line.length) };
  const pieces: { text: string; font: FontName; level: number }[] = [];
  let index = 0;
  for (const character of line) {
    const level = assertPresent(levels[index], 'the level of a character');
    index += character.length;
    const last = pieces.at(-1);
    const own = fontOf(character, isBold);
    const font = last !== undefined && NEUTRAL.test(character) && level % 2 === 1 ? last.font : own;
    if (last?.font === font && last.level === level) last.text += character;
    else pieces.push({ text: character, font, level });
  }
  return pieces;
}

const isAtLeast = (piece: Piece | undefined, level: number): boolean =>
  piece !== undefined && piece.level >= level;

/** A bracket that opens to the right opens to the left where text runs so. */
const mirrored = (character: string): string => bidi.getMirroredCharacter(character) ?? character;

/** As it is handed to whoever draws it, who turns the letters around in an Arabic font only. */
function drawnText({ text, font, level }: Piece): string {
  const isTurnedLater = font.startsWith('arabic');
  if (level % 2 === 0 || isTurnedLater) return text;
  return [...text].reverse().map(mirrored).join('');
}

/** The runs of a line from left to right, by the Unicode rules of text in two directions. */
export function textRuns(line: string, isBold: boolean): readonly TextRun[] {
  const pieces = [...piecesOf(line, isBold)];
  const highest = Math.max(0, ...pieces.map(({ level }) => level));
  for (let level = highest; level > 0; level -= 1) {
    for (let from = 0; from < pieces.length; from += 1) {
      let until = from;
      while (isAtLeast(pieces[until], level)) until += 1;
      if (until - from > 1)
        pieces.splice(from, until - from, ...pieces.slice(from, until).reverse());
      from = Math.max(from, until);
    }
  }
  return pieces.map((piece) => ({ text: drawnText(piece), font: piece.font }));
}
