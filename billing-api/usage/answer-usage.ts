import type { InstantMs } from '../../contract/instant.js';
import { mustGet } from '../../runtime/failure.js';
import type { UsageCustomer } from '../customers/customers-store.js';
import type { Occasion } from '../records/occasion.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import { partsOf, readUsage } from './read-usage.js';
import {
  resultsOf,
  tooManyCells,
  wholeOf,
  type AnswerQuery,
  type UsageAnswer,
} from './usage-answer.js';
import {
  readUsageOfEverybody,
  usageOfCustomers,
  type UsageReadDependencies,
} from './usage-customers.js';

type Answered = {
  readonly query: AnswerQuery;
  /** Null for all customers. */
  readonly customer: UsageCustomer | null;
  /** The watermark, which was read before. */
  readonly dataUntil: InstantMs | null;
};

/** Reads the usage that an endpoint answers. */
export async function answerUsage(
  dependencies: UsageReadDependencies,
  occasion: Occasion,
  { query, customer, dataUntil }: Answered,
): Promise<UsageAnswer | Refusal> {
  const { subject, spec, split } = query;
  const { environment } = occasion;
  const answers =
    customer === null
      ? await readUsageOfEverybody(dependencies, occasion, [query])
      : await readUsage(
          dependencies.usage,
          { environment, customers: usageOfCustomers([customer]) },
          [query],
        );
  if (isRefusal(answers)) return answers;
  if (answers === null) return tooManyCells(spec);
  const sliced = mustGet(answers, query, 'the usage of a query');
  const results = resultsOf(partsOf(query, sliced, 'results'), split, subject.aggregation.groupBy);
  if (isRefusal(results)) return results;
  const { value, unreadableCount } = wholeOf(sliced.get('whole'));
  const { eventName, aggregation } = subject;
  return { eventName, type: aggregation.type, value, unreadableCount, results, dataUntil };
}
