import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import type { InvoiceDto, InvoiceListDto } from '../../billing-api/documents/answer/invoice-dto.js';
import { invoiceToDto } from '../../billing-api/documents/answer/invoice-answer.js';
import {
  documentOf,
  verifyBundle,
  type InvoiceBundleDto,
} from '../../billing-api/reading/verify/invoice-bundle.js';
import type { VerificationDto } from '../../billing-api/reading/verify/verification-dto.js';
import type { TimelineDto } from '../../billing-api/platform/audit/customer-timeline.js';
import type { BooksDto } from '../../billing-api/money/ledger/books-dto.js';
import type { ApiClient } from './api-client.js';
import { VerbRefused } from '../stack/verb-refused.js';
import { previewLines } from './preview-lines.js';
import { JSON_OPTION, printFound, type JsonOption } from './print-found.js';
import { askProduct } from './product.js';
import { safeText } from './safe-text.js';

const PAGE = 100;

function print(lines: readonly string[]): void {
  console.log(lines.join('\n'));
}

/** `INV-202610-00001, FINALIZED` */
function titleOf({ id, invoice_number: number, invoice_status: status }: InvoiceDto): string {
  return `Invoice ${number ?? id ?? ''}, ${status},`;
}

type ShowOptions = { readonly groupBy: readonly string[]; readonly bundle?: string } & JsonOption;

/** As many windows of a line as one page of the interface has. */
const WINDOWS = { limit: 1_000, offset: 0 };

async function bundleIn(file: string): Promise<InvoiceBundleDto> {
  return JSON.parse(await readFile(file, 'utf8')) as InvoiceBundleDto;
}

/** A stored invoice with how each amount was computed. */
function readInvoice(api: ApiClient, id: string, groupBy: readonly string[]): Promise<InvoiceDto> {
  const groups = new URLSearchParams(groupBy.map((name): [string, string] => ['group_by', name]));
  groups.append('explain', 'true');
  return api.get<InvoiceDto>(`/invoices/${encodeURIComponent(id)}?${groups.toString()}`);
}

const shownLines = (invoice: InvoiceDto): readonly string[] =>
  previewLines(invoice, titleOf(invoice));

/** A stored invoice as it is shown. */
export async function readShown(
  api: ApiClient,
  id: string,
  { groupBy }: Pick<ShowOptions, 'groupBy'>,
): Promise<readonly string[]> {
  return shownLines(await readInvoice(api, id, groupBy));
}

async function show(id: string | undefined, options: ShowOptions): Promise<void> {
  const { groupBy, bundle: file } = options;
  if (id === undefined && file === undefined)
    throw new VerbRefused('name an invoice, or --bundle <file>');
  const invoice =
    file === undefined
      ? await askProduct(process.env, (api) => readInvoice(api, String(id), groupBy))
      : invoiceToDto(documentOf(await bundleIn(file)), WINDOWS);
  printFound(invoice, shownLines, options);
}

async function bundle(id: string, file: string): Promise<void> {
  const path = `/invoices/${encodeURIComponent(id)}/bundle`;
  const made = await askProduct(process.env, (api) => api.get<InvoiceBundleDto>(path));
  await writeFile(file, `${JSON.stringify(made, null, 2)}\n`);
  print([`${file} holds invoice ${made.invoice_id} and everything that it was computed from`]);
}

/** What is said of one verified invoice: one line, and one more for each difference. */
export function verificationLines(verification: VerificationDto): readonly string[] {
  const { invoice_id: id, same_from_inputs: inputs, same_from_events: events } = verification;
  const said = (same: boolean | null): string =>
    same === null ? `not told (${verification.reason ?? ''})` : same ? 'same' : 'DIFFERENT';
  return [
    `${id}  from inputs: ${said(inputs)}  from events: ${said(events)}  ${verification.summary}`,
    ...verification.differences.map(
      ({ from, line_item_id: line, member, stored, computed }) =>
        `  from ${from}, ${line ?? 'invoice'}, ${member}: stored ${stored ?? 'nothing'}, computed ${computed ?? 'nothing'}`,
    ),
  ];
}

const isSame = ({ same_from_inputs: inputs, same_from_events: events }: VerificationDto): boolean =>
  inputs && events !== false;

async function verifyOne(api: ApiClient, id: string): Promise<boolean> {
  const path = `/invoices/${encodeURIComponent(id)}/verify`;
  const verification = await api.get<VerificationDto>(path);
  print(verificationLines(verification));
  return isSame(verification);
}

async function verifyAll(api: ApiClient): Promise<{ different: number; count: number }> {
  let [different, count] = [0, 0];
  for (let offset = 0; ; offset += PAGE) {
    const { items } = await api.post<InvoiceListDto>('/invoices/search', {
      limit: PAGE,
      offset,
      skip_line_items: true,
      sort: [{ field: 'created_at', direction: 'asc' }],
    });
    for (const { id } of items) {
      if (id !== null && !(await verifyOne(api, id))) different += 1;
      count += 1;
    }
    if (items.length < PAGE) return { different, count };
  }
}

const WHAT_TO_DO =
  'Each problem is a line above. Correct nothing yet, and keep this output: ' +
  'docs/finance/what-verify-proves.md says how to find the cause';

/** What is said of an invoice that is not what it was computed from. */
const differentText = (id: string): string =>
  `${id} is DIFFERENT: do not send or correct it. Keep a copy ` +
  `(minutebook invoice bundle ${id} ${id}.json). ${WHAT_TO_DO}`;

async function verifyFile(file: string): Promise<void> {
  const read = await bundleIn(file);
  const differences = verifyBundle(read);
  for (const { lineItemId, member, stored, computed } of differences) {
    const place = lineItemId ?? 'invoice';
    print([
      `  ${place}, ${member}: stored ${stored ?? 'nothing'}, computed ${computed ?? 'nothing'}`,
    ]);
  }
  if (differences.length > 0) throw new VerbRefused(differentText(read.invoice_id));
  print([`${read.invoice_id}  from inputs: same`]);
}

/** Prints what happened to a customer, the first thing first. */
async function timeline(id: string): Promise<void> {
  await askProduct(process.env, async (api) => {
    for (let offset = 0; ; offset += PAGE) {
      const page = `limit=${PAGE}&offset=${offset}`;
      const path = `/customers/${encodeURIComponent(id)}/timeline?${page}`;
      const { items } = await api.get<TimelineDto>(path);
      print(items.map(({ at, summary }) => `${at}  ${safeText(summary)}`));
      if (items.length < PAGE) return;
    }
  });
}

type VerifyOptions = {
  readonly all?: true;
  readonly books?: true;
  readonly bundle?: string;
  readonly anchor?: string;
  readonly keepAnchor?: string;
};

const anchorInFile = z.object({ signature: z.string().min(1) });

/** The signature of an anchor that was kept: by this verb, or beside a list of heads in a store. */
async function keptAnchor(file: string): Promise<string> {
  const read = anchorInFile.safeParse(JSON.parse(await readFile(file, 'utf8')));
  if (!read.success) throw new VerbRefused(`${file} holds no anchor of a ledger`);
  return read.data.signature;
}

/** What is said of verified books: one line, and one more for each problem. */
export function booksLines({ movements, records, anchor, problems }: BooksDto): readonly string[] {
  const found = problems.map(
    ({ entity_type: type, entity_id: id, problem }) => `  ${type} ${safeText(id)}: ${problem}`,
  );
  const checked = `${movements} movements and ${records} records verified`;
  const since =
    anchor === null
      ? 'no anchor: whoever can write the database can have written these books'
      : `compared with anchor ${anchor.number} of ${anchor.anchored_at}, root ${anchor.root}`;
  return [`${checked}, ${problems.length} problems`, since, ...found];
}

async function verifyBooks({ anchor: file, keepAnchor: kept }: VerifyOptions): Promise<void> {
  const query = file === undefined ? '' : `?anchor=${encodeURIComponent(await keptAnchor(file))}`;
  const path = `/ledger/verify${query}`;
  const books = await askProduct(process.env, (api) => api.get<BooksDto>(path));
  print(booksLines(books));
  if (kept !== undefined && books.anchor !== null) {
    await writeFile(kept, `${JSON.stringify(books.anchor, null, 2)}\n`);
  }
  if (books.problems.length > 0) throw new VerbRefused(`the books are WRONG. ${WHAT_TO_DO}`);
}

async function verify(id: string | undefined, options: VerifyOptions): Promise<void> {
  if (options.bundle !== undefined) return verifyFile(options.bundle);
  if (options.books === true) return verifyBooks(options);
  if (options.all === true) {
    const { different, count } = await askProduct(process.env, verifyAll);
    print([`${count} invoices verified, ${different} different`]);
    if (different > 0)
      throw new VerbRefused(`${different} of ${count} invoices are DIFFERENT. ${WHAT_TO_DO}`);
    return undefined;
  }
  if (id === undefined)
    throw new VerbRefused('name an invoice, or --all, --books or --bundle <file>');
  const same = await askProduct(process.env, (api) => verifyOne(api, id));
  if (!same) throw new VerbRefused(differentText(id));
  return undefined;
}

/** Adds the verbs about stored invoices. They ask a running product, but for `--bundle`. */
export function addInvoiceVerbs(program: Command): void {
  const invoice = program.command('invoice').description('show or bundle a stored invoice');
  invoice
    .command('show')
    .argument('[id]', 'of the invoice')
    .option(
      '--bundle <file>',
      'the invoice of a bundle with its explanation, without asking anybody',
    )
    .option('--group-by <names...>', 'split usage, by source or properties.<name>', [])
    .option(...JSON_OPTION)
    .action(show);
  invoice
    .command('bundle')
    .description('write an invoice and what it was computed from into one file')
    .argument('<id>', 'of the invoice')
    .argument('<file>', 'to be written')
    .action(bundle);
  program
    .command('timeline')
    .description('print everything that happened to a customer, in order')
    .argument('<customer>', 'its id')
    .action(timeline);
  program
    .command('verify')
    .description('compute stored invoices again, and name every difference')
    .argument('[id]', 'of one invoice')
    .option('--all', 'every invoice of the environment')
    .option('--books', 'the ledger, and the sums of invoices, payments, notes and wallets')
    .option('--anchor <file>', 'with --books: an anchor that was kept must be one of the ledger')
    .option('--keep-anchor <file>', 'with --books: write the last anchor of the ledger')
    .option('--bundle <file>', 'the invoice of a bundle, without any database')
    .action(verify);
}
