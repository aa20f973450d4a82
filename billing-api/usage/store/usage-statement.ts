import { addEventArm, eventArmsOf } from './event-arm.js';
import { addMinuteArm, minuteArmsOf } from './minute-arm.js';
import type { Bindings } from './sql-template.js';
import { StatementBuilder, type Placed, type UsageArm } from './statement-builder.js';
import { addUniquesArm } from './uniques-arm.js';
import type { UsageQuestion, UsageWish } from './usage-question.js';
import { clampedWindow, partsOf } from './window-parts.js';

export type UsageStatement = {
  readonly text: string;
  readonly bindings: Bindings;
  readonly arms: readonly UsageArm[];
};

function placed(question: UsageQuestion, place: number): Placed {
  const { subject, narrowedBy, split, slots } = question;
  const window = clampedWindow(question.window);
  const isOfEvents =
    subject.minutes === null || narrowedBy.length > 0 || split.properties.length > 0;
  const events = window.startMs < window.endMs ? [window] : [];
  const parts = isOfEvents ? { minutes: null, events } : partsOf(window, slots ?? []);
  return { question, place, parts };
}

/** Until its backfill is complete a meter shows nothing, not even of the events themselves. */
function isShown({ subject }: UsageQuestion): boolean {
  return subject.minutes === null || subject.minutes.generations.length > 0;
}

/** Of the questions from `from` to before `to`, those that have something to read, and where. */
export function placedOf(
  questions: readonly UsageQuestion[],
  { from, to } = { from: 0, to: questions.length },
): readonly Placed[] {
  return questions
    .slice(from, to)
    .map((question, index) => placed(question, from + index))
    .filter(({ question }) => isShown(question));
}

/**
 * One statement for the questions of a wish from one index on; null when there is nothing to ask.
 * Questions that share stretch, slots and columns share an arm, so that the lines of an invoice
 * cost one or two. Every arm is a plain WHERE on the sorting key: joined to a list of questions it
 * took three times as long for a customer's month (measured).
 */
export function usageStatementOf(
  wish: UsageWish,
  part: { readonly from: number; readonly to: number },
): UsageStatement | null {
  const builder = new StatementBuilder(wish);
  const questions = placedOf(wish.questions, part);
  for (const arm of minuteArmsOf(builder, questions)) addMinuteArm(builder, arm);
  for (const arm of eventArmsOf(builder, questions)) addEventArm(builder, arm);
  for (const one of questions) {
    const isUnique = one.question.subject.aggregation.type === 'COUNT_UNIQUE';
    const isEmpty = one.parts.minutes === null && one.parts.events.length === 0;
    if (isUnique && !isEmpty) addUniquesArm(builder, one);
  }
  const { bindings, arms, texts } = builder;
  return arms.length === 0 ? null : { text: texts.join('\nUNION ALL\n'), bindings, arms };
}
