import PDFDocument from 'pdfkit';
import { fontBytes, fontOf, type FontName } from './print-fonts.js';

/**
 * Letters are measured in a document of their own, which is never written: in that of an invoice it
 * would change what a letter says it stands for when it is copied, é as one letter or as e and a
 * mark.
 */
const ruler = new PDFDocument({ autoFirstPage: false });

/** Of the size 1. */
const widths = new Map<FontName, Map<string, number>>();

function widthOfLetter(letter: string, isBold: boolean): number {
  const font = fontOf(letter, isBold);
  const known = widths.get(font);
  if (known === undefined) ruler.registerFont(font, fontBytes(font));
  const ofFont = known ?? new Map<string, number>();
  widths.set(font, ofFont);
  const width = ofFont.get(letter) ?? ruler.font(font, 1).widthOfString(letter);
  ofFont.set(letter, width);
  return width;
}

/** The sum of what the letters of a text take, each by itself. */
export function roughWidth(
  text: string,
  { size, bold = false }: { readonly size: number; readonly bold?: boolean },
): number {
  let sum = 0;
  for (const letter of text) sum += widthOfLetter(letter, bold);
  return sum * size;
}
