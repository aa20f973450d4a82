import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** Noto fonts of the SIL Open Font Licence, as npm packages: nothing is taken from the machine. */
const FILES = {
  latin: ['@embedpdf/fonts-latin', 'NotoSans-Regular.ttf'],
  latinBold: ['@embedpdf/fonts-latin', 'NotoSans-SemiBold.ttf'],
  arabic: ['@embedpdf/fonts-arabic', 'NotoNaskhArabic-Regular.ttf'],
  arabicBold: ['@embedpdf/fonts-arabic', 'NotoNaskhArabic-Bold.ttf'],
  chinese: ['@embedpdf/fonts-sc', 'NotoSansHans-Regular.otf'],
  chineseBold: ['@embedpdf/fonts-sc', 'NotoSansHans-Medium.otf'],
} as const;

export type FontName = keyof typeof FILES;

const kept = new Map<FontName, Buffer>();

/** The bytes of a font, which are read when it is first needed. */
export function fontBytes(name: FontName): Buffer {
  const known = kept.get(name);
  if (known !== undefined) return known;
  const [library, file] = FILES[name];
  const bytes = readFileSync(join(dirname(require.resolve(library)), '..', 'fonts', file));
  kept.set(name, bytes);
  return bytes;
}

// By the scripts in which a character is used: the long mark of Japanese and the Arabic comma are
// of no single script. What Latin text has too, such as brackets, is in the Latin font.
const ARABIC = /[\p{scx=Arabic}]/u;
const CHINESE =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Bopomofo}\u3000-\u303f\uff00-\uffef]/u;
const LATIN = /[ -\u02ff]/u;

/** The font that has a character; letters of scripts that none has are printed as empty boxes. */
export function fontOf(character: string, isBold: boolean): FontName {
  if (LATIN.test(character)) return isBold ? 'latinBold' : 'latin';
  if (ARABIC.test(character)) return isBold ? 'arabicBold' : 'arabic';
  if (CHINESE.test(character)) return isBold ? 'chineseBold' : 'chinese';
  return isBold ? 'latinBold' : 'latin';
}
