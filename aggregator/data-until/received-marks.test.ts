import { describe, expect, test } from 'vitest';
import { ReceivedMarks } from './received-marks.js';

const mark = (receivedBeforeMs: number, ...ends: readonly number[]) => ({ receivedBeforeMs, ends });

describe('marks of what was received', () => {
  test('are finished with all of their partitions, and the latest one counts', () => {
    const marks = new ReceivedMarks();
    for (const one of [mark(1, 0, 0), mark(2, 5, 3), mark(3, 6, 3), mark(4, 6, 9)]) marks.note(one);
    expect(marks.takeFinished([5, 2])).toBe(1);
    expect(marks.takeFinished([7, 2])).toBeNull();
    expect(marks.takeFinished([7, 4])).toBe(3);
    expect(marks.takeFinished([7, 9])).toBe(4);
    expect(marks.takeFinished([7, 9])).toBeNull();
  });

  test('without another record say the latest instant', () => {
    const marks = new ReceivedMarks(2);
    for (let instant = 1; instant <= 9; instant += 1) marks.note(mark(instant, 5));
    marks.note(mark(10, 6));
    expect(marks.takeFinished([5])).toBe(9);
  });

  test('never take an offset back that a broker has answered', () => {
    const marks = new ReceivedMarks();
    marks.note(mark(1, 5, 5));
    marks.note(mark(2, 4, 6));
    expect(marks.takeFinished([4, 6])).toBeNull();
    expect(marks.takeFinished([5, 6])).toBe(2);
  });

  test('are bounded: the last one is raised, and those before it stay', () => {
    const marks = new ReceivedMarks(2);
    for (let instant = 1; instant <= 9; instant += 1) marks.note(mark(instant, instant));
    expect(marks.takeFinished([8])).toBe(1);
    expect(marks.takeFinished([9])).toBe(9);
  });
});
