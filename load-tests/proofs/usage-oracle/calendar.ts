/** A date of the Gregorian calendar: year, month 1–12, day 1–31. */
export type LocalDate = { readonly year: number; readonly month: number; readonly day: number };

export const DAY_MS = 86_400_000;

/** Days from 1970-01-01; a month or day outside its usual range carries over. */
export function dayNumberOf({ year, month, day }: LocalDate): number {
  return Date.UTC(year, month - 1, day) / DAY_MS;
}

export function dateOfDayNumber(dayNumber: number): LocalDate {
  const date = new Date(dayNumber * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

export function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** 1 for Monday to 7 for Sunday; 1970-01-01 was a Thursday. */
export function weekdayOf(dayNumber: number): number {
  return ((((dayNumber + 3) % 7) + 7) % 7) + 1;
}

/** First day of the anchored month number `index` (year × 12 + month − 1), clamped (12.3). */
function anchoredStart(index: number, anchorDay: number): number {
  const [year, month] = [Math.floor(index / 12), (index % 12) + 1];
  return dayNumberOf({ year, month, day: Math.min(anchorDay, daysInMonth(year, month)) });
}

/** First day of the anchored month that contains the day. */
export function monthStartOf(dayNumber: number, anchorDay: number): number {
  const { year, month } = dateOfDayNumber(dayNumber);
  const index = year * 12 + month - 1;
  const start = anchoredStart(index, anchorDay);
  return start <= dayNumber ? start : anchoredStart(index - 1, anchorDay);
}
