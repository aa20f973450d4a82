import { LRUCache } from 'lru-cache';

/** A text in a font: its letters with their places. Drawing and measuring change nothing in it. */
type Shape = { readonly glyphs: readonly unknown[] };

type Features = readonly PDFKit.Mixins.OpenTypeFeatures[];

/** A font of a document as pdfkit has it; its types leave this out. */
type FontOfDocument = { layoutRun: (text: string, features?: Features) => Shape };

/** So many letters of a font are kept, about 10 MB. */
const LETTERS_MAX = 50_000;

/**
 * Has the font that a document uses now shape each text once. To shape a short one takes a fifth of
 * a millisecond, and pdfkit does it for each measuring and each drawing again. Nothing is kept for
 * another document: what the letters of one stand for is said as it first met them.
 */
export function keepShapes(pdf: PDFKit.PDFDocument): void {
  // Says what is not in the types of pdfkit.
  const font = (pdf as unknown as { readonly _font: FontOfDocument })._font;
  const shape = font.layoutRun.bind(font);
  const shapes = new LRUCache<string, Shape>({
    maxSize: LETTERS_MAX,
    sizeCalculation: ({ glyphs }) => Math.max(1, glyphs.length),
  });
  font.layoutRun = (text, features) => {
    const key = `${String(features)} ${text}`;
    const known = shapes.get(key) ?? shape(text, features);
    shapes.set(key, known);
    return known;
  };
}
