/** Why a request is refused although nothing is broken: the caller can act on each of them. */
export type RefusalCode =
  | 'validation_error'
  | 'invalid_operation'
  | 'permission_denied'
  | 'not_found'
  | 'already_exists'
  | 'version_conflict'
  /** Not now: the same request may succeed a little later. */
  | 'service_unavailable';

/** Request member (`items.2.amount`) to what is wrong with it. */
export type RefusalDetails = Readonly<Record<string, string>>;

/** Why an operation is not carried out: code, message for the caller, problem by member. */
export class Refusal {
  constructor(
    readonly code: RefusalCode,
    readonly message: string,
    readonly details: RefusalDetails | null = null,
  ) {}
}

/**
 * A refusal on its way out of a unit, which it rolls back (docs/internals/style.md 5). Whoever
 * began the unit answers it; one that is thrown outside of any is answered by the edge like any
 * other.
 */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
    this.name = 'Refused';
  }
}

/**
 * What a judgement allows. Of one that answers a refusal or null, null remains.
 * @throws Refused when it refuses.
 */
export function accept<T>(judged: T | Refusal): T {
  if (isRefusal(judged)) throw new Refused(judged);
  return judged;
}

/** What the work answers, or the refusal that it has thrown. */
export async function answerOf<T>(work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

/**
 * Does the work; what refuses it is told in other words, as about another place of the request.
 * @throws Refused
 */
export async function reworded<T>(
  work: () => Promise<T>,
  reword: (refusal: Refusal) => Refusal,
): Promise<T> {
  const answer = await answerOf(work);
  return accept(isRefusal(answer) ? reword(answer) : answer);
}

/** A request that breaks the rules of docs/domain.md 3; the first problem becomes the message. */
export function invalid(details: RefusalDetails): Refusal {
  const first = Object.entries(details)[0];
  const message = first === undefined ? 'the request is not valid' : `${first[0]}: ${first[1]}`;
  return new Refusal('validation_error', message, details);
}

/**
 * The same refusal with its members below a place of the request: `name` of an inline meter is
 * `meter.name` of its feature. One that names no member stays as it is.
 */
export function nestedRefusal(refusal: Refusal, place: string): Refusal {
  if (refusal.details === null) return refusal;
  const details = Object.entries(refusal.details);
  return invalid(Object.fromEntries(details.map(([name, text]) => [`${place}.${name}`, text])));
}

/**
 * The reverse of `nestedRefusal`: the same refusal of a request whose member stands at `place` of
 * what refused it (`line_items.0.quantity` is its `quantity`).
 */
export function unnestedRefusal({ code, message, details }: Refusal, place: string): Refusal {
  const strip = (text: string): string => text.replaceAll(`${place}.`, '');
  if (details === null) return new Refusal(code, strip(message));
  const own = Object.entries(details).map(([name, text]) => [strip(name), text] as const);
  return new Refusal(code, strip(message), Object.fromEntries(own));
}

/** A record, or one that the request refers to, that does not exist in this environment. */
export function notFound(what: string, id: string): Refusal {
  return new Refusal('not_found', `${what} ${id.slice(0, 300)} does not exist`);
}

/** A second published record with the same unique member. */
export function alreadyExists(what: string, member: string): Refusal {
  return new Refusal(
    'already_exists',
    `a ${what} with this ${member} exists already; choose another`,
    {
      [member]: 'is taken',
    },
  );
}

/** Why a member cannot name a record that was archived or deleted. */
export const NOT_PUBLISHED = 'names a record that is archived or deleted; name a published one';

/** A record that exists but can no longer be changed or used. */
export function notPublished(what: string, status: string): Refusal {
  return new Refusal(
    'invalid_operation',
    `the ${what} is ${status} and can no longer be changed or used; make a new one`,
  );
}

/** Items of a request; in a bulk request, a refusal names the index of its item. */
export type RequestItems<Item> = {
  readonly items: readonly Item[];
  readonly isBulk: boolean;
};

/** The same refusal, about the item of a bulk request at this index. */
function refusalAt(refusal: Refusal, index: number): Refusal {
  const place = `items.${index}`;
  const details = Object.entries(refusal.details ?? {});
  const placed = details.map(([name, text]) => [`${place}.${name}`, text] as const);
  return new Refusal(
    refusal.code,
    `${place}: ${refusal.message}`,
    placed.length === 0 ? { [place]: refusal.message } : Object.fromEntries(placed),
  );
}

/**
 * Does the work of one item; what refuses it names the index when the request has several.
 * @throws Refused
 */
export function ofItem<T>(
  { index, isBulk }: { readonly index: number; readonly isBulk: boolean },
  work: () => Promise<T>,
): Promise<T> {
  return isBulk ? reworded(work, (refusal) => refusalAt(refusal, index)) : work();
}

/** Reads an item, and answers a refusal also where it is thrown. */
function readOne<Result>(read: () => Result | Refusal): Result | Refusal {
  try {
    return read();
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

/** Reads every item in order, up to the first one that is refused. */
export function collect<Item, Result>(
  { items, isBulk }: RequestItems<Item>,
  read: (item: Item, index: number) => Result | Refusal,
): readonly Result[] | Refusal {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    const result = readOne(() => read(item, index));
    if (isRefusal(result)) return isBulk ? refusalAt(result, index) : result;
    results.push(result);
  }
  return results;
}

export function isRefusal(value: unknown): value is Refusal {
  return value instanceof Refusal;
}
