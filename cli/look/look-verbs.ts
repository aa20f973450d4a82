import { InvalidArgumentError, type Command } from 'commander';
import type { EventDto } from '../../billing-api/events/event-dto.js';
import type { EventLookupDto } from '../../billing-api/reading/events/event-lookup-dto.js';
import type { InvoiceDto } from '../../billing-api/documents/answer/invoice-dto.js';
import { eventLine, lookupLines } from './event-lines.js';
import { followEvents, newestEvents } from './follow-events.js';
import { previewLines } from './preview-lines.js';
import { JSON_OPTION, printFound, type JsonOption } from './print-found.js';
import { askProduct } from './product.js';

/** As many as one page of the interface has. */
const EVENTS_MAX = 1_000;

function countFrom(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= EVENTS_MAX) return count;
  throw new InvalidArgumentError(`must be a number from 1 to ${EVENTS_MAX}`);
}

type PreviewOptions = {
  readonly from?: string;
  readonly to?: string;
  readonly groupBy: readonly string[];
} & JsonOption;

async function preview(subscription: string, options: PreviewOptions): Promise<void> {
  const { from, to, groupBy } = options;
  const invoice = await askProduct(process.env, (api) =>
    api.post<InvoiceDto>('/invoices/preview', {
      subscription_id: subscription,
      ...(from === undefined ? {} : { period_start: from }),
      ...(to === undefined ? {} : { period_end: to }),
      ...(groupBy.length === 0 ? {} : { group_by: groupBy }),
      explain: true,
      windows_limit: 1,
    }),
  );
  printFound(invoice, previewLines, options);
}

type EventsOptions = {
  readonly follow?: true;
  readonly limit: number;
  readonly customer?: string;
  readonly name?: string;
} & JsonOption;

async function events(options: EventsOptions): Promise<void> {
  const { follow, limit: eventsMax, customer = null, name = null } = options;
  const choice = { customer, name };
  const show = (event: EventDto): void => {
    printFound(event, (one) => [eventLine(one)], options);
  };
  await askProduct(process.env, async (api) => {
    if (follow !== true) {
      (await newestEvents(api, choice, eventsMax)).forEach(show);
      return;
    }
    // Ctrl-C is how one stops looking, so it is no failure.
    const stop = new AbortController();
    process.once('SIGINT', () => {
      stop.abort();
    });
    await followEvents(api, { choice, eventsMax, signal: stop.signal }, show);
  });
}

async function event(id: string, options: JsonOption): Promise<void> {
  const path = `/events/lookup?${new URLSearchParams({ id }).toString()}`;
  const answer = await askProduct(process.env, (api) => api.get<EventLookupDto>(path));
  printFound(answer, lookupLines, options);
}

/** Adds the verbs that show, in a terminal, what the HTTP interface of a running product says. */
export function addLookVerbs(program: Command): void {
  program
    .command('preview')
    .description('show the invoice preview of a subscription as a table')
    .argument('<subscription>', 'its id')
    .option('--from <date-time>', 'start of the period, instead of the current one')
    .option('--to <date-time>', 'end of the period')
    .option('--group-by <names...>', 'split usage, by source or properties.<name>', [])
    .option(...JSON_OPTION)
    .action(preview);
  program
    .command('events')
    .description('show the latest processed events, the newest at the bottom')
    .option('-f, --follow', 'go on showing new events until Ctrl-C')
    .option('--limit <count>', 'how many', countFrom, 20)
    .option('--customer <id>', 'external id of a customer')
    .option('--name <event-name>', 'only events of this name')
    .option(...JSON_OPTION)
    .action(events);
  program
    .command('event')
    .description('show what became of an event: pending, counted where, or why not')
    .argument('<id>', 'its event_id')
    .option(...JSON_OPTION)
    .action(event);
}
