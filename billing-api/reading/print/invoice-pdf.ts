import PDFDocument from 'pdfkit';
import type { InvoiceRow } from './invoice-rows.js';
import { fontBytes, type FontName } from './print-fonts.js';
import type { PrintedPage } from './printed-invoice.js';
import { roughWidth } from './rough-width.js';
import { keepShapes } from './shaped-texts.js';
import { textRuns } from './text-runs.js';
import { wrapText } from './wrap-text.js';

const MARGIN = 50;
/** The width and height of A4 in points. */
const [WIDTH, HEIGHT] = [595.28, 841.89];
const RIGHT = WIDTH - MARGIN;
/** Below it stands the number of the page. */
const BOTTOM = HEIGHT - MARGIN - 20;
const BODY = 9;
const LEADING = 1.45;
/** A line is shaped as a whole, so that the words of an Arabic one keep their order and spaces. */
const WHOLE: PDFKit.Mixins.OpenTypeFeatures[] = ['kern'];

type Style = { readonly size: number; readonly bold?: boolean; readonly colour?: string };
/** Where a line begins, or ends when it is set to the right. */
type Edge = { readonly left: number } | { readonly right: number };
type Column = { readonly left: number; readonly width: number };

const PAPER: Column = { left: MARGIN, width: RIGHT - MARGIN };

/** The right edges of the columns of figures, and the width of the first one. */
const EDGES = { quantity: { right: 355 }, unit: { right: 455 }, amount: { right: RIGHT } };
const FIGURE_WIDTH = 92;
const AMOUNT_WIDTH = RIGHT - EDGES.unit.right - 8;
/** At most so much stands between two rows, a rule included. */
const SPACE_OF_ROW = 7;
const HEAD_HEIGHT = 30;
const INDENT = 10;
/** So many lines of a row stand on one page. */
const TOGETHER = 3;
/** Printed where a column has no more lines than its row. */
const NOTHING = '';

const STYLES: Readonly<Record<InvoiceRow['kind'], Style>> = {
  line: { size: BODY },
  detail: { size: BODY - 1, colour: '#555555' },
  sum: { size: BODY },
  total: { size: BODY, bold: true },
};

/** Writes an invoice on pages of A4. */
class InvoicePrinter {
  readonly #pdf: PDFKit.PDFDocument;
  readonly #fonts = new Set<FontName>();
  #y = MARGIN;
  #isBelowDetail = false;

  constructor(private readonly page: PrintedPage) {
    const madeAt = new Date(page.madeAt);
    this.#pdf = new PDFDocument({
      size: 'A4',
      margin: 0,
      bufferPages: true,
      lang: 'en',
      info: {
        Title: page.name,
        Creator: 'Minutebook',
        Producer: 'Minutebook',
        CreationDate: madeAt,
        ModDate: madeAt,
      },
    });
  }

  async bytes(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    const ended = new Promise<void>((resolve, reject) => {
      this.#pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
      this.#pdf.on('end', resolve);
      this.#pdf.on('error', reject);
    });
    this.#head();
    this.#tableHead();
    const { rows } = this.page;
    const first = rows.find(({ kind }) => kind === 'sum' || kind === 'total');
    for (const [place, row] of rows.entries()) {
      if (row === first) this.#beginSums(rows.slice(place));
      this.#row(row);
    }
    this.#notes();
    this.#pageNumbers();
    this.#pdf.end();
    await ended;
    return Buffer.concat(chunks);
  }

  #use(font: FontName, size: number): void {
    const isNew = !this.#fonts.has(font);
    if (isNew) this.#pdf.registerFont(font, fontBytes(font));
    this.#fonts.add(font);
    this.#pdf.font(font, size);
    if (isNew) keepShapes(this.#pdf);
  }

  #width(text: string, { size, bold = false }: Style): number {
    return textRuns(text, bold).reduce((sum, run) => {
      this.#use(run.font, size);
      return sum + this.#pdf.widthOfString(run.text, { features: WHOLE });
    }, 0);
  }

  #wrap(text: string, width: number, style: Style): readonly string[] {
    const widthOf = (some: string): number => this.#width(some, style);
    const roughWidthOf = (some: string): number => roughWidth(some, style);
    return wrapText(text, { width, widthOf, roughWidthOf });
  }

  #line(text: string, edge: Edge, style: Style): void {
    let at = 'left' in edge ? edge.left : edge.right - this.#width(text, style);
    for (const run of textRuns(text, style.bold ?? false)) {
      this.#use(run.font, style.size);
      this.#pdf.fillColor(style.colour ?? '#111111');
      // All fonts stand on one line, whatever the height of their letters.
      const options = { lineBreak: false, features: WHOLE, baseline: 'alphabetic' as const };
      this.#pdf.text(run.text, at, this.#y + style.size, options);
      at += this.#pdf.widthOfString(run.text, { features: WHOLE });
    }
  }

  /** Lines below each other, no wider than so much. */
  #paragraph(text: string, { left, width }: Column, style: Style): void {
    for (const line of this.#wrap(text, width, style)) {
      this.#line(line, { left }, style);
      this.#y += style.size * LEADING;
    }
  }

  #column(texts: readonly string[], column: Column, style: Style): number {
    const from = this.#y;
    for (const text of texts) this.#paragraph(text, column, style);
    const until = this.#y;
    this.#y = from;
    return until;
  }

  #head(): void {
    const { title, notice, seller, customer, facts } = this.page;
    this.#paragraph(title, PAPER, { size: 20, bold: true });
    if (notice !== null) {
      this.#paragraph(notice, PAPER, { size: 12, bold: true, colour: '#b00020' });
    }
    this.#y += 10;
    const half = (RIGHT - MARGIN) / 2 - 10;
    const ends = [
      this.#column(['From', ...seller], { left: MARGIN, width: half }, { size: BODY }),
      this.#column(['To', ...customer], { left: MARGIN + half + 20, width: half }, { size: BODY }),
    ];
    this.#y = Math.max(...ends) + 12;
    for (const [name, value] of facts) {
      this.#line(name, PAPER, { size: BODY, colour: '#666666' });
      this.#paragraph(value, { left: MARGIN + 80, width: PAPER.width - 80 }, { size: BODY });
    }
    this.#y += 14;
  }

  #rule(): void {
    this.#pdf.moveTo(MARGIN, this.#y).lineTo(RIGHT, this.#y).lineWidth(0.5).stroke('#999999');
    this.#y += 5;
  }

  #tableHead(): void {
    const style = { size: BODY, bold: true };
    this.#line('Description', PAPER, style);
    this.#line('Quantity', EDGES.quantity, style);
    this.#line('Unit amount', EDGES.unit, style);
    this.#line(this.page.amountTitle, EDGES.amount, style);
    this.#y += BODY * LEADING + 2;
    this.#rule();
  }

  #newPage(): void {
    this.#pdf.addPage();
    this.#y = MARGIN;
  }

  /** Leaves a space after the details of a line, so that they do not seem to be of the next. */
  #leaveDetails(kind: InvoiceRow['kind']): void {
    if (kind !== 'detail' && this.#isBelowDetail) this.#y += 4;
    this.#isBelowDetail = kind === 'detail';
  }

  /** The cells of a row, each as lines that fit its column: nothing is cut, and none overlaps. */
  #cells({ kind, name, quantity, unit, amount }: InvoiceRow) {
    const style = STYLES[kind];
    const left = MARGIN + (kind === 'detail' ? INDENT : 0);
    const cells = [
      { edge: { left }, width: EDGES.quantity.right - FIGURE_WIDTH - left, text: name },
      { edge: EDGES.quantity, width: FIGURE_WIDTH, text: quantity },
      { edge: EDGES.unit, width: FIGURE_WIDTH, text: unit },
      { edge: EDGES.amount, width: AMOUNT_WIDTH, text: amount },
    ].map(({ edge, width, text }) => ({
      edge,
      texts: this.#wrap(text, width, style),
    }));
    return { cells, style, lines: Math.max(...cells.map(({ texts }) => texts.length)) };
  }

  #heightOf(row: InvoiceRow): number {
    const { style, lines } = this.#cells(row);
    return style.size * LEADING * lines + SPACE_OF_ROW;
  }

  /** The sums stand below a rule, and on one page as long as one has room for them. */
  #beginSums(rows: readonly InvoiceRow[]): void {
    const height = rows.reduce((sum, row) => sum + this.#heightOf(row), 0);
    if (this.#y + height > BOTTOM && MARGIN + height < BOTTOM - HEAD_HEIGHT) {
      this.#newPage();
      this.#tableHead();
    } else if (rows[0]?.kind === 'sum') {
      this.#y += 3;
      this.#rule();
    }
  }

  #row(row: InvoiceRow): void {
    const { kind } = row;
    const { cells, style, lines } = this.#cells(row);
    const height = style.size * LEADING;
    this.#leaveDetails(kind);
    if (this.#y + Math.min(lines, TOGETHER) * height > BOTTOM) {
      this.#newPage();
      this.#tableHead();
    }
    if (kind === 'total') this.#rule();
    for (const index of Array.from({ length: lines }).keys()) {
      if (this.#y + height > BOTTOM) this.#newPage();
      for (const { edge, texts } of cells) this.#line(texts[index] ?? NOTHING, edge, style);
      this.#y += height;
    }
    if (kind !== 'detail') this.#y += 2;
  }

  #notes(): void {
    this.#y += 16;
    for (const note of this.page.notes) {
      if (this.#y + BODY * LEADING > BOTTOM) this.#newPage();
      this.#paragraph(note, PAPER, { size: BODY - 1, colour: '#555555' });
    }
  }

  #pageNumbers(): void {
    const { count } = this.#pdf.bufferedPageRange();
    for (let page = 0; page < count; page += 1) {
      this.#pdf.switchToPage(page);
      this.#y = HEIGHT - MARGIN;
      const text = `${this.page.name}, page ${page + 1} of ${count}`;
      this.#line(text, EDGES.amount, { size: BODY - 1, colour: '#666666' });
    }
  }
}

/** An invoice as a PDF. The same invoice gives the same bytes. */
export function invoicePdf(page: PrintedPage): Promise<Buffer> {
  return new InvoicePrinter(page).bytes();
}
