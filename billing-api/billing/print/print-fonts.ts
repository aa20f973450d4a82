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

const ARABIC = /[\p{Script=Arabic}]/u;
const CHINESE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/u;

/** The font that has a character; letters of scripts that none has are printed as empty boxes. */
export function fontOf(character: string, isBold: boolean): FontName {
  if (ARABIC.test(character)) return isBold ? 'arabicBold' : 'arabic';
  if (CHINESE.test(character)) return isBold ? 'chineseBold' : 'chinese';
  return isBold ? 'latinBold' : 'latin';
}
